import { useParams } from '@tanstack/react-router'
import { useChats, useWaitingChats } from '@/api'
import { useTexts } from '@/lib/language'
import { usePageTitle } from '@/lib/title'
import { useShell } from './ShellContext'

/** Returns the number of unread messages in the chats that are not open. */
export function useUnread(): number {
  const { workspace } = useShell()
  const open = useParams({ strict: false }).chat
  const chats = useChats(workspace.id).data ?? []
  return chats.reduce((sum, row) => sum + (row.chat.id === open ? 0 : row.unread), 0)
}

/** Sets the title of the page, with the number of unread messages before it, and whether something waits for the reader. */
export function useTitle(title: string | undefined): void {
  const { t } = useTexts()
  usePageTitle(title, useUnread(), useWaitingChats().length > 0 ? t('waitsForYou') : '')
}
