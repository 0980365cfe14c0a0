import { lazy } from '@/ui/lazy'

export { findNextContext, findSummarisedThrough } from './facts'

export const ReplyContext = lazy(() =>
  import('./components/ReplyContext').then(module => ({ default: module.ReplyContext })),
)
export const ContextLine = lazy(() =>
  import('./components/ContextLine').then(module => ({ default: module.ContextLine })),
)
export const SummaryLine = lazy(() =>
  import('./components/ReplyContext').then(module => ({ default: module.SummaryLine })),
)
export const EmbeddingSettings = lazy(() =>
  import('./components/EmbeddingSettings').then(module => ({ default: module.EmbeddingSettings })),
)
export const ContextSettings = lazy(() =>
  import('./components/ContextSettings').then(module => ({ default: module.ContextSettings })),
)
