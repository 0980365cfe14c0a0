/** A task of a board: its line, and, when it is open, its tries and what its run writes. */
import {
  Check,
  ChevronDown,
  ChevronRight,
  CircleDashed,
  CirclePause,
  CircleSlash,
  Clock,
  ClockAlert,
  CornerDownRight,
  History,
  RotateCcw,
  ShieldQuestion,
  Square,
  X,
} from 'lucide-react'
import { type KeyboardEvent, memo, useContext, useMemo } from 'react'
import { type BoardTaskRow, type RunRow, retryBoardTask, type TaskResultRow } from '@/api'
import { cx } from '@/lib/cx'
import { areSingleKeysOn } from '@/lib/keys'
import { useTexts } from '@/lib/language'
import { getRunErrorText } from '@/lib/runErrors'
import { detectLanguage } from '@/lib/textLanguage'
import { formatCurrency, formatSeconds, formatTime } from '@/lib/time'
import { isActive } from '@/realtime'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import { PathLink } from '@/ui/PathLink'
import { Spinner } from '@/ui/Spinner'
import {
  canFork,
  canRetry,
  compareDescriptions,
  formatParameter,
  formatResult,
  getResult,
  listTries,
  readValues,
  type TaskStatus,
} from '../boards'
import { getCost } from '../cost'
import { useRun, useStreamingTexts } from '../hooks'
import { buildReply } from '../reply'
import { getActiveStatus, getRunStatus, isPending } from '../runStatus'
import { listTree, type SubAgent } from '../subAgents'
import styles from './Board.module.css'
import { useBoardContext } from './boardContext'
import { useChat } from './ChatContext'
import { LazyProse } from './LazyProse'
import { Duration, PendingIndicator, StopButton } from './ReplyParts'
import { FoldingContext, getStep, NestedParts, SubAgentFooter, TaskFiles } from './SubAgents'

interface BoardTaskProps {
  task: BoardTaskRow
  /** Its last run, if it is loaded. */
  subAgent: SubAgent | null
  status: TaskStatus
  isOpenByDefault: boolean
  /** Whether its parameters are shown only when it is open. */
  isShort: boolean
  /** The name of the supervisor; empty if the board has none. */
  above: string
}

export const BoardTask = memo(function BoardTask(props: BoardTaskProps) {
  const { task, subAgent, status, isOpenByDefault, isShort, above } = props
  const { chatId } = useChat()
  const { chosen } = useContext(FoldingContext)
  const run = useRun(chatId, task.run_id ?? '')
  const isOpen = chosen.get(task.id) ?? isOpenByDefault
  return (
    <li className={styles.task} data-task={task.number} data-state={status} aria-busy={run !== null && isActive(run)}>
      <div className={styles.taskHead}>
        <TaskToggle task={task} subAgent={subAgent} isOpen={isOpen} />
        <span className={cx(styles.state, 'num')}>
          <StateOfTask task={task} status={status} run={run} />
        </span>
        <StopTask task={task} run={run} />
      </div>
      {task.replaced_description ? (
        <ChangedDescription before={task.replaced_description} after={task.description} />
      ) : null}
      {isShort && !isOpen ? null : <Facts task={task} />}
      {isOpen ? <TaskBody task={task} status={status} subAgent={subAgent} run={run} above={above} /> : null}
    </li>
  )
})

const MAX_SUMMARY = 300
const summarize = (text: string) => text.split(/\s+/).join(' ').slice(0, MAX_SUMMARY).trim()

