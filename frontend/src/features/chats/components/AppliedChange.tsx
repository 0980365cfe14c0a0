import { useState } from 'react'
import { type DiffRow, type SystemMessageRow, type SystemPayload, useAppliedDiff } from '@/api'
import { describeTool, ToolName } from '@/features/agents'
import { type PlainTextKey, type Texts, useTexts } from '@/lib/language'
import { Loading } from '@/ui/Loading'
import { parseDiff } from '../lineDiff'
import { Time } from './MessageParts'
import systemStyles from './System.module.css'

/** The size of the change that was applied, which expands to the changed lines. */
export function AppliedChange({ row }: { row: SystemMessageRow }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const about = row.payload
  const label = describeChange(about, t)
  if (!about.spec_id || !about.before_id || label === null) return <Time at={row.created_at} />
  return (
    <>
      {'· '}
      <button
        type="button"
        className={systemStyles.changed}
        data-opens="change"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
      </button>
      <Time at={row.created_at} />
      {isOpen ? <ChangedLines row={row} /> : null}
    </>
  )
}

/** Describes the change; null if it is unknown or empty. */
function describeChange({ lines_changed: lines, touches = [] }: SystemPayload, t: Texts['t']): string | null {
  if (lines) return t('linesChanged', { count: lines })
  if (touches.length === 0) return null
  const parts = touches.map(part => t(`touches.${part}` as Extract<PlainTextKey, `touches.${string}`>))
  return t('partsChanged', { parts: parts.join(t('listJoin')) })
}

function ChangedLines({ row }: { row: SystemMessageRow }) {
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
  const [kind = '', ...rest] = change.field.split('.')
  const name = rest.join('.')
  const fieldKey = `field.${name || kind}` as Extract<PlainTextKey, `field.${string}`>
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
        <del>{formatValue(change.before, t)}</del> → <ins>{formatValue(change.after, t)}</ins>
      </dd>
    </>
  )
}

/** Formats a value in one line. An object is a tool. */
function formatValue(value: unknown, t: Texts['t']): string {
  if (value === null || value === undefined || value === '') return '–'
  return typeof value === 'object' ? describeTool(value, t) : String(value)
}
