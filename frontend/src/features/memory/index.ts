import { lazy } from '@/ui/lazy'

export const MemoryPage = lazy(() => import('./MemoryPage').then(module => ({ default: module.MemoryPage })))
