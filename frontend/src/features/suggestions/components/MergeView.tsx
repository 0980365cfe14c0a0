import { Check, CircleAlert, GitMergeConflict, Info, Square } from 'lucide-react'
import {
  type ActorRow,
  ApiError,
  type MergeRow,
  useChatDraft,
  useChats,
  useMerge,
  useRetryMerge,
  useStopMerge,
  useVersion,
} from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { sentenceGap, type Texts, useTexts } from '@/lib/language'
import { formatCurrency, formatFullTime, formatNumber, formatRelative, formatTime, isFuture } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { LoadError } from '@/ui/LoadError'
import layout from '@/ui/layout.module.css'
import { Skeleton } from '@/ui/Skeleton'
import { Spinner } from '@/ui/Spinner'
import { listShares, type Share } from '../mergedLines'
import { buildSteps, getPercent, isMergeActive, type StepName, type StepState } from '../mergeSteps'
import { useNow, useWrittenChars } from '../progress'
import { getMergeErrorText } from '../wording'
import mergeStyles from './Merge.module.css'
import { MergedText } from './MergedText'
import suggestionsStyles from './Suggestions.module.css'

interface MergeViewProps {
  workspaceId: string
  id: string
  me: ActorRow
  findActor(id: string): ActorRow | null
  /** Returns whether the reader may decide on suggestions for an agent, and so stop or retry a merge. */
  canReview(agentId: string): boolean
  onOpenDraft(chatId: string, agentId: string): void
  onSuggestion(id: string): void
}

/** A merge: its progress and its result. */
export function MergeView({ workspaceId, id, ...rest }: MergeViewProps) {
  const { t } = useTexts()
  const merge = useMerge(workspaceId, id)
  if (merge.data) return <MergeContent workspaceId={workspaceId} merge={merge.data} {...rest} />
  if (merge.isError)
    return <LoadError text={t('mergeUnread')} error={merge.error} onRetry={() => void merge.refetch()} />
  return (
    <div className={layout.pad}>
      <Skeleton lines={6} label={t('loading')} />
    </div>
  )
}

type MergeProps = Omit<MergeViewProps, 'id'> & { merge: MergeRow }

function MergeContent({ workspaceId, merge, me, findActor, canReview, onOpenDraft, onSuggestion }: MergeProps) {
  const { t } = useTexts()
  const isActive = isMergeActive(merge)
  const writtenChars = useWrittenChars(merge.id)
  const now = useNow(isActive)
  const isOwn = merge.by.id === me.id
  const title = t('mergeOf', { count: merge.suggestion_ids.length })
  const when = formatRelative(merge.created_at, now)
  return (
    <article className={cx(layout.pad, suggestionsStyles.suggestion)}>
      <header className={cx(suggestionsStyles.top, 'row wrap')}>
        <div className="grow">
          <h2>{title}</h2>
          <p className="muted xs" title={formatFullTime(merge.created_at)}>
            {isOwn ? t('startedByYou', { when }) : t('startedBy', { name: merge.by.name, when })}
            {sentenceGap()}
            {isActive && isOwn ? t('mayLeave') : ''}
          </p>
        </div>
        <MergeButtons
          workspaceId={workspaceId}
          merge={merge}
          canReview={canReview(merge.agent_id)}
          onOpenDraft={onOpenDraft}
        />
      </header>
      <div className={cx(mergeStyles.progress, 'row wrap')}>
        <StepList merge={merge} steps={buildSteps(merge, writtenChars)} />
        <MergeUsage merge={merge} />
      </div>
      <div
        className={mergeStyles.track}
        role="progressbar"
        aria-label={title}
        aria-valuenow={getPercent(merge, writtenChars)}
      >
        <i data-layer="suggestion" style={{ width: `${getPercent(merge, writtenChars)}%` }} />
      </div>
      <MergeOutcome merge={merge} workspaceId={workspaceId} findActor={findActor} />
      {merge.provenance ? <MergeResult merge={merge} onSuggestion={onSuggestion} /> : null}
    </article>
  )
}

/** Returns whether a merge can be retried. The draft is opened in the same chat, so the reader must be in it. */
const canRetry = ({ state, chat_id }: MergeRow) => (state === 'failed' || state === 'stopped') && chat_id !== null

interface MergeButtonsProps {
  workspaceId: string
  merge: MergeRow
  canReview: boolean
  onOpenDraft(chatId: string, agentId: string): void
}

