import { Pin, PinOff } from 'lucide-react'
import { useCallback, useState } from 'react'
import { type MessageRow, useMe, usePins } from '@/api'
import { useActions } from '@/lib/actions'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatFullTime, formatShortDate } from '@/lib/time'
import { isViewing } from '@/lib/viewing'
import { type ChatState, useChatSelector } from '@/realtime'
import { Avatar } from '@/ui/Avatar'
import { IconButton } from '@/ui/Button'
import { ListPopover } from '@/ui/ListPopover'
import { Loading } from '@/ui/Loading'
import { type FindActor, useFindName, useIsBetweenAgents } from '../hooks'
import { formatMessageLine } from '../messageLine'
import { togglePin } from '../pins'
import { usePinnedBy } from './MessageParts'
import styles from './PinnedMessages.module.css'

interface PinnedMessagesProps {
  chatId: string
  count: number
  /** Changes when a message was pinned or unpinned: then the list is read again. */
  version: number
  findActor: FindActor
  /** Shows a message in its place in the log. */
  goTo(messageId: string): void
}

/** The button with the number of pinned messages, and their list. */
export function PinnedMessages({ goTo, ...rest }: PinnedMessagesProps) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  useActions(() => ({ 'pins.open': () => setOpen(true) }))
  return (
    <ListPopover
      title={t('pins')}
      align="end"
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <IconButton label={t('pinsCount', { count: rest.count })} className={styles.trigger}>
          <Pin className="i" />
          <span aria-hidden>{rest.count}</span>
        </IconButton>
      }
    >
      <PinList
        {...rest}
        goTo={id => {
          setOpen(false)
          goTo(id)
        }}
      />
    </ListPopover>
  )
}

function PinList({ chatId, version, findActor, goTo }: Omit<PinnedMessagesProps, 'count'>) {
  const pins = usePins(chatId, version)
  const canUnpin = !useIsBetweenAgents(chatId) && !isViewing()
  const rows = pins.data
  if (!rows) return <Loading query={pins} lines={6} />
  return (
    <ul>
      {rows.map(row => (
        <PinItem key={row.id} row={row} findActor={findActor} goTo={goTo} canUnpin={canUnpin} />
      ))}
    </ul>
  )
}

/** Returns the row as it is in the open chat, where it may have been edited since the list was read. */
function useNewestRow(listed: MessageRow): MessageRow {
  const stored = useChatSelector(
    listed.chat_id,
    useCallback((chat: ChatState) => chat.rows.message.get(listed.id), [listed.id]),
  )
  return stored && stored.version > listed.version ? stored : listed
}

interface PinItemProps {
  row: MessageRow
  findActor: FindActor
  goTo(messageId: string): void
  canUnpin: boolean
}

function PinItem({ row: listed, findActor, goTo, canUnpin }: PinItemProps) {
  const { t } = useTexts()
  const row = useNewestRow(listed)
  const myId = useMe().data?.actor.id ?? ''
  const findName = useFindName(findActor, row.chat_id, myId)
  const pinnedBy = usePinnedBy(findActor, myId)
  const author = findActor(row.author_id)
  const name = author?.name ?? t('unknownPerson')
  const line = formatMessageLine(row, findName)
  return (
    <li className={styles.item}>
      <button type="button" className={styles.open} title={t('goToMessage')} onClick={() => goTo(row.id)}>
        <Avatar
          id={row.author_id ?? ''}
          name={name}
          avatar={author?.avatar}
          square={author?.kind === 'agent'}
          size="m"
        />
        <span className={styles.text}>
          <span className={styles.who}>
            <b className="cut">{name}</b>
            <time className="faint xs" dateTime={row.created_at} title={formatFullTime(row.created_at)}>
              {formatShortDate(row.created_at)}
            </time>
          </span>
          <span className={styles.excerpt} lang={detectLanguage(line)}>
            {line}
          </span>
          <span className="faint xs" title={row.pinned_at ? formatFullTime(row.pinned_at) : undefined}>
            {pinnedBy(row)}
          </span>
        </span>
      </button>
      {canUnpin ? (
        <IconButton small label={t('unpin')} onClick={() => void togglePin(row.chat_id, row)}>
          <PinOff className="i" />
        </IconButton>
      ) : null}
    </li>
  )
}