/** The line of a task. When it is folded, its result is shown in place of its description. */
function TaskToggle({ task, subAgent, isOpen }: Pick<BoardTaskProps, 'task' | 'subAgent'> & { isOpen: boolean }) {
  const { findActor } = useChat()
  const { setOpen } = useContext(FoldingContext)
  const onKeyDown = useTaskKeys(task)
  const result = getResult(task)
  const summary = isOpen ? '' : summarize(result ? formatResult(result) : '')
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <button
      type="button"
      className={styles.taskToggle}
      data-toggle
      aria-expanded={isOpen}
      onClick={() => setOpen([task.id], !isOpen)}
      onKeyDown={onKeyDown}
    >
      <span className={styles.number}>{task.number}</span>
      <Avatar
        id={task.agent_id}
        name={task.agent_name}
        avatar={findActor(task.agent_id)?.avatar ?? subAgent?.metadata.avatar}
        square
      />
      <b>{task.agent_name}</b>
      <span
        className={styles.desc}
        data-result={summary !== '' || undefined}
        lang={detectLanguage(summary || task.description)}
      >
        {summary || task.description}
      </span>
      <Chevron className="i s" aria-hidden />
    </button>
  )
}

/** The keys of the line of a task: ← → fold and unfold, with Shift all tasks; ↑ ↓ other tasks; R runs it again, S stops it. */
function useTaskKeys(task: BoardTaskRow): (event: KeyboardEvent<HTMLElement>) => void {
  const { tasks, board, blocked, runAgain } = useBoardContext()
  const { setOpen, setAllOpen } = useContext(FoldingContext)
  const mayRunAgain = !blocked && (canFork(board) || canRetry(board, task, tasks))
  const fold = (isOpen: boolean, isOfAll: boolean) => {
    setOpen(isOfAll ? tasks.map(({ id }) => id) : [task.id], isOpen)
    if (isOfAll) setAllOpen(isOpen)
  }
  /** At an edge the key leaves the board, as elsewhere in the log. */
  const move = (from: HTMLElement, step: 1 | -1): boolean => {
    const toggles = [...(from.closest('[data-board]')?.querySelectorAll<HTMLElement>('[data-toggle]') ?? [])]
    const next = toggles[toggles.indexOf(from) + step]
    next?.focus()
    return next !== undefined
  }
  const stop = (from: HTMLElement) =>
    from.closest('[data-task]')?.querySelector<HTMLElement>('[data-stop] button')?.click()
  /** Returns whether the key did something. */
  const press = (key: string, from: HTMLElement): boolean => {
    if (key === 'ArrowDown' || key === 'ArrowUp') return move(from, key === 'ArrowDown' ? 1 : -1)
    if (!areSingleKeysOn() || !['r', 's'].includes(key)) return false
    if (key === 's') stop(from)
    else if (mayRunAgain) runAgain(task)
    return true
  }
  return event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') fold(event.key === 'ArrowRight', event.shiftKey)
    else if (event.shiftKey || !press(event.key, event.currentTarget)) return
    event.preventDefault()
    event.stopPropagation()
  }
}

function StopTask({ task, run }: Pick<StateProps, 'task' | 'run'>) {
  const { t } = useTexts()
  const { chatId } = useChat()
  if (!run) return null
  const status = getActiveStatus(getRunStatus({ chatId, runId: run.id, run, streaming: [], runEnd: null }))
  if (!status) return null
  return (
    <span data-stop>
      <StopButton status={status} label={t('board.stopTask', { n: task.number })} isSmall />
    </span>
  )
}

interface StateProps {
  task: BoardTaskRow
  status: TaskStatus
  run: RunRow | null
}

function StateOfTask({ task, status, run }: StateProps) {
  const { t } = useTexts()
  switch (status) {
    case 'done':
      return (
        <>
          <span className="ok">
            <Check className="i s" aria-hidden />
            {t('tool.ok')}
          </span>
          <TimeAndCost task={task} />
        </>
      )
    case 'reused':
      return (
        <>
          <History className="i s" aria-hidden />
          {t('board.isReused')}
          <span className="only-wide">{formatCurrency(0)}</span>
        </>
      )
    case 'failed':
      return (
        <>
          <span className="no">
            <X className="i s" aria-hidden />
            <HowOftenFailed task={task} />
          </span>
          <TimeAndCost task={task} />
        </>
      )
    case 'waitsForPerson':
      return <WaitsForPerson run={run} />
    case 'working':
      return <Working task={task} run={run} />
    case 'waiting':
      return <Waiting task={task} />
    case 'stopped':
      return (
        <>
          <Square className="i s" aria-hidden />
          {t('tool.stopped')}
          <TimeAndCost task={task} />
        </>
      )
    case 'skipped':
      return (
        <>
          <CircleSlash className="i s" aria-hidden />
          {t(task.reason_code === 'not_taken' ? 'board.skippedNotTaken' : 'board.skippedJoin')}
        </>
      )
    case 'notStarted':
      return (
        <>
          <CircleSlash className="i s" aria-hidden />
          {t('board.isNotStarted')}
        </>
      )
  }
}

