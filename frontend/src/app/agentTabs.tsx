/** The tabs of an agent's page. A tab is one entry here: its address, its label and its content. */
import type { ComponentType } from 'react'
import type { AgentRow } from '@/api'
import type { PlainTextKey } from '@/lib/language'
import { lazy } from '@/ui/lazy'
import { AgentAccessTab } from './AgentAccessTab'
import { AgentMemoryTab } from './AgentMemoryTab'
import { AgentOverviewTab } from './AgentOverviewTab'
import { AgentScheduleTab } from './AgentScheduleTab'
import { AgentThumbsTab } from './AgentThumbsTab'

const AgentRunsTab = lazy(() => import('./AgentRunsTab').then(module => ({ default: module.AgentRunsTab })))
const AgentViewpointTab = lazy(() => import('./AgentRunsTab').then(module => ({ default: module.AgentViewpointTab })))

interface AgentTab {
  /** The last part of its address; the first tab has none. */
  id: string
  label: PlainTextKey
  /** A `lazy` component (`ui/lazy.tsx`), or a small one that shows a `lazy` page of a feature. */
  content: ComponentType<{ agent: AgentRow }>
  /** Whether the reader sees the tab; by default everybody does. */
  isVisible?(agent: AgentRow): boolean
}

export const agentTabs: readonly AgentTab[] = [
  { id: 'overview', label: 'agentTab.overview', content: AgentOverviewTab },
  {
    id: 'memory',
    label: 'agentTab.memory',
    content: AgentMemoryTab,
    isVisible: agent => agent.verbs.includes('see_memory'),
  },
  { id: 'schedule', label: 'agentTab.schedule', content: AgentScheduleTab },
  { id: 'runs', label: 'agentTab.runs', content: AgentRunsTab },
  {
    id: 'feedback',
    label: 'agentTab.thumbs',
    content: AgentThumbsTab,
    isVisible: agent => agent.verbs.includes('review_agent'),
  },
  {
    id: 'eyes',
    label: 'agentTab.eyes',
    content: AgentViewpointTab,
    isVisible: agent => agent.verbs.includes('view_as_agent'),
  },
  {
    id: 'access',
    label: 'agentTab.access',
    content: AgentAccessTab,
    isVisible: agent => agent.verbs.includes('set_access'),
  },
]
