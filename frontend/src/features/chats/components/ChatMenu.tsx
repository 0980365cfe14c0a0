import { Archive, ArchiveRestore, Bell, BellOff } from 'lucide-react'
import type { ReactNode } from 'react'
import { archiveChat, type ListedChatRow, muteChat, restoreChat, unmuteChat } from '@/api'
import { getErrorText } from '@/lib/errors'
import { t, useTexts } from '@/lib/language'
import { Menu, MenuItem, MenuSeparator } from '@/ui/Menu'
import { showToast } from '@/ui/toast'
import { getMuteEnd, isMuted, muteSpans } from '../muted'

const showError = (error: unknown) => showToast(getErrorText(error))

/** Mutes a chat for good, or ends that it is muted. The toast takes it back. */
export function toggleMuted(row: ListedChatRow): void {
  const { id, title } = row.chat
  const change = isMuted(row) ? unmuteChat(id) : muteChat(id, null)
  const undo = () => void (isMuted(row) ? muteChat(id, row.muted_until) : unmuteChat(id)).catch(showError)
  change.then(
    () => showToast(t(isMuted(row) ? 'mute.ended' : 'mute.done', { chat: title }), { label: t('undo'), run: undo }),
    showError,
  )
}

/** Moves a chat to the archive. The toast takes it back. */
export function archive({ chat }: ListedChatRow): void {
  const undo = () => void restoreChat(chat.id).catch(showError)
  archiveChat(chat.id).then(
    () => showToast(t('archive.done', { chat: chat.title }), { label: t('undo'), run: undo }),
    showError,
  )
}

/** What the reader can do with a chat of their list. It is rendered on first use, so it starts open. */
export function ChatMenu({ row, trigger }: { row: ListedChatRow; trigger: ReactNode }) {
  const { t } = useTexts()
  const { id, title } = row.chat
  return (
    <Menu label={t('chatActions', { chat: title })} trigger={trigger} isInitiallyOpen>
      {isMuted(row) ? (
        <MenuItem onSelect={() => void unmuteChat(id).catch(showError)}>
          <Bell className="i s" aria-hidden />
          {t('mute.end')}
        </MenuItem>
      ) : (
        muteSpans.map(span => (
          <MenuItem key={span} onSelect={() => void muteChat(id, getMuteEnd(span)).catch(showError)}>
            <BellOff className="i s" aria-hidden />
            {t(`mute.${span}`)}
          </MenuItem>
        ))
      )}
      <MenuSeparator />
      {row.is_archived ? (
        <MenuItem onSelect={() => void restoreChat(id).catch(showError)}>
          <ArchiveRestore className="i s" aria-hidden />
          {t('archive.end')}
        </MenuItem>
      ) : (
        <MenuItem onSelect={() => archive(row)}>
          <Archive className="i s" aria-hidden />
          {t('archive.chat')}
        </MenuItem>
      )}
    </Menu>
  )
}