function HowOftenFailed({ task }: { task: BoardTaskRow }) {
  const { t } = useTexts()
  const count = listTries(task).length
  if (count < 2) return t('tool.error')
  return count === 2 ? t('board.failedTwice') : t('board.failedTimes', { n: count })
}

/** How long a task that has ended took, and what it has cost. */
function TimeAndCost({ task }: { task: BoardTaskRow }) {
  const { t } = useTexts()
  const seconds = listTries(task).reduce((sum, each) => sum + each.execution_time, 0)
  const facts = [
    seconds > 0 ? t('secondsShort', { n: formatSeconds(seconds) }) : '',
    task.cost_micro > 0 ? formatCurrency(task.cost_micro) : '',
  ].filter(Boolean)
  return <span className="only-wide">{facts.join(' · ')}</span>
}

function WaitsForPerson({ run }: { run: RunRow | null }) {
  const { t } = useTexts()
  const { me, findActor } = useChat()
  const { board } = useBoardContext()
  const name = findActor(board.on_behalf_of)?.name
  return (
    <>
      <ShieldQuestion className="i s" aria-hidden />
      <span className={styles.strong}>
        {board.on_behalf_of === me
          ? t('subAgents.waitsForYou')
          : name
            ? t('subAgents.waitsFor', { name })
            : t('approval.waits')}
      </span>
      {run ? (
        <span className="only-wide">
          <Duration from={run.started_at ?? run.created_at} until={null} />
        </span>
      ) : null}
    </>
  )
}

function Working({ task, run }: Omit<StateProps, 'status'>) {
  const { t } = useTexts()
  const { board } = useBoardContext()
  if (!run || run.state === 'queued')
    return (
      <>
        <Clock className="i s" aria-hidden />
        {t('queued')}
      </>
    )
  return (
    <>
      {run.state === 'waiting_child' ? <Clock className="i s" aria-hidden /> : <Spinner />}
      <span>
        {board.pause_reason
          ? t('board.endsItsRun')
          : run.max_steps
            ? t('subAgents.step', { n: getStep(run), max: run.max_steps })
            : t('working')}
        <span className="only-wide">
          {task.attempt > 1 ? ` · ${t('board.try', { n: task.attempt })}` : ''}
          {' · '}
          <Duration from={run.started_at ?? run.created_at} until={null} />
        </span>
      </span>
    </>
  )
}

function Waiting({ task }: { task: BoardTaskRow }) {
  const { t } = useTexts()
  const { board, tasks } = useBoardContext()
  const open = tasks.filter(other => task.after.includes(other.number) && !other.ended_at).map(other => other.number)
  const [Icon, text] =
    task.state === 'pending' && open.length > 0
      ? [CircleDashed, t('board.after', { numbers: open.join(', ') })]
      : board.pause_reason
        ? [CirclePause, t('board.startsWhenContinued')]
        : board.state === 'executing'
          ? [Clock, t('board.waitsForTurn')]
          : [CircleDashed, t('board.planned')]
  return (
    <>
      <Icon className="i s" aria-hidden />
      {text}
    </>
  )
}

/** The parameters of a task, and what it follows. */
function Facts({ task }: { task: BoardTaskRow }) {
  const { t } = useTexts()
  const parameters = Object.entries(task.parameters)
  if (parameters.length === 0 && task.after.length === 0) return null
  return (
    <div className={styles.facts}>
      {parameters.map(([name, value]) => (
        <span key={name} className={styles.parameter}>
          <i>{name}</i> {formatParameter(value)}
        </span>
      ))}
      {task.after.length > 0 ? (
        <span className={styles.after}>
          <CornerDownRight className="i s" aria-hidden />
          {t('board.after', { numbers: task.after.join(', ') })}
        </span>
      ) : null}
    </div>
  )
}

