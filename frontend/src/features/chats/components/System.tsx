import { CircleAlert, CircleStop, UserMinus, UserPlus } from 'lucide-react'
import { memo } from 'react'
import type { MessageRow } from '@/api'
import { useTexts } from '@/lib/language'
import { Mark } from '@/ui/Mark'
import { type SystemLine, systemLineOf } from '../system'
import { useChat } from './ChatContext'
import { Time } from './MessageParts'

/** A system event: one quiet line with its layer's mark. */
export const System = memo(function System({ row }: { row: MessageRow }) {
  const { who } = useChat()
  const { t, rich } = useTexts()
  const line = systemLineOf(row, (id, kept) => who(id)?.name || kept || t('somebody'))
  if (!line) return null
  return (
    <div className="sys">
      <Sign sign={line.sign} />
      <span>
        {rich(line.key, line.values)}
        <Time at={row.created_at} />
      </span>
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
