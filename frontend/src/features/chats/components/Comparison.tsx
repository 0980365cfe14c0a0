import { memo, useEffect, useMemo, useState } from 'react'
import type { ComparisonPayload, MessageRow, RunRow } from '@/api'
import { useTexts } from '@/lib/language'
import { clock, count, money, seconds } from '@/lib/time'
import { isActive } from '@/realtime'
import { Busy } from '@/ui/Busy'
import { Face } from '@/ui/Face'
import { Mark } from '@/ui/Mark'
import { comparisonOf, type SideName, usedBy } from '../comparison'
import { useLiveTexts, useRun } from '../hooks'
import { type ReplyParts, replyOf } from '../reply'
import { Ballot } from './Ballot'
import { useChat } from './ChatContext'
import { LazyProse } from './LazyProse'
import { Who } from './MessageParts'
import { Details, Ended, PartView, Stop, Waiting } from './ReplyPieces'

interface ComparisonProps {
  row: MessageRow
  /** What each side has said and done. */
  production: readonly MessageRow[]
  draft: readonly MessageRow[]
}

/** One question that production and the draft answer side by side, and what the room thinks of it. */
export const Comparison = memo(function Comparison({ row, production, draft }: ComparisonProps) {
  const { who, names } = useChat()
  const { t } = useTexts()
  const asked = comparisonOf(row)
  const asker = who(asked.actor_id)
  const name = asker?.name ?? asked.actor_name
  const agent = who(asked.target_id)?.name ?? asked.target_name
  return (
    <article
      className="msg compared"
      data-message={row.id}
      tabIndex={-1}
      aria-label={t('compare.asked', { name, agent, time: clock(row.created_at) })}
    >
      <Face id={asked.actor_id} name={name} square={false} size="l" />
      <div className="c">
        <Who actor={asker} name={name} at={row.created_at} />
        <LazyProse text={asked.text} names={names} />
        <div className="cmp">
          <Side which="production" asked={asked} rows={production} at={row.created_at} />
          <Side which="draft" asked={asked} rows={draft} at={row.created_at} />
        </div>
        <Ballot id={row.id} asked={asked} />
      </div>
    </article>
  )
})

interface SideProps {
  which: SideName
  asked: ComparisonPayload
  rows: readonly MessageRow[]
  at: string
}

function Side({ which, asked, rows, at }: SideProps) {
  const { chatId } = useChat()
  const side = asked[which]
  const run = useRun(chatId, side.run_id)
  const live = useLiveTexts(chatId, side.run_id)
  const reply = useMemo(() => replyOf(rows, live), [rows, live])
  const isWorking = run ? isActive(run) : rows.length === 0
  const label = useSideLabel(which, asked)
  // A side that was asked again began later; when, only a tab that saw it knows.
  const from = run?.started_at ?? (side.earlier.length > 0 ? null : at)
  const until = isWorking ? null : (run?.ended_at ?? rows.at(-1)?.created_at ?? at)
  const layer = which === 'production' ? 'production' : 'applied'
  return (
    <section aria-label={label} aria-busy={isWorking}>
      <div className="h" data-layer={layer}>
        <Mark layer={layer} />
        <span className="cut">
          {label}
          {side.draft_by ? ` · ${side.draft_by}` : ''}
        </span>
        <span className="st num">
          {isWorking ? <Busy /> : null}
          {from ? <Took from={from} until={until} /> : null}
        </span>
      </div>
      <Answer reply={reply} run={isWorking ? run : null} runId={side.run_id} isAwaited={live.length === 0} />
      <Foot rows={rows} run={isWorking ? run : null} />
    </section>
  )
}

function useSideLabel(which: SideName, asked: ComparisonPayload): string {
  const { t } = useTexts()
  return which === 'production'
    ? t('compare.production', { version: `v${asked.production.version}` })
    : t('compare.draft', { apply: `r${asked.draft.draft_apply}` })
}

interface AnswerProps {
  reply: ReplyParts
  /** While it works. */
  run: RunRow | null
  runId: string
  /** Nothing streams yet. */
  isAwaited: boolean
}

function Answer({ reply: { parts, ending }, run, runId, isAwaited }: AnswerProps) {
  const isOver = run === null && ending !== null
  return (
    <div className="bd">
      {parts.map(part => (
        <PartView key={part.key} part={part} isEnded={ending !== null} />
      ))}
      {run && isAwaited ? <Waiting run={run} /> : null}
      {isOver ? (
        <div className="foot">
          <Ended ending={ending} runId={runId} />
        </div>
      ) : null}
      {isOver && ending.kind === 'failed' && ending.note ? <Details note={ending.note} /> : null}
    </div>
  )
}

/** The time it took; the time so far, second by second, while it works. */
function Took({ from, until }: { from: string; until: string | null }) {
  const { t } = useTexts()
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (until) return
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [until])
  const past = ((until ? Date.parse(until) : now) - Date.parse(from)) / 1_000
  return t('secondsShort', { n: until ? seconds(past) : Math.max(0, Math.floor(past)) })
}

/** What it took; and Stop, while `run` works. */
function Foot({ rows, run }: { rows: readonly MessageRow[]; run: RunRow | null }) {
  const { t } = useTexts()
  const used = useMemo(() => usedBy(rows), [rows])
  if (!run && used.tokens === 0) return null
  return (
    <div className="ft num">
      {used.tokens > 0 ? <span>{t('tokens', { count: used.tokens, n: count(used.tokens) })}</span> : null}
      {used.cost ? <span>{money(used.cost)}</span> : null}
      {used.tools > 0 ? <span>{t('compare.tools', { count: used.tools })}</span> : null}
      {run ? <Stop run={run} /> : null}
    </div>
  )
}
