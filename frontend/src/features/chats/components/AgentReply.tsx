import { type ComponentProps, memo, Suspense, useMemo } from 'react'
import type { MessageRow, RunRow, TextMessageRow } from '@/api'
import { ReplyContext } from '@/features/context'
import { useTexts } from '@/lib/language'
import { formatTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { lazy } from '@/ui/lazy'
import { Skeleton } from '@/ui/Skeleton'
import { getCost } from '../cost'
import { useEditedQuestion, useIsTriedAgain, useRun, useStreamingTexts } from '../hooks'
import { buildReply, type ReplyParts } from '../reply'
import {
  type ActiveStatus,
  getActiveStatus,
  getFailedOrStoppedStatus,
  getRunStatus,
  isBusy,
  isPending,
  type RunStatus,
} from '../runStatus'
import type { SubAgent } from '../subAgents'
import type { PlacedBoard } from '../timeline'
import { useChat } from './ChatContext'
import { Cost } from './Cost'
import messageStyles from './Message.module.css'
import { Actions, getTextId, MessageHeader, Quote } from './MessageParts'
import { Reactions } from './Reactions'
import { Details, PartView, PendingIndicator, RunActions, WaitingNote } from './ReplyParts'
import { Thumbs } from './Thumbs'
import { ModelName, VersionBadge } from './VersionBadge'

const AnswersWhen = lazy(() => import('./Board').then(module => ({ default: module.AnswersWhen })))
const BudgetStop = lazy(() => import('./BudgetStop').then(module => ({ default: module.BudgetStop })))
const OtherAnswers = lazy(() => import('./OtherAnswers').then(module => ({ default: module.OtherAnswers })))
const ReplyWithSubAgents = lazy(() => import('./SubAgents').then(module => ({ default: module.ReplyWithSubAgents })))
const StaleAnswer = lazy(() => import('./StaleAnswer').then(module => ({ default: module.StaleAnswer })))
const TotalCost = lazy(() => import('./SubAgents').then(module => ({ default: module.TotalCost })))

interface AgentReplyProps {
  runId: string
  agentId: string | null
  rows: readonly MessageRow[]
  /** The rows of the same reply that are shown further up, because others wrote in between. */
  earlierRows: readonly MessageRow[]
  at: string
  /** Whether this is the last section of the reply. */
  last: boolean
  /** The id of the message that it answers, if that is not clear from its position. */
  answeredId: string | null
  subAgents: readonly SubAgent[]
  boards: readonly PlacedBoard[]
  /** The runs of all answers in its place; empty if there are no others. */
  answers: readonly string[]
  /** Whether agents read another answer in its place. */
  isUnused: boolean
}

const noTexts: readonly never[] = []
const isText = (row: MessageRow): row is TextMessageRow => row.type === 'TEXT_MESSAGE' && !row.payload.is_deleted

/** Returns how many messages an answer answers. */
const countAnswered = (answer: TextMessageRow | undefined) => answer?.payload.answered_ids?.length ?? 1

/** Returns whether a section ends a reply that nobody works on any more. */
const isEnd = (last: boolean, active: ActiveStatus | null) => last && active === null

/** The messages of an agent in one run: reasoning, text and tool calls, followed by the stamp. */
export const AgentReply = memo(function AgentReply(props: AgentReplyProps) {
  const { runId, agentId, rows, at, last, answeredId, subAgents, boards } = props
  const { chatId, findActor } = useChat()
  const { t } = useTexts()
  const run = useRun(chatId, runId)
  const streamingTexts = useStreamingTexts(chatId, runId)
  const streaming = last ? streamingTexts : noTexts
  const reply = useMemo(() => buildReply(rows, streaming), [rows, streaming])
  const agent = findActor(agentId)
  const name = agent?.name ?? t('agent')
  const isTriedAgain = useIsTriedAgain(chatId, rows)
  const { runEnd } = reply
  const status: RunStatus = last
    ? getRunStatus({ chatId, runId, run, streaming, runEnd, isTriedAgain })
    : { status: 'idle' }
  const active = getActiveStatus(status)
  const failedOrStopped = getFailedOrStoppedStatus(status)
  const quoted = rows.find(row => row.reply_to)?.reply_to ?? answeredId
  const answer = rows.findLast(isText)
  return (
    <article
      className={messageStyles.msg}
      data-message={rows[0]?.id ?? runId}
      tabIndex={-1}
      aria-label={`${name}, ${formatTime(at)}`}
      aria-describedby={
        rows
          .filter(isText)
          .map(row => getTextId(row.id))
          .join(' ') || undefined
      }
      aria-busy={isBusy(status)}
    >
      <Avatar id={agentId ?? ''} name={name} avatar={agent?.avatar} square size="l" />
      <div className={messageStyles.c}>
        <MessageHeader actor={agent} name={name} at={at} pinned={rows.find(row => row.pinned_at)} />
        {quoted ? <Quote id={quoted} count={countAnswered(answer)} /> : null}
        <ReplyBody
          parts={reply.parts}
          isFailedOrStopped={runEnd !== null}
          subAgents={subAgents}
          boards={boards}
          rows={rows}
          name={name}
        />
        {active && isPending(active) ? <PendingIndicator status={active} /> : null}
        <StaleNote answer={answer} />
        {failedOrStopped?.runEnd.budget ? (
          <Suspense fallback={<Skeleton lines={2} label={t('loading')} />}>
            <BudgetStop
              status={failedOrStopped}
              refusal={failedOrStopped.runEnd.budget}
              canRetry={!findActor(agentId)?.is_taken_down}
            />
          </Suspense>
        ) : null}
        <Reactions rows={rows} />
        {last ? <ReplyFooter {...props} run={run} name={name} reply={reply} status={status} /> : null}
        {failedOrStopped?.status === 'failed' && failedOrStopped.runEnd.note ? (
          <Details note={failedOrStopped.runEnd.note} />
        ) : null}
      </div>
      {answer ? <Actions row={answer} rows={rows} isAnswer={isEnd(last, active)} /> : null}
    </article>
  )
})

/** Says that an answer is about a text that was edited since. */
function StaleNote({ answer }: { answer: TextMessageRow | undefined }) {
  const { chatId } = useChat()
  const editedId = useEditedQuestion(chatId, answer)
  if (!answer || !editedId) return null
  return (
    <Suspense fallback={null}>
      <StaleAnswer answer={answer} editedId={editedId} />
    </Suspense>
  )
}

/** The parts of a reply. Until the code that shows sub-agents and boards is loaded, they are left out. */
function ReplyBody(props: ComponentProps<typeof ReplyWithSubAgents>) {
  const parts = props.parts.map(part => (
    <PartView key={part.key} part={part} isFailedOrStopped={props.isFailedOrStopped} />
  ))
  if (props.subAgents.length === 0 && props.boards.length === 0) return parts
  return (
    <Suspense fallback={parts}>
      <ReplyWithSubAgents {...props} />
    </Suspense>
  )
}

function AnswerPlace({ answers, runId, isUnused, status }: ReplyFooterProps) {
  if (answers.length === 0) return null
  return (
    <Suspense fallback={null}>
      <OtherAnswers answers={answers} runId={runId} isUnused={isUnused} isComplete={status.status === 'idle'} />
    </Suspense>
  )
}

interface ReplyFooterProps extends AgentReplyProps {
  run: RunRow | null
  name: string
  reply: ReplyParts
  status: RunStatus
}

function ReplyFooter(props: ReplyFooterProps) {
  const { runId, run, agentId, name, rows, earlierRows, subAgents, boards, reply, status } = props
  const { t } = useTexts()
  const { chatId, goTo, findActor } = useChat()
  const stamp = reply.stamp ?? run?.stamp ?? null
  const allRows = [...earlierRows, ...rows]
  const memory = rows.filter(isText).findLast(row => row.payload.memory)?.payload.memory
  return (
    <>
      <div className={messageStyles.foot}>
        {stamp ? (
          <>
            <VersionBadge stamp={stamp} agentId={agentId} />
            <ModelName stamp={stamp} />
            {subAgents.length === 0 ? <Cost used={getCost(allRows)} runId={runId} /> : null}
          </>
        ) : null}
        {memory ? <span>{t('memoryUsed', { notes: memory.notes, entries: memory.entries })}</span> : null}
        {subAgents.length > 0 ? (
          <Suspense fallback={null}>
            <TotalCost runId={runId} agentId={agentId} name={name} rows={allRows} subAgents={subAgents} />
          </Suspense>
        ) : null}
        {stamp?.context ? (
          <Suspense fallback={null}>
            <ReplyContext chatId={chatId} goTo={goTo} facts={stamp.context} />
          </Suspense>
        ) : null}
        {status.status !== 'awaiting_child' ? null : boards.length === 0 ? (
          <span>{t('subAgents.waits')}</span>
        ) : (
          <Suspense fallback={null}>
            <AnswersWhen boardId={boards.at(-1)?.id ?? ''} />
          </Suspense>
        )}
        {status.status === 'awaiting_approval' ? <WaitingNote personId={run?.on_behalf_of ?? null} /> : null}
        <RunActions
          status={status}
          stopLabel={subAgents.length > 0 || boards.length > 0 ? t('subAgents.stopAll') : undefined}
          canRetry={!findActor(agentId)?.is_taken_down}
        />
        <AnswerPlace {...props} status={status} />
      </div>
      <Thumbs row={rows.findLast(isText)} />
    </>
  )
}
