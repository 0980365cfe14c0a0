import { GitMergeConflict, UnfoldVertical } from 'lucide-react'
import { Suspense, useMemo, useState } from 'react'
import type { Conflict, Provenance } from '@/api'
import { FieldName, getContributorLabel, listContributorNames } from '@/features/agents'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { Avatar } from '@/ui/Avatar'
import blocks from '@/ui/blocks.module.css'
import {
  buildMergedParts,
  countChangedLines,
  listFieldConflicts,
  type MergedLine,
  type MergedPart,
} from '../mergedLines'
import mergeStyles from './Merge.module.css'

interface MergedTextProps {
  basePrompt: string
  baseVersion: number
  provenance: Provenance
}

type FindContributor = (id: string) => Provenance['contributors'][number] | undefined

/** The merged prompt with the contributors of each line in the margin, and all conflicts with their choices. */
export function MergedText({ basePrompt, baseVersion, provenance }: MergedTextProps) {
  const { t } = useTexts()
  const parts = useMemo(() => buildMergedParts(basePrompt, provenance), [basePrompt, provenance])
  const contributors = useMemo(
    () => new Map(provenance.contributors.map(contributor => [contributor.id, contributor])),
    [provenance],
  )
  const findContributor: FindContributor = id => contributors.get(id)
  const { added, removed } = countChangedLines(parts)
  const fieldConflicts = listFieldConflicts(provenance)
  return (
    <>
      <div className={blocks.diff} data-layer="suggestion">
        <div className={blocks.h}>
          <LayerIcon layer="production" />v{baseVersion} <span className="faint">→</span>{' '}
          <LayerIcon layer="suggestion" />
          {t('mergedText')}
          <span className={cx(blocks.st, 'num')}>
            +{added} −{removed}
          </span>
        </div>
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other name, and it does not change
          <TextPart key={index} part={part} findContributor={findContributor} />
        ))}
      </div>
      {fieldConflicts.length > 0 ? (
        <div className={blocks.diff} data-layer="suggestion">
          {fieldConflicts.map(conflict => (
            <ConflictBox key={conflict.about} conflict={conflict} findContributor={findContributor} />
          ))}
        </div>
      ) : null}
    </>
  )
}

function TextPart({ part, findContributor }: { part: MergedPart; findContributor: FindContributor }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  if (part.kind === 'conflict') return <ConflictBox conflict={part.conflict} findContributor={findContributor} />
  if (part.kind === 'gap' && !isOpen)
    return (
      <button type="button" className={cx(mergeStyles.d, mergeStyles.gap)} onClick={() => setOpen(true)}>
        <UnfoldVertical className="i s" aria-hidden />
        {t('linesUnchanged', { count: part.lines.length })}
      </button>
    )
  return part.lines.map((line, index) => (
    <TextLine
      // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
      key={index}
      line={line}
      hasSameContributors={hasSameContributors(line, part.lines[index - 1])}
      findContributor={findContributor}
    />
  ))
}

const hasSameContributors = (line: MergedLine, before: MergedLine | undefined) =>
  Boolean(before) && String(line.contributors) === String(before?.contributors)

const kinds = { ' ': undefined, '+': mergeStyles.new, '−': mergeStyles.old }

/** A line. Its contributors are named at the first of consecutive lines. */
function TextLine({
  line,
  hasSameContributors,
  findContributor,
}: {
  line: MergedLine
  hasSameContributors: boolean
  findContributor: FindContributor
}) {
  const { t } = useTexts()
  const names = line.contributors.map(id => findContributor(id)?.name ?? '').join(t('listJoin'))
  return (
    <div className={cx(mergeStyles.d, kinds[line.sign])}>
      <i title={names || undefined}>
        {hasSameContributors || line.contributors.length === 0 ? null : (
          <Avatars ids={line.contributors} names={names} findContributor={findContributor} />
        )}
      </i>
      <b>{line.sign}</b>
      <span lang={detectLanguage(line.text)}>{line.text || ' '}</span>
    </div>
  )
}

function Avatars({
  ids,
  names,
  findContributor,
}: {
  ids: readonly string[]
  names: string
  findContributor: FindContributor
}) {
  return (
    <>
      {ids.slice(0, 2).map(id => {
        const contributor = findContributor(id)
        return contributor ? (
          <Avatar key={id} id={contributor.actor_id} name={contributor.name} square={false} size="tiny" />
        ) : null
      })}
      <span className="cut">{names}</span>
    </>
  )
}

/** A conflict between contributors: the question, the text of each, and which one is in the draft. */
function ConflictBox({ conflict, findContributor }: { conflict: Conflict; findContributor: FindContributor }) {
  const { t } = useTexts()
  const contributors = conflict.choices.flatMap(choice =>
    choice.contributor ? (findContributor(choice.contributor) ?? []) : [],
  )
  const question =
    conflict.question || t('theyDiffer', { names: listContributorNames(contributors, t).join(t('listJoin')) })
  return (
    <section className={mergeStyles.conf} aria-label={question}>
      <div className={mergeStyles.confhead}>
        <GitMergeConflict className="i s" aria-hidden />
        <span className="grow" lang={detectLanguage(question)}>
          {conflict.about === 'prompt' ? null : (
            <Suspense fallback={null}>
              <b>
                <FieldName path={conflict.about} /> ·{' '}
              </b>
            </Suspense>
          )}
          {question}
        </span>
      </div>
      <ul>
        {conflict.choices.map((choice, index) => {
          const contributor = choice.contributor ? findContributor(choice.contributor) : undefined
          const isChosen = index === conflict.chosen
          return (
            <li
              key={`${choice.contributor} ${choice.text}`}
              className={isChosen ? cx(mergeStyles.alternative, mergeStyles.sel) : mergeStyles.alternative}
            >
              {contributor ? (
                <Avatar id={contributor.actor_id} name={contributor.name} square={false} />
              ) : (
                <LayerIcon layer="production" />
              )}
              <span>
                <span className="xs muted">
                  {contributor ? getContributorLabel(contributor, t) : t('fromProduction')}
                </span>

                {isChosen ? (
                  <span className={cx(blocks.badge, mergeStyles.chosen)} data-layer="suggestion">
                    {t('inDraft')}
                  </span>
                ) : null}

                <span className={mergeStyles.text} lang={detectLanguage(choice.text)}>
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
