import { Suspense, useState } from 'react'
import { type SpecRow, useAgent, useSpec } from '@/api'
import type { Layer } from '@/features/layers'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Dialog } from '@/ui/Dialog'
import dialogStyles from '@/ui/Dialog.module.css'
import { Loading } from '@/ui/Loading'
import { lazy } from '@/ui/lazy'
import { Segments } from '@/ui/Segments'
import { Skeleton } from '@/ui/Skeleton'
import { ToolName } from '../components/ToolName'
import { listEnabledTools } from '../content'
import workshopStyles from '../workshop/Workshop.module.css'

const DiffView = lazy(() => import('../workshop/DiffView').then(module => ({ default: module.DiffView })))

interface AnsweredDialogProps {
  workspaceId: string
  agentId: string
  specId: string
  /** The name of the spec in the stamp. */
  label: string
  layer: Layer
  /** A sentence that says who paid, and why; empty if that is not known. */
  payment: string
  onOpenChange(open: boolean): void
  onWorkshop(): void
}

/** The dialog behind a stamp: the spec that answered, in full or as a diff against production. */
export function AnsweredDialog(props: AnsweredDialogProps) {
  const { workspaceId, agentId, specId, label, layer, payment, onOpenChange, onWorkshop } = props
  const { t } = useTexts()
  const [isDiff, setDiff] = useState(false)
  const spec = useSpec(agentId, specId)
  const production = useAgent(workspaceId, agentId).data?.spec
  const isProduction = production?.id === specId
  return (
    <Dialog open onOpenChange={onOpenChange} title={t('answeredBy', { version: label })} className={dialogStyles.wide}>
      {production && !isProduction ? (
        <Segments
          label={t('diff')}
          value={isDiff ? 'diff' : 'text'}
          options={[
            { value: 'text', label: t('answeredText') },
            { value: 'diff', label: t('answeredDiff', { version: `v${production.number}` }) },
          ]}
          onChange={view => setDiff(view === 'diff')}
        />
      ) : null}
      {!spec.data ? (
        <Loading query={spec} lines={6} />
      ) : isDiff && production ? (
        <section className={workshopStyles.latetext} aria-label={t('diff')}>
          <Suspense fallback={<Skeleton lines={6} label={t('loading')} />}>
            <DiffView before={production.content} after={spec.data.content} layer={layer} />
          </Suspense>
        </section>
      ) : (
        <FullSpec spec={spec.data} />
      )}
      {payment ? <p className="muted sm">{payment}</p> : null}
      <div className="row endrow">
        <Button onClick={onWorkshop}>{t('openWorkshop')}</Button>
      </div>
    </Dialog>
  )
}

function FullSpec({ spec }: { spec: SpecRow }) {
  const { t } = useTexts()
  const tools = listEnabledTools(spec.content)
  return (
    <>
      <pre className={workshopStyles.mytext} lang={detectLanguage(spec.content.prompt)}>
        {spec.content.prompt || t('emptyPrompt')}
      </pre>
      <p className="row wrap sm">
        {spec.content.model ? <code className={cx(blocks.badge, blocks.line)}>{spec.content.model}</code> : null}
        {tools.map(tool => (
          <span key={tool.tool} className={cx(blocks.badge, blocks.line)}>
            <ToolName tool={tool.tool} />
          </span>
        ))}
      </p>
    </>
  )
}
