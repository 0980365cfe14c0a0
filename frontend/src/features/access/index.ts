import { lazy } from '@/ui/lazy'

export const AccessPage = lazy(() => import('./AccessPage').then(module => ({ default: module.AccessPage })))
