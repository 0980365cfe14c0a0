import { type DiffRow, type SystemMessageRow, useAppliedDiff, useFileNames } from '@/api'
import { describeField, FieldName, findToolName, listPageIds, type ToolUse } from '@/features/agents'
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
            <FieldChange key={change.field} change={change} />
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

function FieldChange({ change }: { change: DiffRow['fields'][number] }) {
  const { t } = useTexts()
  const { field: path, before, after } = change
  const values = findToolName(path) ? [before, after] : []
  const findFileName = useFileNames(values.flatMap(value => listPageIds((value as ToolUse | null) ?? undefined)))
  return (
    <>
      <dt>
        <FieldName path={path} />
      </dt>
      <dd>
        <del>{describeField(path, before, t, findFileName)}</del> →{' '}
        <ins>{describeField(path, after, t, findFileName)}</ins>
      </dd>
    </>
  )
}
