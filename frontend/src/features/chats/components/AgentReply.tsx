import { CircleAlert, CircleStop, RotateCcw, Square } from 'lucide-react'
import { memo, useMemo, useState } from 'react'
import { type MessageRow, type RunRow, retryRun, stopRun } from '@/api'
import { runErrorText, textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { clock, seconds } from '@/lib/time'
import { isActive, learn } from '@/realtime'
import { Button } from '@/ui/Button'
import { Face } from '@/ui/Face'
import { Fold } from '@/ui/Fold'
import { say } from '@/ui/Toasts'
import { useLiveTexts, useRun } from '../hooks'
import { type Ending, type Part, replyOf } from '../reply'
import { useChat } from './ChatContext'
import { LazyProse } from './LazyProse'
import { Actions, Quote, Who } from './MessageParts'
import { Cost, ModelName, StampButton } from './Stamped'
import { ToolRow } from './ToolRow'

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

function PartView({ part, isEnded }: { part: Part; isEnded: boolean }) {
  switch (part.kind) {
    case 'thinking':
      return <Thought part={part} />
    case 'tool':
      return <ToolRow part={part} />
    case 'text':
      return <Words part={part} isEnded={isEnded} />
  }
}

function Words({ part, isEnded }: { part: Extract<Part, { kind: 'text' }>; isEnded: boolean }) {
  const { t } = useTexts()
  const { names } = useChat()
  return (
    <div className={part.live ? 'words growing' : 'words'} data-part={part.row?.id}>
      <LazyProse text={part.text} names={names} growing={part.live} />
      {part.incomplete && !isEnded ? <p className="faint xs">{t('incomplete')}</p> : null}
    </div>
  )
}

function Thought({ part }: { part: Extract<Part, { kind: 'thinking' }> }) {
  const { t } = useTexts()
  const label = part.live
    ? t('thinking')
    : part.seconds === null
      ? t('thought')
      : t('thoughtFor', { n: seconds(part.seconds) })
  return (
    <Fold
      plain
      head={
        <span className="cut">
          {label}
          {part.live ? ` · ${part.text.slice(-80)}` : ''}
        </span>
      }
    >
      <p className="thought">{part.text}</p>
    </Fold>
  )
}

function Waiting({ run }: { run: RunRow }) {
  const { t } = useTexts()
  const label = run.state === 'queued' ? t('queued') : t('working')
  return (
    <div className="waiting faint">
      <span className="typing" role="img" aria-label={label}>
        <i />
        <i />
        <i />
      </span>
    </div>
  )
}

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

function Stop({ run }: { run: RunRow }) {
  const { t } = useTexts()
  const [asked, setAsked] = useState(false)
  const stop = async () => {
    setAsked(true)
    try {
      learn(run.chat_id, [await stopRun(run.id)])
    } catch (error) {
      setAsked(false)
      say(textOfError(error))
    }
  }
  return (
    <span className="end">
      <Button size="xs" onClick={() => void stop()} busy={asked || run.stopping ? t('stopping') : null}>
        <Square className="i s" aria-hidden />
        {t('stop')}
      </Button>
    </span>
  )
}

/** What the model's server said itself: for whoever has to mend it. */
function Details({ note }: { note: string }) {
  const { t } = useTexts()
  return (
    <Fold plain head={t('details')}>
      <p className="thought" lang="en">
        {note}
      </p>
    </Fold>
  )
}

function Ended({ ending, runId }: { ending: Ending; runId: string }) {
  const { t } = useTexts()
  const { chatId, who } = useChat()
  const [busy, setBusy] = useState(false)
  const retry = async () => {
    setBusy(true)
    try {
      learn(chatId, [await retryRun(runId)])
    } catch (error) {
      say(textOfError(error))
    }
    setBusy(false)
  }
  const by = who(ending.by)?.name
  const Icon = ending.kind === 'failed' ? CircleAlert : CircleStop
  return (
    <>
      <span className={ending.kind === 'failed' ? 'no' : 'row faint'}>
        <Icon className="i s" aria-hidden />
        {ending.kind === 'failed' ? runErrorText(ending.code) : by ? t('stoppedBy', { name: by }) : t('stopped')}
      </span>
      <Button size="xs" onClick={() => void retry()} busy={busy ? t('retry') : null}>
        <RotateCcw className="i s" aria-hidden />
        {t('retry')}
      </Button>
    </>
  )
}
