import { lazy } from '@/ui/lazy'

export const RunsTab = lazy(() => import('./RunsTab').then(module => ({ default: module.RunsTab })))
export const ViewpointTab = lazy(() => import('./ViewpointTab').then(module => ({ default: module.ViewpointTab })))
export const RunView = lazy(() => import('./RunView').then(module => ({ default: module.RunView })))