/** The description of a task, with what a person has removed and added. */
function ChangedDescription({ before, after }: { before: string; after: string }) {
  return (
    <p className={styles.changed} lang={detectLanguage(after)}>
      {compareDescriptions(before, after).map(({ kind, text }, index) => {
        const Part = { same: 'span', removed: 'del', added: 'ins' }[kind] as 'span' | 'del' | 'ins'
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other identity
        return <Part key={index}>{text}</Part>
      })}
    </p>
  )
}

interface TaskBodyProps extends StateProps {
  subAgent: SubAgent | null
  above: string
}

/** From this length on, the line of a task may not have room for its description. */
const LONG = 60

function TaskBody({ task, status, subAgent, run, above }: TaskBodyProps) {
  const result = getResult(task)
  const isDescriptionCut = result !== null || task.description.length > LONG
  const tries = listTries(task)
  const late = task.results.filter(each => each.is_late)
  return (
    <div className={styles.body}>
      {isDescriptionCut && !task.replaced_description ? (
        <p className={styles.full} lang={detectLanguage(task.description)}>
          {task.description}
        </p>
      ) : null}
      {tries.length > 1 || tries.some(each => !each.success) || late.length > 0 ? (
        <Tries tries={tries} late={late} />
      ) : null}
      {tries.length === 0 && task.reason_code && status === 'failed' ? (
        <p className="no xs">{getRunErrorText(task.reason_code)}</p>
      ) : null}
      {subAgent && !result?.is_reused ? (
        <>
          <Stream
            subAgent={subAgent}
            run={run}
            result={result}
            path={above ? `${above} › ${task.agent_name}` : task.agent_name}
          />
          <ResultFiles result={result} />
        </>
      ) : result ? (
        <StoredResult result={result} />
      ) : null}
      <TaskButtons task={task} status={status} />
    </div>
  )
}

/** The tries of a task with their times, the reasons of failures, and links to their runs. */
function Tries({ tries, late }: { tries: readonly TaskResultRow[]; late: readonly TaskResultRow[] }) {
  const { t } = useTexts()
  return (
    <ul className={styles.tries}>
      {tries.map(each => (
        <Try key={each.attempt} label={t('board.try', { n: each.attempt })} result={each} />
      ))}
      {late.map(each => (
        <Try
          key={`late ${each.attempt} ${each.created_at}`}
          label={t('board.try', { n: each.attempt })}
          result={each}
        />
      ))}
    </ul>
  )
}

function Try({ label, result }: { label: string; result: TaskResultRow }) {
  const { t } = useTexts()
  const { runPath, onGo } = useChat()
  const { success, error, error_code: code, is_late: isLate, run_id: runId } = result
  return (
    <li>
      <span className="faint">{label}</span>
      <span className="num">{formatTime(result.created_at)}</span>
      <span>
        {isLate ? (
          <>
            <ClockAlert className="i s" aria-hidden /> {t('board.late')}
          </>
        ) : success ? (
          t('tool.ok')
        ) : (
          <ErrorText code={code} error={error} />
        )}
      </span>
      {runId ? (
        <PathLink className="link" path={runPath(runId)} onGo={onGo}>
          {t('board.openRun')}
        </PathLink>
      ) : null}
    </li>
  )
}

/** Why a try has failed: in the words of the app and, if it says more, of the server. */
function ErrorText({ code, error }: { code: string | null; error: string | null }) {
  const text = getRunErrorText(code)
  return (
    <>
      {text}
      {error && error !== code && error !== text ? (
        <span className="faint" lang="en">
          {' '}
          {error}
        </span>
      ) : null}
    </>
  )
}

interface StreamProps {
  subAgent: SubAgent
  run: RunRow | null
  result: TaskResultRow | null
  path: string
}

