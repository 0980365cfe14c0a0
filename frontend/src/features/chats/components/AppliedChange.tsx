import { Suspense, useContext, useState } from 'react'
import type { SystemMessageRow, SystemPayload } from '@/api'
import { describeParts } from '@/features/agents'
import { type Texts, useTexts } from '@/lib/language'
import { lazy } from '@/ui/lazy'
import { Skeleton } from '@/ui/Skeleton'
import { FoldingChoices } from './foldingChoices'
import { Time } from './MessageParts'
import systemStyles from './System.module.css'

const ChangedLines = lazy(() => import('./ChangedLines').then(module => ({ default: module.ChangedLines })))

/** The size of the change that was applied, which expands to the changed lines. */
export function AppliedChange({ row }: { row: SystemMessageRow }) {
  const { t } = useTexts()
  const choices = useContext(FoldingChoices)
  const [isOpen, setOpen] = useState(choices.get(row.id) ?? false)
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
        onClick={() => {
          choices.set(row.id, !isOpen)
          setOpen(!isOpen)
        }}
      >
        {label}
      </button>
      <Time at={row.created_at} />
      {isOpen ? (
        <Suspense fallback={<Skeleton lines={2} label={t('loading')} />}>
          <ChangedLines row={row} />
        </Suspense>
      ) : null}
    </>
  )
}

/** Describes the change; null if it is unknown or empty. */
function describeChange({ lines_changed: lines, touches = [] }: SystemPayload, t: Texts['t']): string | null {
  if (lines) return t('linesChanged', { count: lines })
  if (touches.length === 0) return null
  return t('partsChanged', { parts: describeParts(touches, t) })
}
