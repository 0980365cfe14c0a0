import { lazy } from '@/ui/lazy'

export { BackButton, ChatHeader } from './components/ChatHeader'
export { ChatLine, chatLineClass } from './components/ChatList'
export { ChatPage } from './components/ChatPage'
export { usePlaces } from './hooks'

export const NewChatDialog = lazy(() =>
  import('./components/NewChatDialog').then(module => ({ default: module.NewChatDialog })),
)
export const Links = lazy(() => import('./components/Links').then(module => ({ default: module.Links })))
