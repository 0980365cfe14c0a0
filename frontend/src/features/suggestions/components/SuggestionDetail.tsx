import { useQueryClient } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { keys, type ListedSuggestionRow, type SuggestionDetailRow, useSuggestion, useSummarize } from '@/api'
import { DiffView } from '@/features/agents'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { sentenceGap, useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatFullTime, formatRelative } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { LoadError } from '@/ui/LoadError'
import layout from '@/ui/layout.module.css'
import { Segments } from '@/ui/Segments'
import { Skeleton } from '@/ui/Skeleton'
import { getTitle } from '../wording'
import { SuggestionBadges } from './SuggestionItem'
import suggestionsStyles from './Suggestions.module.css'

interface DetailActions {
  onAccept(row: ListedSuggestionRow): void
  onReject(row: ListedSuggestionRow): void
  onWithdraw(row: ListedSuggestionRow): void
  onMerge(id: string): void
  onChat(chatId: string): void
}

interface SuggestionDetailProps extends DetailActions {
  workspaceId: string
  id: string
}

/** A suggestion: its author, note, changes and decision. */
export function SuggestionDetail({ workspaceId, id, ...actions }: SuggestionDetailProps) {
  const { t } = useTexts()
  const detail = useSuggestion(workspaceId, id)
  if (detail.data) return <SuggestionContent workspaceId={workspaceId} detail={detail.data} {...actions} />
  if (detail.isError)
    return <LoadError text={t('oneFailed')} error={detail.error} onRetry={() => void detail.refetch()} />
  return (
    <div className={layout.pad}>
      <Skeleton lines={8} label={t('loading')} />
    </div>
  )
}

function SuggestionContent({
  workspaceId,
  detail,
  ...actions
}: DetailActions & { workspaceId: string; detail: SuggestionDetailRow }) {
  const { t } = useTexts()
  const row = detail.suggestion
  const title = getTitle(row, t)
  return (
    <article className={cx(layout.pad, suggestionsStyles.suggestion)}>
      <header className={cx(suggestionsStyles.top, 'row wrap')}>
        <div className="grow">
          <h2 lang={detectLanguage(title)}>{title}</h2>
          <p className={cx(suggestionsStyles.by, 'row wrap xs muted')}>
            <Avatar
              id={row.author.id}
              name={row.author.name}
              avatar={row.author.avatar}
              square={row.author.kind === 'agent'}
              size="tiny"
            />
            <span>{t('suggestedBy', { name: row.author.name, agent: row.agent.name })}</span>
            <span title={formatFullTime(row.created_at)}>{formatRelative(row.created_at)}</span>
            {row.chat_id && row.chat_title ? <ChatLink row={row} onChat={actions.onChat} /> : null}
            <span className="num">{t('onVersion', { version: `v${row.base_version}` })}</span>
            <SuggestionBadges row={row} />
          </p>
        </div>
        <ReviewActions row={row} {...actions} />
      </header>
      <Decision row={row} onMerge={actions.onMerge} />
      <SuggestionSummary workspaceId={workspaceId} row={row} />
      {row.note.trim() && row.note.trim() !== title ? (
        <p className={suggestionsStyles.reasons} lang={detectLanguage(row.note)}>
          {row.note}
        </p>
      ) : null}
      <SuggestionChanges detail={detail} />
    </article>
  )
}

function ChatLink({ row, onChat }: { row: ListedSuggestionRow; onChat(chatId: string): void }) {
  return (
    <button type="button" className="link" onClick={() => row.chat_id && onChat(row.chat_id)}>
      {row.chat_title}
    </button>
  )
}

/** The buttons to decide on a suggestion, for those who may. */
function ReviewActions({ row, onAccept, onReject, onWithdraw }: { row: ListedSuggestionRow } & DetailActions) {
  const { t } = useTexts()
  if (row.state !== 'pending' || row.verbs.every(verb => verb === 'summarize')) return null
  return (
    <div className="row">
      {row.verbs.includes('withdraw') ? <Button onClick={() => onWithdraw(row)}>{t('withdrawDots')}</Button> : null}
      {row.verbs.includes('reject') ? (
        <Button tone="bad" onClick={() => onReject(row)}>
          {t('rejectDots')}
        </Button>
      ) : null}
      {row.verbs.includes('accept') ? (
        <Button tone="violet" onClick={() => onAccept(row)}>
          {t('acceptDots')}
        </Button>
      ) : null}
    </div>
  )
}

