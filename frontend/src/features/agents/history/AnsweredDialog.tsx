import { Suspense, useState } from 'react'
import { type SpecRow, useAgent, useSpec } from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { languageOf } from '@/lib/textLanguage'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { lazy } from '@/ui/lazy'
import type { Layer } from '@/ui/Mark'
import { Skeleton } from '@/ui/Skeleton'
import { contentOf, enabledTools } from '../content'

const DiffView = lazy(() => import('../workshop/DiffView').then(module => ({ default: module.DiffView })))

interface AnsweredDialogProps {
  agentId: string
  specId: string
  /** How the stamp names it. */
  label: string
  layer: Layer
  onOpenChange(open: boolean): void
  onWorkshop(): void
}

/** Which text answered: the whole of it, or how it differs from what answers today (S0.6). */
export function AnsweredDialog({ agentId, specId, label, layer, onOpenChange, onWorkshop }: AnsweredDialogProps) {
  const { t } = useTexts()
  const [isDiff, setDiff] = useState(false)
  const spec = useSpec(agentId, specId)
  const production = useAgent(agentId).data?.spec
  const isToday = production?.id === specId
  return (
    <Dialog open onOpenChange={onOpenChange} title={t('answeredBy', { version: label })} className="wide">
      {production && !isToday ? (
        <fieldset className="seg" aria-label={t('diff')}>
          <button type="button" aria-pressed={!isDiff} onClick={() => setDiff(false)}>
            {t('answeredText')}
          </button>
          <button type="button" aria-pressed={isDiff} onClick={() => setDiff(true)}>
            {t('answeredDiff', { version: `v${production.number}` })}
          </button>
        </fieldset>
      ) : null}
      {spec.error ? (
        <p role="alert">{textOfError(spec.error)}</p>
      ) : !spec.data ? (
        <Skeleton lines={6} label={t('loading')} />
      ) : isDiff && production ? (
        <section className="latetext" aria-label={t('diff')}>
          <Suspense fallback={<Skeleton lines={6} label={t('loading')} />}>
            <DiffView before={contentOf(production)} after={contentOf(spec.data)} layer={layer} />
          </Suspense>
        </section>
      ) : (
        <Whole spec={spec.data} />
      )}
      <div className="row endrow">
        <Button onClick={onWorkshop}>{t('openWorkshop')}</Button>
      </div>
    </Dialog>
  )
}

function Whole({ spec }: { spec: SpecRow }) {
  const { t } = useTexts()
  const tools = enabledTools(contentOf(spec))
  return (
    <>
      <pre className="mytext" lang={languageOf(spec.prompt)}>
        {spec.prompt || t('emptyPrompt')}
      </pre>
      <p className="row wrap sm">
        {spec.model ? <code className="badge line">{spec.model}</code> : null}
        {tools.map(tool => (
          <code key={tool.tool} className="badge line">
            {tool.tool}
          </code>
        ))}
      </p>
    </>
  )
}
