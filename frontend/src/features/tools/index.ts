import { lazy } from '@/ui/lazy'

export const ToolServers = lazy(() => import('./ToolServers').then(module => ({ default: module.ToolServers })))