/** What the last run of a task writes: its reasoning, calls, questions and text, and those of its sub-agents. */
function Stream({ subAgent, run, result, path }: StreamProps) {
  const { chatId } = useChat()
  const { runId, rows } = subAgent
  const streaming = useStreamingTexts(chatId, runId)
  const reply = useMemo(() => buildReply(rows, streaming), [rows, streaming])
  const values = result && result.run_id === runId ? readValues(result) : null
  // The last text of the run is the JSON of its values.
  const last = values ? reply.parts.findLast(part => part.kind === 'text') : undefined
  const status = getActiveStatus(getRunStatus({ chatId, runId, run, streaming, runEnd: reply.runEnd }))
  const used = getCost(listTree([subAgent]).flatMap(each => each.rows))
  if (!status && reply.parts.length + subAgent.subAgents.length === 0) return null
  return (
    <div className={styles.stream}>
      <NestedParts
        parts={reply.parts.filter(part => part !== last)}
        isFailedOrStopped={reply.runEnd !== null}
        subAgents={subAgent.subAgents}
        above={path}
      />
      {values ? <ResultValues values={values} /> : null}
      {status && isPending(status) ? <PendingIndicator status={status} /> : null}
      <SubAgentFooter
        subAgent={subAgent}
        stamp={reply.stamp ?? run?.stamp ?? null}
        used={used}
        isActive={status !== null}
        hasDepth={false}
      />
    </div>
  )
}

/** The files that the run of a result has written. */
function ResultFiles({ result }: { result: TaskResultRow | null }) {
  return result && result.files.length > 0 ? <TaskFiles ids={result.files} /> : null
}

/** The values of a result that follows a schema. Those that have parts are shown as JSON. */
export function ResultValues({ values }: { values: readonly [string, unknown][] }) {
  const { t } = useTexts()
  return (
    <table className={styles.values} aria-label={t('board.values')}>
      <tbody>
        {values.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {typeof value === 'string' ? (
              <td lang={detectLanguage(value)}>{value}</td>
            ) : typeof value === 'object' && value !== null ? (
              <td>
                <code>{JSON.stringify(value, null, 1)}</code>
              </td>
            ) : (
              <td className="num">{String(value)}</td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The result of a task whose messages are not loaded. */
function StoredResult({ result }: { result: TaskResultRow }) {
  const { t } = useTexts()
  const { findName, goTo } = useChat()
  const { text, is_cut: isCut, message_id: messageId } = result
  const values = readValues(result)
  return (
    <div className={styles.stream}>
      {values ? <ResultValues values={values} /> : <LazyProse text={isCut ? `${text}…` : text} findName={findName} />}
      {isCut && messageId ? (
        <button type="button" className="link xs" onClick={() => goTo(messageId)}>
          {t('board.wholeResult')}
        </button>
      ) : null}
      <ResultFiles result={result} />
    </div>
  )
}

function TaskButtons({ task, status }: { task: BoardTaskRow; status: TaskStatus }) {
  const { t } = useTexts()
  const { board, tasks, blocked, perform, runAgain } = useBoardContext()
  if (canRetry(board, task, tasks))
    return (
      <div className={styles.buttons}>
        <Button
          size="xs"
          blocked={blocked}
          onClick={() => perform(() => retryBoardTask(board.id, task.number, { description: null, parameters: null }))}
        >
          <RotateCcw className="i s" aria-hidden />
          {t('board.tryAgain')}
        </Button>
        <Button size="xs" blocked={blocked} onClick={() => runAgain(task)}>
          {t('board.changeAndRun')}
        </Button>
        <span className="faint xs only-wide">{t('board.othersGoOn')}</span>
      </div>
    )
  if (canFork(board))
    return (
      <div className={styles.buttons}>
        <Button size="xs" blocked={blocked} onClick={() => runAgain(task)}>
          <RotateCcw className="i s" aria-hidden />
          {t('board.runAgainFromHere')}
        </Button>
      </div>
    )
  if (status !== 'failed') return null
  return <p className="faint xs">{t('board.othersGoOn')}</p>
}
