import { GitMergeConflict, UnfoldVertical } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { Conflict, Provenance } from '@/api'
import { contributorSide, partiesOf } from '@/features/agents'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { languageOf } from '@/lib/textLanguage'
import { Avatar } from '@/ui/Avatar'
import blocks from '@/ui/blocks.module.css'
import { countConflicts, type MergedLine, type MergedPart, mergedParts, otherConflicts } from '../mergedLines'
import { aboutText } from '../wording'
import mergeStyles from './Merge.module.css'

interface MergedTextProps {
  production: string
  version: number
  provenance: Provenance
}

type VoiceOf = (id: string) => Provenance['voices'][number] | undefined

/** The merged prompt, with whose each line is in the margin, and every conflict with its choices. */
export function MergedText({ production, version, provenance }: MergedTextProps) {
  const { t } = useTexts()
  const parts = useMemo(() => mergedParts(production, provenance), [production, provenance])
  const voices = useMemo(() => new Map(provenance.voices.map(voice => [voice.id, voice])), [provenance])
  const voiceOf: VoiceOf = id => voices.get(id)
  const { added, removed } = countConflicts(parts)
  const others = otherConflicts(provenance)
  return (
    <>
      <div className={blocks.diff} data-layer="suggestion">
        <div className={blocks.h}>
          <LayerIcon layer="production" />v{version} <span className="faint">→</span> <LayerIcon layer="suggestion" />
          {t('mergedText')}
          <span className={cx(blocks.st, 'num')}>
            +{added} −{removed}
          </span>
        </div>
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other name, and it does not change
          <Part key={index} part={part} voiceOf={voiceOf} />
        ))}
      </div>
      {others.length > 0 ? (
        <div className={blocks.diff} data-layer="suggestion">
          {others.map(conflict => (
            <ConflictBox key={conflict.about} conflict={conflict} voiceOf={voiceOf} />
          ))}
        </div>
      ) : null}
    </>
  )
}

function Part({ part, voiceOf }: { part: MergedPart; voiceOf: VoiceOf }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  if (part.kind === 'conflict') return <ConflictBox conflict={part.conflict} voiceOf={voiceOf} />
  if (part.kind === 'gap' && !isOpen)
    return (
      <button type="button" className={cx(mergeStyles.d, 'gap')} onClick={() => setOpen(true)}>
        <UnfoldVertical className="i s" aria-hidden />
        {t('linesUnchanged', { count: part.lines.length })}
      </button>
    )
  return part.lines.map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
    <Line key={index} line={line} isSame={sameVoices(line, part.lines[index - 1])} voiceOf={voiceOf} />
  ))
}

const sameVoices = (line: MergedLine, before: MergedLine | undefined) =>
  Boolean(before) && String(line.voices) === String(before?.voices)

const kinds = { ' ': '', '+': 'new', '−': 'old' } as const

/** One line. Its author is named where a run of theirs begins. */
function Line({ line, isSame, voiceOf }: { line: MergedLine; isSame: boolean; voiceOf: VoiceOf }) {
  const { t } = useTexts()
  const names = line.voices.map(id => voiceOf(id)?.name ?? '').join(t('listJoin'))
  return (
    <div className={`d ${kinds[line.sign]}`.trim()}>
      <i title={names || undefined}>
        {isSame || line.voices.length === 0 ? null : <Faces ids={line.voices} names={names} voiceOf={voiceOf} />}
      </i>
      <b>{line.sign}</b>
      <span lang={languageOf(line.text)}>{line.text || ' '}</span>
    </div>
  )
}

function Faces({ ids, names, voiceOf }: { ids: readonly string[]; names: string; voiceOf: VoiceOf }) {
  return (
    <>
      {ids.slice(0, 2).map(id => {
        const voice = voiceOf(id)
        return voice ? <Avatar key={id} id={voice.actor_id} name={voice.name} square={false} size="tiny" /> : null
      })}
      <span className="cut">{names}</span>
    </>
  )
}

/** Where voices want different things: the question, each one's words, and which of them stand in the draft. */
function ConflictBox({ conflict, voiceOf }: { conflict: Conflict; voiceOf: VoiceOf }) {
  const { t } = useTexts()
  const about = aboutText(conflict.about, t)
  const voices = conflict.choices.flatMap(choice => (choice.voice ? (voiceOf(choice.voice) ?? []) : []))
  const question = conflict.question || t('theyDiffer', { names: partiesOf(voices, t).join(t('listJoin')) })
  return (
    <section className={mergeStyles.conf} aria-label={question}>
      <div className={mergeStyles.confhead}>
        <GitMergeConflict className="i s" aria-hidden />
        <span className="grow" lang={languageOf(question)}>
          {about ? <b>{about} · </b> : null}
          {question}
        </span>
      </div>
      <ul>
        {conflict.choices.map((choice, index) => {
          const voice = choice.voice ? voiceOf(choice.voice) : undefined
          const isChosen = index === conflict.chosen
          return (
            <li
              key={`${choice.voice} ${choice.text}`}
              className={isChosen ? cx(mergeStyles.alternative, mergeStyles.sel) : mergeStyles.alternative}
            >
              {voice ? (
                <Avatar id={voice.actor_id} name={voice.name} square={false} />
              ) : (
                <LayerIcon layer="production" />
              )}
              <span>
                <span className="xs muted">{voice ? contributorSide(voice, t) : t('fromProduction')}</span>

                {isChosen ? (
                  <span className={blocks.badge} data-layer="suggestion">
                    {t('standsInDraft')}
                  </span>
                ) : null}

                <span className={mergeStyles.words} lang={languageOf(choice.text)}>
                  {choice.text.trim() || t('leaveOut')}
                </span>
              </span>
            </li>
          )
        })}
      </ul>
      <p className="xs faint">
        {conflict.chosen === null ? `${t('anotherStands')} ` : ''}
        {t('chooseInDraft')}
      </p>
    </section>
  )
}
