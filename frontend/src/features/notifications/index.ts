import { lazy } from '@/ui/lazy'

export { useBrowserState } from './browserState'
export { NotificationsButton } from './components/NotificationsButton'
export { UnreadAnnouncer } from './components/UnreadAnnouncer'

export const BrowserNotifier = lazy(() =>
  import('./components/BrowserNotifier').then(module => ({ default: module.BrowserNotifier })),
)
export const BrowserNotifications = lazy(() =>
  import('./components/BrowserNotifications').then(module => ({ default: module.BrowserNotifications })),
)