function MergeButtons({ workspaceId, merge, canReview, onOpenDraft }: MergeButtonsProps) {
  const { t } = useTexts()
  const stop = useStopMerge(workspaceId)
  const retry = useRetryMerge(workspaceId)
  const { chat_id: chatId, draft_id: draftId } = merge
  const error = stop.error ?? retry.error
  return (
    <div className="row wrap">
      {error ? (
        <span className="xs no" role="alert">
          {getErrorText(error)}
        </span>
      ) : null}
      {isMergeActive(merge) && canReview ? (
        <Button busy={stop.isPending ? t('stopping') : null} onClick={() => stop.mutate(merge.id)}>
          <Square className="i s" aria-hidden />
          {t('stopMerge')}
        </Button>
      ) : null}
      {canRetry(merge) && canReview ? (
        <Button tone="violet" busy={retry.isPending ? t('startingMerge') : null} onClick={() => retry.mutate(merge.id)}>
          {t(merge.provenance ? 'openDraftThere' : 'tryAgain')}
        </Button>
      ) : null}
      {merge.state === 'done' && chatId && draftId ? (
        <Button tone="ink" onClick={() => onOpenDraft(chatId, merge.agent_id)}>
          {t('openDraft')}
        </Button>
      ) : null}
    </div>
  )
}

/** Returns the text of a step in its state. */
function getStepText(merge: MergeRow, name: StepName, state: StepState, t: Texts['t']): string {
  if (state === 'done') return getDoneText(merge, name, t)
  switch (name) {
    case 'read':
      return t('step.read.now')
    case 'merging':
      return t('step.merging')
    case 'conflicts':
      return t(state === 'now' ? 'step.conflicts.now' : 'step.conflicts')
    case 'opens':
      return t('step.opens')
  }
}

function getDoneText(merge: MergeRow, name: StepName, t: Texts['t']): string {
  const conflicts = merge.provenance?.conflicts.length ?? 0
  switch (name) {
    case 'read':
      return t('step.read.done', { count: merge.suggestion_ids.length })
    case 'merging':
      return t('step.merging.done')
    case 'conflicts':
      return conflicts > 0 ? t('nConflicts', { count: conflicts }) : t('noConflicts')
    case 'opens':
      return t('step.opens.done')
  }
}

const stepIcons = {
  done: <Check className="i s" aria-hidden />,
  now: <Spinner />,
  failed: <CircleAlert className="i s" aria-hidden />,
  todo: null,
}

function StepList({ merge, steps }: { merge: MergeRow; steps: readonly { name: StepName; state: StepState }[] }) {
  const { t } = useTexts()
  return (
    <ol className={mergeStyles.steps} aria-live="polite">
      {steps.map(({ name, state }) => (
        <li key={name} className={state === 'todo' ? undefined : mergeStyles[state]}>
          {stepIcons[state]}
          {getStepText(merge, name, state, t)}
        </li>
      ))}
    </ol>
  )
}

function MergeUsage({ merge }: { merge: MergeRow }) {
  const { t } = useTexts()
  const parts = [
    merge.method ? t(`mergedBy.${merge.method}`) : '',
    merge.model,
    merge.tokens > 0 ? t('usedTokens', { count: merge.tokens, n: formatNumber(merge.tokens) }) : '',
    merge.cost_micro ? formatCurrency(merge.cost_micro) : '',
  ]
  return <span className={cx(mergeStyles.spent, 'xs faint num')}>{parts.filter(Boolean).join(' · ')}</span>
}

/** The outcome of a merge in a sentence, or what it will do. */
function MergeOutcome({ merge, workspaceId, findActor }: Pick<MergeProps, 'merge' | 'workspaceId' | 'findActor'>) {
  const { t, rich } = useTexts()
  const chats = useChats(workspaceId).data
  const chat = chats?.find(row => row.chat.id === merge.chat_id)?.chat.title
  if (merge.state === 'failed') return <FailedMerge merge={merge} findActor={findActor} />
  if (merge.state === 'stopped') return <Notice>{t('mergeStopped')}</Notice>
  const placeKey = merge.state === 'done' ? 'draftIsOpen' : 'nothingChangesYet'
  return (
    <>
      {chat ? <Notice>{rich(placeKey, { chat })}</Notice> : null}
      {chats && !chat && merge.state === 'done' ? <Notice>{t('openedElsewhere')}</Notice> : null}
      {merge.method === 'text' ? <LineByLine merge={merge} /> : null}
    </>
  )
}

