import { memo, useMemo } from 'react'
import type { MessageRow, RunRow } from '@/api'
import { useTexts } from '@/lib/language'
import { clock } from '@/lib/time'
import { isActive } from '@/realtime'
import { Face } from '@/ui/Face'
import { useLiveTexts, useRun } from '../hooks'
import { replyOf } from '../reply'
import { useChat } from './ChatContext'
import { Actions, Quote, Who } from './MessageParts'
import { Details, Ended, PartView, Stop, Waiting } from './ReplyPieces'
import { Cost, ModelName, StampButton } from './Stamped'

interface AgentReplyProps {
  runId: string
  agentId: string | null
  rows: readonly MessageRow[]
  at: string
  last: boolean
}

const none: readonly never[] = []

/** What an agent says in one run: thinking, words, tool calls; then the stamp of the text that answered. */
export const AgentReply = memo(function AgentReply({ runId, agentId, rows, at, last }: AgentReplyProps) {
  const { chatId, who } = useChat()
  const { t } = useTexts()
  const run = useRun(chatId, runId)
  const streaming = useLiveTexts(chatId, runId)
  const live = last ? streaming : none
  const reply = useMemo(() => replyOf(rows, live), [rows, live])
  const agent = who(agentId)
  const name = agent?.name ?? t('agent')
  const isWorking = last && run !== null && isActive(run)
  const quoted = rows.find(row => row.reply_to)?.reply_to
  const answer = rows.findLast(row => row.type === 'TEXT_MESSAGE')
  return (
    <article
      className="msg"
      data-message={rows[0]?.id ?? runId}
      tabIndex={-1}
      aria-label={`${name}, ${clock(at)}`}
      aria-busy={isWorking}
    >
      <Face id={agentId ?? ''} name={name} square size="l" />
      <div className="c">
        <Who actor={agent} name={name} at={at} />
        {quoted ? <Quote id={quoted} /> : null}
        {reply.parts.map(part => (
          <PartView key={part.key} part={part} isEnded={reply.ending !== null} />
        ))}
        {isWorking && live.length === 0 ? <Waiting run={run} /> : null}
        {last ? <Foot run={run} runId={runId} agentId={agentId} reply={reply} isWorking={isWorking} /> : null}
        {last && !isWorking && reply.ending?.kind === 'failed' && reply.ending.note ? (
          <Details note={reply.ending.note} />
        ) : null}
      </div>
      {answer ? <Actions row={answer} /> : null}
    </article>
  )
})

interface FootProps {
  run: RunRow | null
  runId: string
  agentId: string | null
  reply: ReturnType<typeof replyOf>
  isWorking: boolean
}

function Foot({ run, runId, agentId, reply, isWorking }: FootProps) {
  const stamp = reply.stamp ?? run?.stamp ?? null
  return (
    <div className="foot">
      {stamp ? (
        <>
          <StampButton stamp={stamp} agentId={agentId} />
          <ModelName stamp={stamp} />
          <Cost stamp={stamp} />
        </>
      ) : null}
      {reply.ending && !isWorking ? <Ended ending={reply.ending} runId={runId} /> : null}
      {isWorking && run ? <Stop run={run} /> : null}
    </div>
  )
}
