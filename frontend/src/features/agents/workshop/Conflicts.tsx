import { Check } from 'lucide-react'
import { useState } from 'react'
import type { Conflict, Provenance } from '@/api'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { hashOf } from '@/lib/ids'
import { type PlainTextKey, useTexts } from '@/lib/language'
import { readStored, writeStored } from '@/lib/storage'
import { Collapsible } from '@/ui/Collapsible'
import { showToast } from '@/ui/toast'
import { toolText } from '../content'
import { contributorSide } from './contributors'
import type { Workshop } from './draftSession'
import { layerOf, replaceChoice, type Sources, toolOf, withField } from './provenance'
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
  const isReviewed = (at: number) =>
    reviewed.includes(at) || (sources.chosen[at] ?? null) !== (conflicts[at]?.chosen ?? null)
  const done = conflicts.filter((_, at) => isReviewed(at)).length
  const choose = (at: number, choice: number) => {
    const after = takeChoice({ provenance, sources, workshop }, at, choice)
    if (!after) return showToast(t('conflictEdited'))
    markReviewed(at)
    if (sources.chosen[at] !== choice) workshop.edit(after)
  }
  return (
    <Collapsible
      plain
      open={done < conflicts.length}
      head={<b>{t('conflicts', { count: conflicts.length })}</b>}
      state={t('decidedOf', { n: done, all: conflicts.length })}
    >
      <ul className={workshopStyles.conflicts}>
        {conflicts.map((conflict, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a conflict is known by its place
          <li key={at}>
            <Choices
              conflict={conflict}
              provenance={provenance}
              chosen={sources.chosen[at] ?? null}
              isReviewed={isReviewed(at)}
              isReadOnly={!workshop.isMine}
              onChoose={choice => choose(at, choice)}
            />
          </li>
        ))}
      </ul>
    </Collapsible>
  )
}

/** The content with another choice; null when what stood there was edited by hand. */
function takeChoice({ provenance, sources, workshop }: ConflictsProps, at: number, choice: number) {
  const conflict = provenance.conflicts?.[at]
  const text = conflict?.choices[choice]?.text
  if (!conflict || text === undefined) return null
  const { content } = workshop
  if (sources.chosen[at] === choice) return content
  if (conflict.about !== 'prompt') return withField(content, conflict.about, text)
  const prompt = replaceChoice(sources, at, text, content.prompt)
  return prompt === null ? null : { ...content, prompt }
}

interface ChoicesProps {
  conflict: Conflict
  provenance: Provenance
  /** Null: something else stands there by now. */
  chosen: number | null
  isReviewed: boolean
  isReadOnly: boolean
  onChoose(choice: number): void
}

function Choices({ conflict, provenance, chosen, isReviewed, isReadOnly, onChoose }: ChoicesProps) {
  const { t } = useTexts()
  const question = conflict.question || titleOf(conflict, t)
  const layer = layerOf(provenance)
  return (
    <fieldset>
      <legend>
        {question} {isReviewed ? <Check className="i s" aria-label={t('decided')} /> : null}
      </legend>
      <div className={workshopStyles.choices}>
        {conflict.choices.map((choice, at) => {
          const contributor = provenance.contributors.find(one => one.id === choice.contributor)
          return (
            <button
              // biome-ignore lint/suspicious/noArrayIndexKey: a choice is known by its place
              key={at}
              type="button"
              className={workshopStyles.choice}
              aria-pressed={chosen === at}
              aria-disabled={isReadOnly || undefined}
              onClick={() => isReadOnly || onChoose(at)}
            >
              <span className={workshopStyles.who} data-layer={choice.contributor ? layer : 'production'}>
                <LayerIcon layer={choice.contributor ? layer : 'production'} />
                {contributor ? contributorSide(contributor, t) : t('production')}
                {chosen === at ? <span className="end">{t('inUse')}</span> : null}
              </span>
              <span className={conflict.about === 'prompt' ? cx(workshopStyles.text, 'mono') : workshopStyles.text}>
                {choiceText(conflict, choice.text, t)}
              </span>
            </button>
          )
        })}
      </div>
      {chosen === null ? <p className="faint xs">{t('conflictByHand')}</p> : null}
    </fieldset>
  )
}

type T = ReturnType<typeof useTexts>['t']

function titleOf({ about }: Conflict, t: T): string {
  if (about === 'prompt') return t('conflictLines')
  const name = about.slice(about.indexOf('.') + 1)
  return about.startsWith('tools.')
    ? t('conflictTool', { name })
    : t('conflictField', { name: t(`field.${name}` as PlainTextKey) })
}

function choiceText({ about }: Conflict, text: string, t: T): string {
  if (about.startsWith('tools.')) {
    const tool = toolOf(text)
    return tool ? toolText(tool, t) : t('withoutTool')
  }
  return text || t(about === 'prompt' ? 'conflict.noLines' : 'byDefault')
}

/** Which conflicts this person has reviewed, stored in this browser. */
function useReviewed(draftId: string, conflicts: readonly Conflict[]): [readonly number[], (at: number) => void] {
  const key = `atelier.settled.${draftId}.${hashOf(JSON.stringify(conflicts))}`
  const [reviewed, setReviewed] = useState<readonly number[]>(() => readStored<number[]>(key, []))
  const markReviewed = (at: number) => {
    const all = [...new Set([...reviewed, at])]
    writeStored(key, all)
    setReviewed(all)
  }
  return [reviewed, markReviewed]
}
