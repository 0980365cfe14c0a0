import { memo, useMemo } from 'react'
import type { MessageRow, RunRow, TextMessageRow } from '@/api'
import { useTexts } from '@/lib/language'
import { formatTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { useRun, useStreamingTexts } from '../hooks'
import { buildReply, type ReplyParts } from '../reply'
import { getActiveStatus, getFinishedStatus, getRunStatus, isBusy, type RunStatus } from '../runStatus'
import { BudgetStop } from './BudgetStop'
import { useChat } from './ChatContext'
import messageStyles from './Message.module.css'
import { Actions, getTextId, MessageHeader, Quote } from './MessageParts'
import { Details, PartView, PendingIndicator, RunActions, WaitingNote } from './ReplyParts'
import { Cost, ModelName, VersionBadge } from './VersionBadge'

interface AgentReplyProps {
  runId: string
  agentId: string | null
  rows: readonly MessageRow[]
  at: string
  last: boolean
  /** The id of the message that it answers, if that is not clear from its position. */
  answers: string | null
}

const noTexts: readonly never[] = []
const isText = (row: MessageRow): row is TextMessageRow => row.type === 'TEXT_MESSAGE'

/** The messages of an agent in one run: reasoning, text and tool calls, followed by the stamp. */
export const AgentReply = memo(function AgentReply({ runId, agentId, rows, at, last, answers }: AgentReplyProps) {
  const { chatId, findActor } = useChat()
  const { t } = useTexts()
  const run = useRun(chatId, runId)
  const streamingTexts = useStreamingTexts(chatId, runId)
  const streaming = last ? streamingTexts : noTexts
  const reply = useMemo(() => buildReply(rows, streaming), [rows, streaming])
  const agent = findActor(agentId)
  const name = agent?.name ?? t('agent')
  const { runEnd } = reply
  const status: RunStatus = last ? getRunStatus({ chatId, runId, run, streaming, runEnd }) : { status: 'idle' }
  const active = getActiveStatus(status)
  const finished = getFinishedStatus(status)
  const quoted = rows.find(row => row.reply_to)?.reply_to ?? answers
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
        <MessageHeader actor={agent} name={name} at={at} />
        {quoted ? <Quote id={quoted} /> : null}
        {reply.parts.map(part => (
          <PartView key={part.key} part={part} isFinished={runEnd !== null} />
        ))}
        {active && active.status !== 'streaming' && active.status !== 'awaiting_approval' ? (
          <PendingIndicator status={active} />
        ) : null}
        {finished?.runEnd.budget ? <BudgetStop status={finished} refusal={finished.runEnd.budget} /> : null}
        {last ? <ReplyFooter runId={runId} run={run} agentId={agentId} reply={reply} status={status} /> : null}
        {finished?.status === 'failed' && finished.runEnd.note ? <Details note={finished.runEnd.note} /> : null}
      </div>
      {answer ? <Actions row={answer} /> : null}
    </article>
  )
})

interface ReplyFooterProps {
  runId: string
  run: RunRow | null
  agentId: string | null
  reply: ReplyParts
  status: RunStatus
}

function ReplyFooter({ runId, run, agentId, reply, status }: ReplyFooterProps) {
  const stamp = reply.stamp ?? run?.stamp ?? null
  return (
    <div className={messageStyles.foot}>
      {stamp ? (
        <>
          <VersionBadge stamp={stamp} agentId={agentId} />
          <ModelName stamp={stamp} />
          <Cost stamp={stamp} runId={runId} />
        </>
      ) : null}
      {status.status === 'awaiting_approval' ? <WaitingNote personId={run?.on_behalf_of ?? null} /> : null}
      <RunActions status={status} />
    </div>
  )
}
