import { CircleAlert, CircleStop, UserMinus, UserPlus } from 'lucide-react'
import { memo } from 'react'
import type { SystemMessageRow } from '@/api'
import { LayerIcon } from '@/features/layers'
import { useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { Collapsible } from '@/ui/Collapsible'
import { PathLink } from '@/ui/PathLink'
import { isBeginningOfChat } from '../quiet'
import { type SystemLine, systemLineOf } from '../system'
import { AppliedChange } from './AppliedChange'
import { useChat } from './ChatContext'
import { Time, textId } from './MessageParts'
import { Summary } from './Summary'
import styles from './System.module.css'

/** A system event: one quiet line with its layer's mark; under it what its author and a model say about it. */
export const System = memo(function System({
  row,
  rows,
}: {
  row: SystemMessageRow
  rows: readonly SystemMessageRow[]
}) {
  if (rows.length > 1) return <Act rows={rows} />
  return <Line row={row} />
})

/** Several rows of one act: one line, and each of them behind it. */
function Act({ rows }: { rows: readonly SystemMessageRow[] }) {
  const { who } = useChat()
  const { t, rich } = useTexts()
  const lines = rows.flatMap(
    row => systemLineOf(row, (id, fallback) => who(id)?.name || fallback || t('unknownPerson'), formatList) ?? [],
  )
  const [first] = lines
  if (!first) return null
  const isJoining = rows[0]?.type === 'MEMBER_JOINED'
  const isBeginning = rows[0] !== undefined && isBeginningOfChat(rows[0])
  const key = isBeginning ? 'sys.created' : isJoining ? 'sys.joinedMany' : 'sys.acceptedMany'
  const targets = (isBeginning ? lines.slice(1) : lines).map(line => line.values.target)
  const values = { ...first.values, count: rows.length, targets: formatList(targets) }
  return (
    <div className={styles.sys} data-message={rows[0]?.id} {...stopOf(rows[0]?.id)}>
      <Sign sign={first.sign} />
      <div id={textId(rows[0]?.id ?? '')}>
        {rich(key, values)} <Time at={rows[0]?.created_at ?? ''} />
        {isJoining ? null : (
          <Collapsible plain head={t('details')}>
            {rows.map(row => (
              <Line key={row.id} row={row} isPart />
            ))}
          </Collapsible>
        )}
      </div>
    </div>
  )
}

/** The arrow keys stop at a line of the log; what it says is its name. */
const stopOf = (id = '') => ({ role: 'group', tabIndex: -1, 'aria-labelledby': textId(id) })

/** `isPart`: it stands inside of another line. */
function Line({ row, isPart = false }: { row: SystemMessageRow; isPart?: boolean }) {
  const { who, suggestionPath, onGo, openWorkshop } = useChat()
  const { t, rich } = useTexts()
  const line = systemLineOf(row, (id, fallback) => who(id)?.name || fallback || t('unknownPerson'), formatList)
  if (!line) return null
  const { suggestionId, draftOf } = line
  return (
    <div className={styles.sys} data-message={row.id} {...(isPart ? {} : stopOf(row.id))}>
      <Sign sign={line.sign} />
      <div id={isPart ? undefined : textId(row.id)}>
        {rich(line.key, line.values)}{' '}
        {suggestionId ? (
          <PathLink className={styles.open} data-opens="subject" path={suggestionPath(suggestionId)} onGo={onGo}>
            {t('sys.see')}
          </PathLink>
        ) : draftOf ? (
          <button type="button" className={styles.open} data-opens="subject" onClick={() => openWorkshop(draftOf)}>
            {t('sys.look')}
          </button>
        ) : null}
        {row.type === 'DRAFT_APPLIED' ? <AppliedChange row={row} /> : <Time at={row.created_at} />}
        {line.quote ? <p className={styles.sysnote}>{line.quote}</p> : null}
        {line.summary && suggestionId ? <Summary summary={line.summary} suggestionId={suggestionId} /> : null}
      </div>
    </div>
  )
}

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
      return <LayerIcon layer={sign} />
  }
}
