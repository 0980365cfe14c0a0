import type { ListedChatRow } from '@/api'
import { lazy } from '@/ui/lazy'

export { AgentBadge } from './components/AgentBadge'
export { BackButton, ChatHeader } from './components/ChatHeader'
export { ChatListItem, chatListItemClass } from './components/ChatList'
export { type ChatHandle, ChatPage } from './components/ChatPage'
export { ConnectionBanner } from './components/ConnectionBanner'
export { LazyProse } from './components/LazyProse'
export { storeComposerText } from './composerDraft'
export { useIsClosed, useLastAnswerer, useParticipants } from './hooks'
export { countsAsUnread, findNextEnd, isMuted } from './muted'
export { send, startOutbox } from './outbox'
export type { AskedQuestion } from './question'

export const ChatMenu = lazy(() => import('./components/ChatMenu').then(module => ({ default: module.ChatMenu })))
const loadChatMenu = () => import('./components/ChatMenu')
/** Mutes a chat for good, or ends that it is muted. */
export async function toggleMuted(row: ListedChatRow): Promise<void> {
  const { toggleMuted } = await loadChatMenu()
  toggleMuted(row)
}
export const NewChatDialog = lazy(() =>
  import('./components/NewChatDialog').then(module => ({ default: module.NewChatDialog })),
)
export const Links = lazy(() => import('./components/Links').then(module => ({ default: module.Links })))
