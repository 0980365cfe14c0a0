import { lazy } from '@/ui/lazy'

export { type SignInFailure, signInFailures } from './signIn'
export const OfferedTool = lazy(() => import('./OfferedTool').then(module => ({ default: module.OfferedTool })))
export const ToolServers = lazy(() => import('./ToolServers').then(module => ({ default: module.ToolServers })))
