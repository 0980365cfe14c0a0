import { GitMergeConflict, UnfoldVertical } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { Conflict, Provenance } from '@/api'
import { getContributorLabel, listParties } from '@/features/agents'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
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

type ContributorOf = (id: string) => Provenance['contributors'][number] | undefined

/** The merged prompt, with whose each line is in the margin, and every conflict with its choices. */
export function MergedText({ production, version, provenance }: MergedTextProps) {
  const { t } = useTexts()
  const parts = useMemo(() => mergedParts(production, provenance), [production, provenance])
  const contributors = useMemo(
    () => new Map(provenance.contributors.map(contributor => [contributor.id, contributor])),
    [provenance],
  )
  const contributorOf: ContributorOf = id => contributors.get(id)
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
          <Part key={index} part={part} contributorOf={contributorOf} />
        ))}
      </div>
      {others.length > 0 ? (
        <div className={blocks.diff} data-layer="suggestion">
          {others.map(conflict => (
            <ConflictBox key={conflict.about} conflict={conflict} contributorOf={contributorOf} />
          ))}
        </div>
      ) : null}
    </>
  )
}

function Part({ part, contributorOf }: { part: MergedPart; contributorOf: ContributorOf }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  if (part.kind === 'conflict') return <ConflictBox conflict={part.conflict} contributorOf={contributorOf} />
  if (part.kind === 'gap' && !isOpen)
    return (
      <button type="button" className={cx(mergeStyles.d, 'gap')} onClick={() => setOpen(true)}>
        <UnfoldVertical className="i s" aria-hidden />
        {t('linesUnchanged', { count: part.lines.length })}
      </button>
    )
  return part.lines.map((line, index) => (
    <Line
      // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
      key={index}
      line={line}
      isSameContent={sameContributors(line, part.lines[index - 1])}
      contributorOf={contributorOf}
    />
  ))
}

const sameContributors = (line: MergedLine, before: MergedLine | undefined) =>
  Boolean(before) && String(line.contributors) === String(before?.contributors)

const kinds = { ' ': '', '+': 'new', '−': 'old' } as const

/** One line. Its author is named where a run of theirs begins. */
function Line({
  line,
  isSameContent,
  contributorOf,
}: {
  line: MergedLine
  isSameContent: boolean
  contributorOf: ContributorOf
}) {
  const { t } = useTexts()
  const names = line.contributors.map(id => contributorOf(id)?.name ?? '').join(t('listJoin'))
  return (
    <div className={`d ${kinds[line.sign]}`.trim()}>
      <i title={names || undefined}>
        {isSameContent || line.contributors.length === 0 ? null : (
          <Avatars ids={line.contributors} names={names} contributorOf={contributorOf} />
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
  contributorOf,
}: {
  ids: readonly string[]
  names: string
  contributorOf: ContributorOf
}) {
  return (
    <>
      {ids.slice(0, 2).map(id => {
        const contributor = contributorOf(id)
        return contributor ? (
          <Avatar key={id} id={contributor.actor_id} name={contributor.name} square={false} size="tiny" />
        ) : null
      })}
      <span className="cut">{names}</span>
    </>
  )
}

/** A conflict between contributors: the question, each one's text, and which is in the draft. */
function ConflictBox({ conflict, contributorOf }: { conflict: Conflict; contributorOf: ContributorOf }) {
  const { t } = useTexts()
  const about = aboutText(conflict.about, t)
  const contributors = conflict.choices.flatMap(choice =>
    choice.contributor ? (contributorOf(choice.contributor) ?? []) : [],
  )
  const question = conflict.question || t('theyDiffer', { names: listParties(contributors, t).join(t('listJoin')) })
  return (
    <section className={mergeStyles.conf} aria-label={question}>
      <div className={mergeStyles.confhead}>
        <GitMergeConflict className="i s" aria-hidden />
        <span className="grow" lang={detectLanguage(question)}>
          {about ? <b>{about} · </b> : null}
          {question}
        </span>
      </div>
      <ul>
        {conflict.choices.map((choice, index) => {
          const contributor = choice.contributor ? contributorOf(choice.contributor) : undefined
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
