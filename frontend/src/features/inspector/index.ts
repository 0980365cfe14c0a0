import { lazy } from '@/ui/lazy'

export const RunsTab = lazy(() => import('./RunsTab').then(module => ({ default: module.RunsTab })))
export const EyesTab = lazy(() => import('./EyesTab').then(module => ({ default: module.EyesTab })))
export const RunView = lazy(() => import('./RunView').then(module => ({ default: module.RunView })))
