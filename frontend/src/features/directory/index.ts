import { lazy } from '@/ui/lazy'

export { parseDirectorySearch } from './search'

export const DirectoryPage = lazy(() => import('./DirectoryPage').then(module => ({ default: module.DirectoryPage })))
export const PublicAgentPage = lazy(() =>
  import('./PublicAgentPage').then(module => ({ default: module.PublicAgentPage })),
)
export const PublicationSection = lazy(() =>
  import('./PublicationSection').then(module => ({ default: module.PublicationSection })),
)
export const PublishPage = lazy(() => import('./PublishPage').then(module => ({ default: module.PublishPage })))
