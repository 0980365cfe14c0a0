import { CornerDownRight } from 'lucide-react'
import type { DraftRow, Provenance } from '@/api'
import { LayerIcon } from '@/features/layers'
import { useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { splitLines } from '@/lib/splitLines'
import { Collapsible } from '@/ui/Collapsible'
import { Conflicts } from './Conflicts'
import { getContributorName } from './contributors'
import type { Workshop } from './draftSession'
import { getOriginLayer, type Sources } from './provenance'
import workshopStyles from './Workshop.module.css'

interface SourcesPanelProps {
  agentName: string
  draft: DraftRow
  provenance: Provenance
  sources: Sources
  workshop: Workshop
  /** Scrolls to a line of the prompt. */
  onLine(line: number): void
}

/** The contributors of this draft, their lines and their conflicts. */
export function SourcesPanel(props: SourcesPanelProps) {
  const { provenance, sources, workshop } = props
  return (
    <section className={workshopStyles.sources} aria-label={useTexts().t('sources')}>
      <Origin {...props} />
      {provenance.conflicts?.length ? (
        <Conflicts provenance={provenance} sources={sources} workshop={workshop} />
      ) : null}
    </section>
  )
}

/** Formats the names of the contributors with these ids as a list. */
export const formatContributors = (
  provenance: Provenance,
  ids: readonly string[],
  t: ReturnType<typeof useTexts>['t'],
) =>
  formatList(
    provenance.contributors
      .filter(contributor => ids.includes(contributor.id))
      .map(contributor => getContributorName(contributor, t)),
  )

function Origin({ agentName, draft, provenance, sources, onLine }: SourcesPanelProps) {
  const { t, rich } = useTexts()
  const names = formatList([...new Set(provenance.contributors.map(contributor => getContributorName(contributor, t)))])
  const requester = provenance.contributors.at(-1)?.in_run_of ?? names
  const text =
    provenance.origin === 'merge'
      ? rich('sources.merged', { names })
      : provenance.origin === 'revise'
        ? rich('revisedFor', { agent: agentName, name: requester })
        : rich('rebasedOnto', { version: `v${draft.base_version}` })
  const attributed = sources.located.filter(({ segment, lines }) => segment.contributors?.length && lines.length > 0)
  const head = (
    <>
      <LayerIcon layer={getOriginLayer(provenance)} />
      <span>{text}</span>
    </>
  )
  if (attributed.length === 0) return <p className={workshopStyles.origin}>{head}</p>
  return (
    <Collapsible plain head={head} state={t('nSegments', { count: attributed.length })}>
      <ol className={workshopStyles.segments}>
        {attributed.map(({ segment, lines }) => (
          <li key={lines[0]}>
            <button type="button" onClick={() => onLine(lines[0] ?? 1)}>
              <CornerDownRight className="i s" aria-hidden />
              <b>{formatContributors(provenance, segment.contributors ?? [], t)}</b>
              <span className="cut muted">{splitLines(segment.text).find(line => line.trim()) ?? ''}</span>
              <span className="num faint">{t('atLine', { n: lines[0] ?? 1 })}</span>
            </button>
          </li>
        ))}
      </ol>
    </Collapsible>
  )
}