const decisions = {
  accepted: 'decidedAccepted',
  unused: 'decidedAccepted',
  rejected: 'decidedRejected',
  withdrawn: 'decidedWithdrawn',
} as const

/** The decision on a suggestion, with its author, time and reason, and the version that includes it. */
function Decision({ row, onMerge }: { row: ListedSuggestionRow; onMerge(id: string): void }) {
  const { t, rich } = useTexts()
  const { merge_id: mergeId, state } = row
  if (state === 'pending' && !mergeId) {
    return row.verbs.some(verb => verb !== 'summarize') ? null : <p className="faint sm">{t('notYours')}</p>
  }
  return (
    <div className={blocks.banner}>
      <span className="grow">
        {state === 'pending'
          ? t('itIsInMerge')
          : rich(decisions[state], {
              name: row.decided_by?.name ?? t('unknownPerson'),
              when: formatRelative(row.decided_at ?? ''),
            })}
        {sentenceGap()}
        {state === 'accepted' || state === 'unused' ? <SavedVersion row={row} /> : null}
        {row.reason ? (
          <q className={suggestionsStyles.reason} lang={detectLanguage(row.reason)}>
            {row.reason}
          </q>
        ) : null}
      </span>
      {mergeId ? (
        <Button size="xs" onClick={() => onMerge(mergeId)}>
          {t('seeMerge')}
        </Button>
      ) : null}
    </div>
  )
}

function SavedVersion({ row: { saved_as: savedAs, state } }: { row: ListedSuggestionRow }) {
  const { t, rich } = useTexts()
  if (savedAs === null) return t('notSavedYet')
  return rich(state === 'unused' ? 'notUsedIn' : 'includedIn', { version: `v${savedAs}` })
}

function SuggestionSummary({ workspaceId, row }: { workspaceId: string; row: ListedSuggestionRow }) {
  const { t } = useTexts()
  const client = useQueryClient()
  const summarizeAgain = useSummarize()
  const summarize = () =>
    summarizeAgain.mutate(row.id, {
      onSettled: () => client.invalidateQueries({ queryKey: keys.suggestions(workspaceId) }),
    })
  const isFailed = row.summary_state === 'failed'
  if (isFailed && !row.verbs.includes('summarize')) return null
  return (
    <section className={suggestionsStyles.sumbox} data-layer="suggestion" aria-label={t('summary')}>
      <h3>
        <LayerIcon layer="suggestion" />
        {t('summary')} <span className="faint">· {t('summaryBy')}</span>
      </h3>
      {row.summary_state === 'ready' ? <p lang={detectLanguage(row.summary)}>{row.summary}</p> : null}
      {row.summary_state === 'pending' ? (
        <div role="status">
          <span className="sr">{t('summaryPending')}</span>
          <Skeleton lines={2} label={t('summaryPending')} />
        </div>
      ) : null}
      {isFailed ? (
        <p className="row wrap">
          <span className="grow muted">
            {summarizeAgain.error ? getErrorText(summarizeAgain.error) : t('summaryFailed')}
          </span>
          <Button size="xs" busy={summarizeAgain.isPending ? t('retry') : null} onClick={summarize}>
            {t('retry')}
          </Button>
        </p>
      ) : null}
    </section>
  )
}

/** The changes of a suggestion against its base version or production. */
function SuggestionChanges({ detail: { suggestion: row, base, production } }: { detail: SuggestionDetailRow }) {
  const { t } = useTexts()
  const [isAgainstProduction, setAgainstProduction] = useState(false)
  const isOld = row.base_version !== row.production
  const before = isAgainstProduction ? production : base
  return (
    <section aria-label={t('whatChanges')}>
      {isOld ? (
        <Segments
          className={suggestionsStyles.against}
          label={t('compareAgainst')}
          value={isAgainstProduction ? 'production' : 'base'}
          options={[
            { value: 'base', label: t('againstBase', { version: `v${row.base_version}` }) },
            { value: 'production', label: t('againstProduction', { version: `v${row.production}` }) },
          ]}
          onChange={version => setAgainstProduction(version === 'production')}
        />
      ) : null}
      <div className={blocks.diff}>
        <div className={blocks.h}>
          <LayerIcon layer="production" />v{before.number} <span className="faint">→</span>{' '}
          <LayerIcon layer="suggestion" />
          {t('theSuggestion')}
        </div>
        <Suspense fallback={<Skeleton lines={6} label={t('loading')} />}>
          <DiffView key={before.id} before={before.content} after={row.content} layer="suggestion" />
        </Suspense>
      </div>
    </section>
  )
}
