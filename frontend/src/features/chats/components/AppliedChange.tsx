import { useState } from 'react'
import { type DiffRow, type SystemMessageRow, type SystemPayload, useAppliedDiff } from '@/api'
import { toolText } from '@/features/agents'
import { type PlainTextKey, type Texts, useTexts } from '@/lib/language'
import { Loading } from '@/ui/Loading'
import { diffLines } from '../lineDiff'
import { Time } from './MessageParts'
import systemStyles from './System.module.css'

/** How much an apply changed, and which lines when it is unfolded. */
export function AppliedChange({ row }: { row: SystemMessageRow }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const about = row.payload
  const label = changedText(about, t)
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
      {isOpen ? <Changes row={row} /> : null}
    </>
  )
}

/** Null where it is not known, or there is nothing to unfold. */
function changedText({ lines_changed: lines, touches = [] }: SystemPayload, t: Texts['t']): string | null {
  if (lines) return t('linesChanged', { count: lines })
  if (touches.length === 0) return null
  const parts = touches.map(each => t(`touches.${each}` as Extract<PlainTextKey, `touches.${string}`>))
  return t('partsChanged', { parts: parts.join(t('listJoin')) })
}

function Changes({ row }: { row: SystemMessageRow }) {
  const { t } = useTexts()
  const diff = useAppliedDiff(row.chat_id, row.id)
  if (!diff.data) return <Loading query={diff} lines={2} />
  const lines = diffLines(diff.data.prompt)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what may be scrolled can be reached by keys
    <section className={systemStyles.linediff} aria-label={t('diff')} tabIndex={0}>
      {diff.data.fields.length > 0 ? (
        <dl>
          {diff.data.fields.map(change => (
            <Field key={change.field} change={change} />
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

function Field({ change }: { change: DiffRow['fields'][number] }) {
  const { t } = useTexts()
  const [kind = '', ...rest] = change.field.split('.')
  const name = rest.join('.')
  const fieldKey = `field.${name || kind}` as Extract<PlainTextKey, `field.${string}`>
  return (
    <>
      <dt>
        {kind === 'tools' ? (
          <>
            {t('tool')} <code>{name}</code>
          </>
        ) : (
          t(fieldKey)
        )}
      </dt>
      <dd>
        <del>{valueText(change.before, t)}</del> → <ins>{valueText(change.after, t)}</ins>
      </dd>
    </>
  )
}

/** A value in one line. Only a tool's is an object. */
function valueText(value: unknown, t: Texts['t']): string {
  if (value === null || value === undefined || value === '') return '–'
  return typeof value === 'object' ? toolText(value, t) : String(value)
}
