import { type SystemMessageRow, useAppliedDiff } from '@/api'
import { FieldDifference } from '@/features/agents'
import { useTexts } from '@/lib/language'
import { Loading } from '@/ui/Loading'
import { parseDiff } from '../lineDiff'
import systemStyles from './System.module.css'

/** The lines of the prompt and the settings that changed in this chat when a draft was applied. */
export function ChangedLines({ row }: { row: SystemMessageRow }) {
  const { t } = useTexts()
  const diff = useAppliedDiff(row.chat_id, row.id)
  if (!diff.data) return <Loading query={diff} lines={2} />
  const lines = parseDiff(diff.data.prompt)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className={systemStyles.linediff} aria-label={t('diff')} tabIndex={0}>
      {diff.data.fields.length > 0 ? (
        <dl>
          {diff.data.fields.map(change => (
            <FieldDifference key={change.field} change={change} />
          ))}
        </dl>
      ) : null}
      {lines.length > 0 ? (
        <ol>
          {lines.map(({ at, sign, text }) => (
            <li key={at} data-sign={sign}>
              {sign === '+' ? <ins>{text}</ins> : sign === '−' ? <del>{text}</del> : <span>{text}</span>}
            </li>
          ))}
        </ol>
      ) : null}
    </section>
  )
}
