import { type DiffRow, type SystemMessageRow, useAppliedDiff, useFileNames } from '@/api'
import { describeTool, listPageIds, ToolName } from '@/features/agents'
import { type PlainTextKey, type Texts, useTexts } from '@/lib/language'
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
  const values = [change.before, change.after]
  const findFileName = useFileNames(values.flatMap(value => (isTool(value) ? listPageIds(value) : [])))
  const [kind = '', ...rest] = change.field.split('.') // such as `model`, `limits.max_steps`, `tools.web_fetch`
  const name = rest.join('.')
  const fieldKey = `field.${kind === 'context' ? `context_${name}` : name || kind}` as Extract<
    PlainTextKey,
    `field.${string}`
  >
  return (
    <>
      <dt>
        {kind === 'tools' ? (
          <>
            {t('tool')} <ToolName tool={name} />
          </>
        ) : (
          t(fieldKey)
        )}
      </dt>
      <dd>
        <del>{formatValue(change.before, t, findFileName)}</del> →{' '}
        <ins>{formatValue(change.after, t, findFileName)}</ins>
      </dd>
    </>
  )
}

const isTool = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Formats a value in one line. An object is a tool. */
function formatValue(value: unknown, t: Texts['t'], findFileName: ReturnType<typeof useFileNames>): string {
  if (value === null || value === undefined || value === '') return '–'
  return isTool(value) ? describeTool(value, t, findFileName) : String(value)
}