/** Says that the texts were merged line by line, and why. The demo model always merges so, which is no failure. */
function LineByLine({ merge }: Pick<MergeProps, 'merge'>) {
  const { t } = useTexts()
  if (merge.error_code === 'demo_model') return <Notice>{t('byTextDemo')}</Notice>
  const why = getMergeErrorText(merge, t)
  return (
    <Notice>
      {t(why ? 'byText' : 'byTextOnly')}
      {sentenceGap()}
      <span className="faint">{why}</span>
    </Notice>
  )
}

function FailedMerge({ merge, findActor }: Pick<MergeProps, 'merge' | 'findActor'>) {
  const { t } = useTexts()
  const { chat_id: chatId, provenance } = merge
  const why = getMergeErrorText(merge, t)
  return (
    <p className={cx(blocks.banner, blocks.bad)} role="alert">
      <CircleAlert className="i s" aria-hidden />
      <span>
        {t(provenance ? 'notPlaced' : 'mergeFailed')}
        {sentenceGap()}
        {merge.error_code === 'draft_locked' && chatId ? (
          <LockHolder chatId={chatId} agentId={merge.agent_id} fallback={why} findActor={findActor} />
        ) : (
          why
        )}
        {sentenceGap()}
        {provenance ? t('againHint') : ''}
      </span>
    </p>
  )
}

interface LockHolderProps extends Pick<MergeProps, 'findActor'> {
  chatId: string
  agentId: string
  /** The reason of the failure: alone until the draft is loaded, then before "free now". */
  fallback: string
}

/** Says who holds the lock now and until when, or that it is free. It reads the draft, which only those in the chat may do. */
function LockHolder({ chatId, agentId, fallback, findActor }: LockHolderProps) {
  const { t } = useTexts()
  const draft = useChatDraft(chatId, agentId)
  const { lock_holder_id: holder, lock_expires_at: until } = draft.data ?? {}
  const isWithoutDraft = draft.error instanceof ApiError && draft.error.code === 'no_draft'
  if (!draft.data && !isWithoutDraft) return fallback
  if (!holder || !until || !isFuture(until)) return `${fallback} ${t('freeNow')}`
  return t('lockedNow', { name: findActor(holder)?.name ?? t('unknownPerson'), time: formatTime(until) })
}

const Notice = ({ children }: { children: React.ReactNode }) => (
  <p className={blocks.banner}>
    <Info className="i s" aria-hidden />
    <span>{children}</span>
  </p>
)

function MergeResult({ merge, onSuggestion }: { merge: MergeRow; onSuggestion(id: string): void }) {
  const { t } = useTexts()
  const base = useVersion(merge.agent_id, merge.base_version)
  if (!merge.provenance) return null
  if (base.isError) return <LoadError text={t('mergeUnread')} error={base.error} onRetry={() => void base.refetch()} />
  if (!base.data) return <Skeleton lines={6} label={t('loading')} />
  return (
    <>
      <MergedText
        basePrompt={base.data.content.prompt}
        baseVersion={merge.base_version}
        provenance={merge.provenance}
      />
      <section className={cx(blocks.sec, mergeStyles.contributions)}>
        <h3 className={blocks.h}>{t('contributions')}</h3>
        <ul className={cx(blocks.b, blocks.rows)}>
          {listShares(merge.provenance).map(share => (
            <Contribution
              key={share.id}
              share={share}
              isUnused={merge.unused_ids.includes(share.id)}
              onOpen={merge.suggestion_ids.includes(share.id) ? () => onSuggestion(share.id) : null}
            />
          ))}
        </ul>
      </section>
    </>
  )
}

function Contribution({ share, isUnused, onOpen }: { share: Share; isUnused: boolean; onOpen: (() => void) | null }) {
  const { t } = useTexts()
  return (
    <li>
      <Avatar id={share.actorId} name={share.name} square={false} />
      {onOpen ? (
        <button type="button" className="link" onClick={onOpen}>
          {share.name}
        </button>
      ) : (
        <span>{share.name}</span>
      )}
      <span className="grow muted">
        {isUnused ? t('suggested.unused') : share.lines > 0 ? t('linesUsed', { count: share.lines }) : t('noLines')}
      </span>
      {share.conflicts > 0 ? (
        <span className="no">
          <GitMergeConflict className="i s" aria-hidden />
          {t('nOpen', { count: share.conflicts })}
        </span>
      ) : (
        <span className="ok">
          <Check className="i s" aria-hidden />
          {t('joined')}
        </span>
      )}
    </li>
  )
}
