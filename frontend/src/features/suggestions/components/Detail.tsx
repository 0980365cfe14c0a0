import { useQueryClient } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import {
  keys,
  type ListedSuggestionRow,
  type SpecContent,
  type SuggestionDetailRow,
  useSuggestion,
  useSummarize,
} from '@/api'
import { contentOf, DiffView } from '@/features/agents'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { languageOf } from '@/lib/textLanguage'
import { ago, fullTime } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Face } from '@/ui/Face'
import { Mark } from '@/ui/Mark'
import { Skeleton } from '@/ui/Skeleton'
import { titleOf } from '../wording'
import { Failed } from './Failed'
import { Badges } from './Line'

export interface DetailDeeds {
  onAccept(row: ListedSuggestionRow): void
  onReject(row: ListedSuggestionRow): void
  onWithdraw(row: ListedSuggestionRow): void
  onMerge(id: string): void
  onChat(chatId: string): void
}

interface DetailProps extends DetailDeeds {
  workspaceId: string
  id: string
}

/** One suggestion: whose, why, what it changes, and what became of it. */
export function Detail({ workspaceId, id, ...deeds }: DetailProps) {
  const { t } = useTexts()
  const detail = useSuggestion(workspaceId, id)
  if (detail.data) return <Suggestion workspaceId={workspaceId} detail={detail.data} {...deeds} />
  if (detail.isError) return <Failed text={t('oneFailed')} error={detail.error} onRetry={() => void detail.refetch()} />
  return (
    <div className="pad">
      <Skeleton lines={8} label={t('loading')} />
    </div>
  )
}

function Suggestion({
  workspaceId,
  detail,
  ...deeds
}: DetailDeeds & { workspaceId: string; detail: SuggestionDetailRow }) {
  const { t } = useTexts()
  const row = detail.suggestion
  const title = titleOf(row, t)
  return (
    <article className="pad suggestion">
      <header className="row wrap top">
        <div className="grow">
          <h2 lang={languageOf(title)}>{title}</h2>
          <p className="row wrap xs muted by">
            <Face id={row.author.id} name={row.author.name} square={row.author.kind === 'agent'} size="tiny" />
            <span>{t('suggestedBy', { name: row.author.name, agent: row.agent.name })}</span>
            <span title={fullTime(row.created_at)}>{ago(row.created_at)}</span>
            {row.chat_id && row.chat_title ? <ChatLink row={row} onChat={deeds.onChat} /> : null}
            <span className="num">{t('onVersion', { version: `v${row.base_version}` })}</span>
            <Badges row={row} />
          </p>
        </div>
        <Decide row={row} {...deeds} />
      </header>
      <Decision row={row} onMerge={deeds.onMerge} />
      <Summary workspaceId={workspaceId} row={row} />
      {row.note.trim() && row.note.trim() !== title ? (
        <p className="reasons" lang={languageOf(row.note)}>
          {row.note}
        </p>
      ) : null}
      <Changes detail={detail} />
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

/** The buttons of whoever may decide; who may not sees everything but them. */
function Decide({ row, onAccept, onReject, onWithdraw }: { row: ListedSuggestionRow } & DetailDeeds) {
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
        <Button tone="suggest" onClick={() => onAccept(row)}>
          {t('acceptDots')}
        </Button>
      ) : null}
    </div>
  )
}

const decisions = {
  accepted: 'decidedAccepted',
  rejected: 'decidedRejected',
  withdrawn: 'decidedWithdrawn',
} as const

/** By whom, when and why it was decided, and where it went. */
function Decision({ row, onMerge }: { row: ListedSuggestionRow; onMerge(id: string): void }) {
  const { t, rich } = useTexts()
  const { merge_id: mergeId, state } = row
  if (state === 'pending' && !mergeId) {
    return row.verbs.some(verb => verb !== 'summarize') ? null : <p className="faint sm">{t('notYours')}</p>
  }
  return (
    <div className="banner decided">
      <span className="grow">
        {state === 'pending'
          ? t('itIsInMerge')
          : rich(decisions[state], {
              name: row.decided_by?.name ?? t('somebody'),
              when: ago(row.decided_at ?? ''),
            })}{' '}
        {state === 'accepted' ? <Went savedAs={row.saved_as} /> : null}
        {row.reason ? (
          <q className="reason" lang={languageOf(row.reason)}>
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

function Went({ savedAs }: { savedAs: number | null }) {
  const { t, rich } = useTexts()
  return savedAs === null ? t('notSavedYet') : rich('wentInto', { version: `v${savedAs}` })
}

function Summary({ workspaceId, row }: { workspaceId: string; row: ListedSuggestionRow }) {
  const { t } = useTexts()
  const client = useQueryClient()
  const again = useSummarize()
  const summarize = () =>
    again.mutate(row.id, {
      onSettled: () => client.invalidateQueries({ queryKey: keys.suggestions(workspaceId) }),
    })
  const isFailed = row.summary_state === 'failed'
  if (isFailed && !row.verbs.includes('summarize')) return null
  return (
    <section className="sumbox" data-layer="suggestion" aria-label={t('summary')}>
      <h3>
        <Mark layer="suggestion" />
        {t('summary')} <span className="faint">· {t('summaryBy')}</span>
      </h3>
      {row.summary_state === 'ready' ? <p lang={languageOf(row.summary)}>{row.summary}</p> : null}
      {row.summary_state === 'pending' ? (
        <div role="status">
          <span className="sr">{t('summaryPending')}</span>
          <Skeleton lines={2} label={t('summaryPending')} />
        </div>
      ) : null}
      {isFailed ? (
        <p className="row wrap">
          <span className="grow muted">{again.error ? textOfError(again.error) : t('summaryFailed')}</span>
          <Button size="xs" busy={again.isPending ? t('retry') : null} onClick={summarize}>
            {t('retry')}
          </Button>
        </p>
      ) : null}
    </section>
  )
}

/** The difference, to the version it was made on or to what answers today. */
function Changes({ detail: { suggestion: row, base, production } }: { detail: SuggestionDetailRow }) {
  const { t } = useTexts()
  const [isToday, setToday] = useState(false)
  const isOld = row.base_version !== row.production
  const before = isToday ? production : base
  return (
    <section aria-label={t('whatChanges')}>
      {isOld ? (
        <fieldset className="seg against" aria-label={t('compareAgainst')}>
          <button type="button" aria-pressed={!isToday} onClick={() => setToday(false)}>
            {t('againstBase', { version: `v${row.base_version}` })}
          </button>
          <button type="button" aria-pressed={isToday} onClick={() => setToday(true)}>
            {t('againstProduction', { version: `v${row.production}` })}
          </button>
        </fieldset>
      ) : null}
      <div className="diff">
        <div className="h">
          <Mark layer="production" />v{before.number} <span className="faint">→</span> <Mark layer="suggestion" />
          {t('theSuggestion')}
        </div>
        <Suspense fallback={<Skeleton lines={6} label={t('loading')} />}>
          <DiffView
            key={before.id}
            before={contentOf(before)}
            after={row.content as unknown as SpecContent}
            layer="suggestion"
          />
        </Suspense>
      </div>
    </section>
  )
}
