import { type ReactNode, type Ref, useDeferredValue, useMemo } from 'react'
import type { AgentRow, Provenance } from '@/api'
import { LayerIcon } from '@/features/layers'
import { useTexts } from '@/lib/language'
import { formatNumber } from '@/lib/time'
import { Segments } from '@/ui/Segments'
import { isSameContent } from '../content'
import { DiffView } from './DiffView'
import type { Workshop } from './draftSession'
import type { WorkshopView } from './LayerBar'
import { countUnifiedChanges } from './layerGutter'
import { PromptEditor, type PromptHandle } from './PromptEditor'
import { findSources, getOriginLayer, type Sources } from './provenance'
import type { SourceMark } from './provenanceGutter'
import { formatContributors } from './SourcesPanel'
import workshopStyles from './Workshop.module.css'

/**
 * Returns where the segments of a draft are in its current text, and the present choice of each conflict; null for a
 * draft without provenance.
 */
export function useSources({ draft, content }: Workshop): Sources | null {
  const provenance = draft?.provenance ?? null
  return useMemo(() => (provenance ? findSources(provenance, content) : null), [provenance, content])
}

interface ViewSwitchProps {
  agent: AgentRow
  workshop: Workshop
  view: WorkshopView
  isStale: boolean
  onView(view: WorkshopView): void
}

/** The choice of what the prompt tab shows: the text, or its differences from a lower layer. */
export function ViewSwitch({ agent, workshop, view, isStale, onView }: ViewSwitchProps) {
  const { t } = useTexts()
  const { production, content, draft, applied } = workshop
  // Deferred, so that counting does not delay typing.
  const prompt = useDeferredValue(content.prompt)
  const counts = useMemo(() => countUnifiedChanges(production.prompt, prompt), [production.prompt, prompt])
  const isChanged = !isSameContent(production, content)
  const options: { value: WorkshopView; label: ReactNode }[] = [
    { value: 'write', label: workshop.isMine ? t('write') : t('read') },
  ]
  if (isChanged || view === 'production')
    options.push({
      value: 'production',
      label: (
        <>
          {t('diffTo')} <LayerIcon layer="production" />v{agent.spec.number}
        </>
      ),
    })
  if (applied)
    options.push({
      value: 'applied',
      label: (
        <>
          {t('diffTo')} <LayerIcon layer="applied" />r{draft?.apply_count}
        </>
      ),
    })
  if (isStale) options.push({ value: 'rebase', label: t('rebaseView', { version: `v${agent.spec.number}` }) })
  return (
    <div className={workshopStyles.mode}>
      <Segments label={t('view')} value={view} options={options} onChange={onView} />
      <span className="num end">
        {isChanged ? `+${counts.added} −${counts.removed} · ` : null}
        {t('characters', { count: content.prompt.length, n: formatNumber(content.prompt.length) })}
      </span>
    </div>
  )
}

interface PromptViewProps {
  workshop: Workshop
  view: WorkshopView
  writerName: string
  sources: Sources | null
  /** No one is editing and this person may: the first key acquires the lock. */
  canStartEditing: boolean
  onStartEditing(prompt: string, at: number): void
  onApply(): void
  onSave(): void
  ref: Ref<PromptHandle>
}

/** The prompt of the draft: the editor, or the differences from a lower layer. */
export function PromptView(props: PromptViewProps) {
  const { workshop, view, writerName, sources, canStartEditing, onStartEditing, onApply, onSave, ref } = props
  const { content, production, draft, applied, isMine, caret, edit } = workshop
  const { t } = useTexts()
  const provenance = draft?.provenance ?? null
  const marks = useMemo(() => buildMarks(sources, provenance, t), [sources, provenance, t])
  if (view === 'production') {
    const isApplied = applied !== null && isSameContent(applied, content)
    return <DiffView before={production} after={content} layer={isApplied ? 'applied' : 'writing'} />
  }
  if (view === 'applied' && applied) return <DiffView before={applied} after={content} layer="writing" />
  return (
    <PromptEditor
      ref={ref}
      text={content.prompt}
      isReadOnly={!(isMine || canStartEditing)}
      isEditedByMe={isMine}
      lowerLayers={{ production: production.prompt, applied: applied?.prompt ?? null }}
      caret={caret === null || !writerName ? null : { at: caret, name: writerName }}
      sources={marks}
      onEdit={(prompt, at) => (isMine ? edit({ ...content, prompt }, at) : onStartEditing(prompt, at))}
      onApply={onApply}
      onSave={onSave}
    />
  )
}

/** Builds the marks of the lines that have contributors. */
function buildMarks(
  sources: Sources | null,
  provenance: Provenance | null,
  t: ReturnType<typeof useTexts>['t'],
): SourceMark[] {
  if (!sources || !provenance) return []
  return sources.located
    .filter(({ segment, lines }) => segment.contributors?.length && lines.length > 0)
    .map(({ segment, lines }) => ({
      lines,
      names: formatContributors(provenance, segment.contributors ?? [], t),
      layer: getOriginLayer(provenance),
    }))
}
