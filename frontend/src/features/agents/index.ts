import { lazy } from '@/ui/lazy'
import type { applyDraft as ApplyDraft } from './workshop/applyDraft'

export type { AgentPreview } from './components/AgentForm'
export { AgentListItem } from './components/AgentListItem'
export { EditedDrafts } from './components/EditedDrafts'
export { ToolName } from './components/ToolName'
export { buildTree } from './components/tree'
export { useAgentDrag } from './components/useAgentDrag'
export { describeParts } from './parts'
export { type Pair, parseVersionsSearch, type VersionsSearch } from './versions/pair'
export { addToolToDraft } from './workshop/addTool'
export { getContributorLabel, listContributorNames } from './workshop/contributors'
export { findOtherDraft, type OtherDraft, releaseOtherDraft } from './workshop/otherDraft'
export type { WorkshopHandle } from './workshop/WorkshopPanel'

/** The editor is large and not needed to chat, so it is loaded when it is opened. */
export const WorkshopPanel = lazy(() => import('./workshop/WorkshopPanel'))
export const DiffView = lazy(() => import('./workshop/DiffView').then(module => ({ default: module.DiffView })))
/** The table of the fields of a spec has texts that the first page does not load. */
export const FieldName = lazy(() => import('./components/FieldName').then(module => ({ default: module.FieldName })))
export const FieldDifference = lazy(() =>
  import('./components/FieldDifference').then(module => ({ default: module.FieldDifference })),
)
export const LineDiff = lazy(() => import('./workshop/LineDiff').then(module => ({ default: module.LineDiff })))
export const AnsweredDialog = lazy(() =>
  import('./versions/AnsweredDialog').then(module => ({ default: module.AnsweredDialog })),
)
export const VersionsPage = lazy(() =>
  import('./versions/VersionsPage').then(module => ({ default: module.VersionsPage })),
)
export const AgentForm = lazy(() => import('./components/AgentForm').then(module => ({ default: module.AgentForm })))
export const AgentOverview = lazy(() =>
  import('./components/AgentOverview').then(module => ({ default: module.AgentOverview })),
)
export const AgentThumbs = lazy(() =>
  import('./components/AgentThumbs').then(module => ({ default: module.AgentThumbs })),
)
export const TeamTree = lazy(() => import('./components/TeamTree').then(module => ({ default: module.TeamTree })))
export const NewAgentDialog = lazy(() =>
  import('./components/NewAgentDialog').then(module => ({ default: module.NewAgentDialog })),
)

/** As `applyDraft` of the workshop, whose code is loaded only then. */
export const applyDraft: typeof ApplyDraft = async (...input) =>
  (await import('./workshop/applyDraft')).applyDraft(...input)
