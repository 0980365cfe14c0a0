import { Check, Hash } from 'lucide-react'
import { useState } from 'react'
import { type ActorRow, addToChat, type ListedChatRow, useChats, type WorkspaceRow } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { chatPath } from '@/lib/paths'
import { Dialog } from '@/ui/Dialog'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { SearchInput } from '@/ui/Field'
import { Loading } from '@/ui/Loading'
import menuStyles from '@/ui/Menu.module.css'
import styles from './Directory.module.css'

interface AddToChatDialogProps {
  actor: ActorRow
  workspace: WorkspaceRow
  onGo(path: string): void
  onClose(): void
}

/** With more chats than this, a search field appears. */
const MAX_UNSEARCHED = 8

/** The choice of a chat of this workspace to which a public agent is added. The chat is opened then. */
export function AddToChatDialog({ actor, workspace, onGo, onClose }: AddToChatDialogProps) {
  const { t } = useTexts()
  const query = useChats(workspace.id)
  const [text, setText] = useState('')
  const { error, run, busy } = useAsyncAction()
  // Nobody can be added to a direct chat.
  const chats = (query.data ?? []).filter(row => !row.chat.is_direct)
  const needle = text.trim().toLocaleLowerCase()
  const found = chats.filter(row => row.chat.title.toLocaleLowerCase().includes(needle))
  const add = (chatId: string) =>
    run(async () => {
      await addToChat(chatId, actor.id)
      onClose()
      onGo(chatPath(workspace.handle, chatId))
    })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('directory.addTitle', { name: actor.name })}
      description={t('directory.addHint')}
    >
      {chats.length > MAX_UNSEARCHED ? (
        <SearchInput label={t('directory.findChat')} value={text} onChange={setText} />
      ) : null}
      {query.data ? (
        <ul className={styles.options}>
          {found.map(row => (
            <li key={row.chat.id}>
              <ChatOption row={row} agentId={actor.id} isBusy={busy} onPick={() => void add(row.chat.id)} />
            </li>
          ))}
        </ul>
      ) : (
        <Loading query={query} />
      )}
      {query.data && found.length === 0 ? <p className="muted sm">{t('directory.noChat')}</p> : null}
      <ErrorBanner error={error} />
    </Dialog>
  )
}

interface ChatOptionProps {
  row: ListedChatRow
  agentId: string
  isBusy: boolean
  onPick(): void
}

function ChatOption({ row, agentId, isBusy, onPick }: ChatOptionProps) {
  const { t } = useTexts()
  const isIn = row.participants.some(participant => participant.id === agentId)
  return (
    <button
      type="button"
      className={cx(menuStyles.opt, isIn && 'faint')}
      aria-disabled={isIn || isBusy || undefined}
      onClick={() => (isIn || isBusy ? undefined : onPick())}
    >
      <Hash className="i" aria-hidden />
      <span className="cut grow">{row.chat.title}</span>
      {isIn ? (
        <span className="row xs">
          <Check className="i s" aria-hidden />
          {t('directory.isIn')}
        </span>
      ) : null}
    </button>
  )
}
