import { lazy } from '@/ui/lazy'

export type { AgentPreview } from './components/AgentForm'
export { AgentLine } from './components/AgentLine'
export { Editing } from './components/Editing'
export { contentOf, toolText } from './content'
export { type HistorySearch, historySearchOf, type Pair } from './history/pair'
export { applyDraft } from './workshop/applyDraft'
export { contributorSide, partyNames } from './workshop/contributors'
export { closeDraft, findOtherDraft, type OtherDraft } from './workshop/otherDraft'
export type { WorkshopHandle } from './workshop/WorkshopPanel'

/** The editor is large and not needed to chat: it comes when it is opened. */
export const WorkshopPanel = lazy(() => import('./workshop/WorkshopPanel'))
export const DiffView = lazy(() => import('./workshop/DiffView').then(module => ({ default: module.DiffView })))
export const AnsweredDialog = lazy(() =>
  import('./history/AnsweredDialog').then(module => ({ default: module.AnsweredDialog })),
)
export const HistoryPage = lazy(() => import('./history/HistoryPage').then(module => ({ default: module.HistoryPage })))
export const AgentForm = lazy(() => import('./components/AgentForm').then(module => ({ default: module.AgentForm })))
export const AgentPage = lazy(() => import('./components/AgentPage').then(module => ({ default: module.AgentPage })))
export const NewAgentDialog = lazy(() =>
  import('./components/NewAgentDialog').then(module => ({ default: module.NewAgentDialog })),
)
