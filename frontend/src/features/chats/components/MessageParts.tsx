import { Columns2, Reply } from 'lucide-react'
import { memo } from 'react'
import type { ActorRow, MessageRow, TextPayload } from '@/api'
import { useTexts } from '@/lib/language'
import { clock, fullTime } from '@/lib/time'
import { IconButton } from '@/ui/Button'
import { Face } from '@/ui/Face'
import { useChat } from './ChatContext'

export const textOf = (row: MessageRow) => (row.payload as unknown as TextPayload).text ?? ''

export const Time = memo(function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={fullTime(at)}>
      {clock(at)}
    </time>
  )
})

interface WhoProps {
  actor: ActorRow | null
  name: string
  at: string
}

export function Who({ actor, name, at }: WhoProps) {
  const { t } = useTexts()
  return (
    <div className="who">
      <b>{name}</b>
      {actor?.kind === 'agent' ? <span className="badge">{t('agent')}</span> : null}
      <Time at={at} />
    </div>
  )
}

/** The message that this one answers, as one line. */
export function Quote({ id }: { id: string }) {
  const { t } = useTexts()
  const { find, who, goTo } = useChat()
  const row = find(id)
  if (!row) return null
  const author = who(row.author_id)
  return (
    <button type="button" className="quote" onClick={() => goTo(id)} title={t('goToMessage')}>
      <Reply className="i s" aria-hidden />
      {author ? <Face id={author.id} name={author.name} square={author.kind === 'agent'} size="tiny" /> : null}
      <span className="sr">{t('replyTo', { name: author?.name ?? '' })}</span>
      <span className="cut">{textOf(row) || row.type}</span>
    </button>
  )
}

/** What can be done with a message; floats at its top right. */
export function Actions({ row }: { row: MessageRow }) {
  const { t } = useTexts()
  const { reply, compare, who } = useChat()
  const canCompare = compare !== null && who(row.author_id)?.kind === 'human'
  return (
    <div className="acts" role="toolbar" aria-label={t('messageActions')}>
      <IconButton small label={t('reply')} onClick={() => reply(row)}>
        <Reply className="i" />
      </IconButton>
      {canCompare ? (
        <IconButton small label={t('compare.dots')} aria-haspopup="dialog" onClick={() => compare(row)}>
          <Columns2 className="i" />
        </IconButton>
      ) : null}
    </div>
  )
}
