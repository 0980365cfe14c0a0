export { NotificationsButton } from './components/NotificationsButton'
export { UnreadAnnouncer } from './components/UnreadAnnouncer'
