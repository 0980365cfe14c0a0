import { ArrowUpRight, Hash, Link2, MessageCircleOff, Paperclip } from 'lucide-react'
import { useEffect, useRef } from 'react'
import {
  type ActorRow,
  type FileMessageRow,
  type FoundMessage,
  isNotFound,
  type ListedChatRow,
  type MessageRow,
  type TextMessageRow,
  useMessagesAround,
} from '@/api'
import { AgentBadge, LazyProse } from '@/features/chats'
import { useTexts } from '@/lib/language'
import { formatDay, formatFullTime, formatTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import { copyText } from '@/ui/copy'
import { EmptyState } from '@/ui/EmptyState'
import { Loading } from '@/ui/Loading'
import layout from '@/ui/layout.module.css'
import type { FindName } from '@/ui/prose/mentions'
import { showToast } from '@/ui/toast'
import { markWords } from '../highlight'
import styles from './Search.module.css'

/** Messages before and after the hit. */
const MAX_NEAR = 10

type SpokenRow = TextMessageRow | FileMessageRow

/** Returns the texts and files of people and agents around a message, without answers that are not in use. */
function findNear(rows: readonly MessageRow[], id: string): SpokenRow[] {
  const spoken = rows.filter(
    (row): row is SpokenRow =>
      (row.type === 'TEXT_MESSAGE' || row.type === 'FILE_MESSAGE') &&
      !row.metadata &&
      (!row.is_unused || row.id === id),
  )
  const at = spoken.findIndex(row => row.id === id)
  return spoken.slice(Math.max(0, at - MAX_NEAR), at + MAX_NEAR + 1)
}

interface PlaceProps {
  hit: FoundMessage
  query: string
  chat: ListedChatRow | undefined
  actors: readonly ActorRow[]
  path: string
  onGo(path: string): void
}

/** A hit among the messages around it, with the words of the query marked. */
export function Place({ hit, query, chat, actors, path, onGo }: PlaceProps) {
  const { t } = useTexts()
  const around = useMessagesAround(hit.chat_id, hit.message_id)
  const log = useRef<HTMLDivElement>(null)
  const rows = around.data ? findNear(around.data.results, hit.message_id) : []
  const isLoaded = rows.length > 0
  useEffect(() => {
    if (!isLoaded || !log.current) return
    log.current.querySelector('[aria-current]')?.scrollIntoView({ block: 'center' })
    return markWords(log.current, query)
  }, [isLoaded, query])
  const copyLink = async () => {
    const isCopied = await copyText(new URL(path.replace(/\?[^#]*/, ''), location.href).href)
    showToast(t(isCopied ? 'search.linkCopied' : 'search.notCopied'))
  }
  const findActor = (id: string | null) => [...(chat?.participants ?? []), ...actors].find(actor => actor.id === id)
  const findName: FindName = handle => {
    const actor = [...(chat?.participants ?? []), ...actors].find(actor => actor.handle === handle.toLowerCase())
    return actor ? { name: actor.name, isMe: false } : null
  }
  return (
    <section className={styles.place} aria-label={t('search.place')}>
      <header className={layout.bar}>
        <Hash className="i s faint" aria-hidden />
        <h2 className="cut">{hit.chat_title}</h2>
        <span className="faint xs nowrap only-wide">{t('search.inPlace', { day: formatDay(hit.created_at) })}</span>
        <span className="end">
          <Button size="xs" onClick={() => void copyLink()}>
            <Link2 className="i s" aria-hidden />
            {t('search.copyLink')}
          </Button>
          <Button size="xs" tone="ink" onClick={() => onGo(path)}>
            <ArrowUpRight className="i s" aria-hidden />
            {t('search.openInChat')}
          </Button>
        </span>
      </header>
      {isLoaded ? (
        <div ref={log} className={styles.log}>
          {rows.map((row, index) => {
            const day = formatDay(row.created_at)
            const before = rows[index - 1]
            return (
              <div key={row.id}>
                {before && formatDay(before.created_at) === day ? null : <p className={styles.divider}>{day}</p>}
                <PlaceMessage
                  row={row}
                  author={findActor(row.author_id)}
                  name={row.id === hit.message_id ? hit.author : undefined}
                  isHit={row.id === hit.message_id}
                  findName={findName}
                />
              </div>
            )
          })}
        </div>
      ) : isNotFound(around.error) || around.data ? (
        <EmptyState icon={MessageCircleOff} title={t('messageGone')} />
      ) : (
        <Loading query={around} lines={6} />
      )}
    </section>
  )
}

interface PlaceMessageProps {
  row: SpokenRow
  author: ActorRow | undefined
  /** The name of the author, if the reader does not know them. */
  name: string | undefined
  isHit: boolean
  findName: FindName
}

function PlaceMessage({ row, author, name, isHit, findName }: PlaceMessageProps) {
  const { t } = useTexts()
  const shownName = author?.name ?? name ?? t('unknownPerson')
  return (
    <article
      className={styles.message}
      aria-current={isHit || undefined}
      aria-label={`${shownName}, ${formatTime(row.created_at)}`}
    >
      <Avatar
        id={row.author_id ?? ''}
        name={shownName}
        avatar={author?.avatar}
        square={author?.kind === 'agent'}
        size="l"
      />
      <div className={styles.text}>
        <div className={styles.by}>
          <b>{shownName}</b>
          {author?.kind === 'agent' ? <AgentBadge actor={author} /> : null}
          <time className="faint xs" dateTime={row.created_at} title={formatFullTime(row.created_at)}>
            {formatTime(row.created_at)}
          </time>
        </div>
        {row.payload.is_deleted ? (
          <p className="faint">{t('deletedMessage')}</p>
        ) : row.type === 'TEXT_MESSAGE' ? (
          <LazyProse text={row.payload.text} findName={findName} />
        ) : (
          <p>
            <Paperclip className="i s" aria-hidden /> <span data-file-name>{row.payload.name}</span>
          </p>
        )}
      </div>
    </article>
  )
}
