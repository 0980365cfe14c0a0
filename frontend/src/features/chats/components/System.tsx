import { CircleAlert, CircleStop, UserMinus, UserPlus } from 'lucide-react'
import { memo } from 'react'
import type { MessageRow } from '@/api'
import { useTexts } from '@/lib/language'
import { namesInARow } from '@/lib/names'
import { Mark } from '@/ui/Mark'
import { PathLink } from '@/ui/PathLink'
import { type SystemLine, systemLineOf } from '../system'
import { useChat } from './ChatContext'
import { Time } from './MessageParts'
import { Summary } from './Summary'

/** A system event: one quiet line with its layer's mark; under it what its author and a model say about it. */
export const System = memo(function System({ row }: { row: MessageRow }) {
  const { who, suggestionPath, onGo, openWorkshop } = useChat()
  const { t, rich } = useTexts()
  const line = systemLineOf(row, (id, kept) => who(id)?.name || kept || t('somebody'), namesInARow)
  if (!line) return null
  const { suggestionId, draftOf } = line
  return (
    <div className="sys" data-message={row.id}>
      <Sign sign={line.sign} />
      <div className="what">
        {rich(line.key, line.values)}{' '}
        {suggestionId ? (
          <PathLink className="open" path={suggestionPath(suggestionId)} onGo={onGo}>
            {t('sys.see')}
          </PathLink>
        ) : draftOf ? (
          <button type="button" className="open" onClick={() => openWorkshop(draftOf)}>
            {t('sys.look')}
          </button>
        ) : null}
        <Time at={row.created_at} />
        {line.quote ? <p className="sysnote">{line.quote}</p> : null}
        {line.summary && suggestionId ? <Summary summary={line.summary} suggestionId={suggestionId} /> : null}
      </div>
    </div>
  )
})

function Sign({ sign }: { sign: SystemLine['sign'] }) {
  switch (sign) {
    case 'joined':
      return <UserPlus className="i" aria-hidden />
    case 'left':
      return <UserMinus className="i" aria-hidden />
    case 'failed':
      return <CircleAlert className="i" aria-hidden />
    case 'stopped':
      return <CircleStop className="i" aria-hidden />
    default:
      return <Mark layer={sign} />
  }
}
