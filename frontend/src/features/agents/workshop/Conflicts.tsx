import { Check } from 'lucide-react'
import { useState } from 'react'
import type { Conflict, Provenance } from '@/api'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { hashText } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { readStored, writeStored } from '@/lib/storage'
import { Collapsible } from '@/ui/Collapsible'
import { showToast } from '@/ui/toast'
import { ToolName } from '../components/ToolName'
import { describeField, findToolName, getFieldLabel, parseField, setField } from '../fields'
import { getContributorLabel } from './contributors'
import type { Workshop } from './draftSession'
import {
  type Choice,
  findSources,
  getOriginLayer,
  hasSegment,
  listChoices,
  replaceChoice,
  type Sources,
} from './provenance'
import workshopStyles from './Workshop.module.css'

interface ConflictsProps {
  provenance: Provenance
  sources: Sources
  workshop: Workshop
}

/** The conflicts between contributors: the chosen text of each, and the alternatives. */
export function Conflicts({ provenance, sources, workshop }: ConflictsProps) {
  const { t } = useTexts()
  const conflicts = provenance.conflicts ?? []
  const [reviewed, markReviewed] = useReviewed(workshop.draft?.id ?? '', conflicts)
  // A conflict is reviewed, too, if a person has changed its choice, perhaps in another browser.
  const isReviewed = (index: number) =>
    reviewed.includes(index) || (sources.chosen[index] ?? null) !== (conflicts[index]?.chosen ?? null)
  const reviewedCount = conflicts.filter((_, index) => isReviewed(index)).length
  const choose = (index: number, choice: number) => {
    const after = applyChoice({ provenance, sources, workshop }, index, choice)
    if (!after) return showToast(t(hasSegment(sources.segments, index) ? 'conflictEdited' : 'conflictPlaceUnknown'))
    markReviewed(index)
    if (sources.chosen[index] !== choice) workshop.edit(after)
  }
  return (
    <Collapsible
      plain
      open={reviewedCount < conflicts.length}
      head={<b>{t('conflicts', { count: conflicts.length })}</b>}
      state={t('decidedOf', { n: reviewedCount, all: conflicts.length })}
    >
      <ul className={workshopStyles.conflicts}>
        {conflicts.map((conflict, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a conflict has no id
          <li key={index}>
            <Choices
              conflict={conflict}
              provenance={provenance}
              chosen={sources.chosen[index] ?? null}
              isReviewed={isReviewed(index)}
              isReadOnly={!workshop.isMine}
              onChoose={choice => choose(index, choice)}
            />
          </li>
        ))}
      </ul>
    </Collapsible>
  )
}

/** Returns how many conflicts of a draft nobody has reviewed in this browser, and whose choice nobody has changed. */
export function useUnsettledConflicts({ draft, content }: Workshop): number {
  const provenance = draft?.provenance
  const conflicts = provenance?.conflicts ?? []
  const [reviewed] = useReviewed(draft?.id ?? '', conflicts)
  const chosen = provenance ? findSources(provenance, content).chosen : []
  return conflicts.filter((conflict, index) => !reviewed.includes(index) && chosen[index] === (conflict.chosen ?? null))
    .length
}

/** Returns the content with another choice, or null when the chosen text was edited by hand or its place is not known. */
function applyChoice({ provenance, sources, workshop }: ConflictsProps, index: number, choice: number) {
  const conflict = provenance.conflicts?.[index]
  const text = conflict && listChoices(conflict)[choice]?.text
  if (!conflict || text === undefined) return null
  const { content } = workshop
  if (sources.chosen[index] === choice) return content
  if (conflict.about !== 'prompt') return setField(content, conflict.about, parseField(conflict.about, text))
  const prompt = replaceChoice(sources, index, text, content.prompt)
  return prompt === null ? null : { ...content, prompt }
}

interface ChoicesProps {
  conflict: Conflict
  provenance: Provenance
  /** The index of the chosen text; null when it was edited by hand. */
  chosen: number | null
  isReviewed: boolean
  isReadOnly: boolean
  onChoose(choice: number): void
}

function Choices({ conflict, provenance, chosen, isReviewed, isReadOnly, onChoose }: ChoicesProps) {
  const { t } = useTexts()
  const question = conflict.question || <ConflictQuestion conflict={conflict} />
  const layer = getOriginLayer(provenance)
  return (
    <fieldset>
      <legend>
        {question} {isReviewed ? <Check className="i s" aria-label={t('decided')} /> : null}
      </legend>
      <div className={workshopStyles.choices}>
        {listChoices(conflict).map((choice, index) => {
          const origin = choice.contributor || choice.parts ? layer : 'production'
          return (
            <button
              // biome-ignore lint/suspicious/noArrayIndexKey: a choice has no id
              key={index}
              type="button"
              className={workshopStyles.choice}
              aria-pressed={chosen === index}
              aria-disabled={isReadOnly || undefined}
              onClick={() => isReadOnly || onChoose(index)}
            >
              <span className={workshopStyles.who} data-layer={origin}>
                <LayerIcon layer={origin} />
                {getChoiceLabel(choice, provenance, t)}
                {chosen === index ? <span className="end">{t('inUse')}</span> : null}
              </span>
              <span className={conflict.about === 'prompt' ? cx(workshopStyles.text, 'mono') : workshopStyles.text}>
                {describeChoice(conflict, choice.text, t)}
              </span>
            </button>
          )
        })}
      </div>
      {/* A merge agent may leave a conflict without a choice. */}
      {chosen === null && (conflict.chosen ?? null) !== null ? <p className="faint xs">{t('conflictByHand')}</p> : null}
    </fieldset>
  )
}

type T = ReturnType<typeof useTexts>['t']

function getChoiceLabel({ contributor: id, parts }: Choice, provenance: Provenance, t: T): string {
  if (parts) return t(parts.length === 2 ? 'keepBoth' : 'keepAll')
  const contributor = provenance.contributors.find(item => item.id === id)
  return contributor ? getContributorLabel(contributor, t) : t('production')
}

function ConflictQuestion({ conflict: { about } }: { conflict: Conflict }) {
  const { t, rich } = useTexts()
  if (about === 'prompt') return t('conflictLines')
  const tool = findToolName(about)
  return tool
    ? rich('conflictTool', { name: tool }, value => <ToolName tool={value} />)
    : t('conflictField', { name: getFieldLabel(about, t) })
}

function describeChoice({ about }: Conflict, text: string, t: T): string {
  if (about === 'prompt') return text || t('conflict.noLines')
  const value = parseField(about, text)
  if (findToolName(about) && value === null) return t('withoutTool')
  return text ? describeField(about, value, t) : t('byDefault')
}

/** Returns the indexes of the conflicts that this person reviewed, kept in this browser, and a function to mark one. */
function useReviewed(draftId: string, conflicts: readonly Conflict[]): [readonly number[], (index: number) => void] {
  const key = `atelier.reviewed-conflicts.${draftId}.${hashText(JSON.stringify(conflicts))}`
  const [reviewed, setReviewed] = useState<readonly number[]>(() => readStored<number[]>(key, []))
  const markReviewed = (index: number) => {
    const all = [...new Set([...reviewed, index])]
    writeStored(key, all)
    setReviewed(all)
  }
  return [reviewed, markReviewed]
}
