import { lazy } from '@/ui/lazy'

export { AgentForm } from './components/AgentForm'
export { AgentLine } from './components/AgentLine'
export { contentOf } from './content'
export { type HistorySearch, historySearchOf, type Pair } from './history/pair'

/** The editor is large and not needed to chat: it comes when it is opened. */
export const WorkshopPanel = lazy(() => import('./workshop/WorkshopPanel'))
export const DiffView = lazy(() => import('./workshop/DiffView').then(module => ({ default: module.DiffView })))
export const AnsweredDialog = lazy(() =>
  import('./history/AnsweredDialog').then(module => ({ default: module.AnsweredDialog })),
)
export const HistoryPage = lazy(() => import('./history/HistoryPage').then(module => ({ default: module.HistoryPage })))
export const AgentPage = lazy(() => import('./components/AgentPage').then(module => ({ default: module.AgentPage })))
export const NewAgentDialog = lazy(() =>
  import('./components/NewAgentDialog').then(module => ({ default: module.NewAgentDialog })),
)
