/** A board in the log: its head, its tasks, and what it needs from people. */
import {
  ChevronDown,
  ChevronRight,
  CircleHelp,
  CircleX,
  GitFork,
  ListTree,
  Pause,
  Play,
  RotateCcw,
  Split,
  Square,
  TriangleAlert,
} from 'lucide-react'
import { type ComponentProps, type ReactNode, Suspense, useId, useMemo, useRef, useState } from 'react'
import { answerBoard, type BoardTaskRow, pauseBoard, resumeBoard, startBoard, stopBoard } from '@/api'
import { cx } from '@/lib/cx'
import { type PlainTextKey, useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { getRunErrorText } from '@/lib/runErrors'
import { formatCurrency, formatTime } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Collapsible } from '@/ui/Collapsible'
import { lazy } from '@/ui/lazy'
import {
  canFork,
  countStatuses,
  getResult,
  getTaskStatus,
  groupTasks,
  listMissing,
  listOpenTasks,
  listTries,
  MANY_TASKS,
  readValues,
  type TaskStatus,
} from '../boards'
import { useBoard, useBoardTasks, useMessageOfBoard, useStreamingTexts, useWaitingSubAgents } from '../hooks'
import { buildReply } from '../reply'
import { useSeenEarlier } from '../seenBoards'
import { listTree, type SubAgent } from '../subAgents'
import type { PlacedBoard } from '../timeline'
import styles from './Board.module.css'
import { BoardProvider } from './BoardProvider'
import { BoardTask, ResultValues } from './BoardTask'
import { useBoardContext } from './boardContext'
import { useChat } from './ChatContext'
import { EqualCalls } from './EqualCalls'
import { LazyProse } from './LazyProse'
import messageStyles from './Message.module.css'
import { FoldingContext, NestedParts, useFolding } from './SubAgents'

const BoardCost = lazy(() => import('./BoardCost').then(module => ({ default: module.BoardCost })))

interface BoardViewProps {
  board: PlacedBoard
  /** The name of its supervisor; empty if it has none. */
  above: string
}

/** A board at its place in the log. Nothing until its rows are loaded. */
export function BoardView({ board: { id, runs }, above }: BoardViewProps) {
  const { t } = useTexts()
  const { chatId } = useChat()
  const board = useBoard(chatId, id)
  const tasks = useBoardTasks(chatId, id)
  const folding = useFolding(runs)
  const statuses = useStatuses(tasks, runs)
  const isSeen = useSeenEarlier(chatId, id, board)
  const bodyId = useId()
  if (!board) return null
  if (board.reason_code === 'plan_invalid') return <InvalidPlan id={id} error={board.error ?? ''} name={above} />
  const foldId = `board ${id}`
  const isOpen = folding.chosen.get(foldId) ?? !isSeen
  return (
    <BoardProvider board={board} tasks={tasks}>
      <FoldingContext value={folding}>
        <section
          className={styles.board}
          data-board={id}
          data-shut={!isOpen || undefined}
          aria-label={t('board.label', { count: board.task_count })}
          aria-busy={!board.ended_at}
        >
          <div className={styles.head}>
            <h3>
              <Fold isOpen={isOpen} controls={bodyId} onFold={() => folding.setOpen([foldId], !isOpen)} />
            </h3>
            <Summary statuses={statuses} />
            <span className={styles.headEnd}>
              <Total />
              {board.ended_at ? null : <HeadButtons />}
            </span>
          </div>
          {isOpen ? (
            <div id={bodyId}>
              {board.supervisor_run_id ? null : (
                <Note icon={CircleHelp} label={t('board.request')} text={board.user_input} />
              )}
              {board.reasoning ? <Note icon={Split} label={t('board.why')} text={board.reasoning} /> : null}
              <TaskList runs={runs} statuses={statuses} above={above} />
              <EqualCalls runs={runs} />
              <BoardNotice statuses={statuses} />
            </div>
          ) : null}
          <Progress statuses={statuses} />
        </section>
      </FoldingContext>
    </BoardProvider>
  )
}

/** One line in place of a plan that was not valid twice. */
function InvalidPlan({ id, error, name }: { id: string; error: string; name: string }) {
  const { t } = useTexts()
  return (
    <div className={styles.invalid} data-board={id}>
      <TriangleAlert className="i s" aria-hidden />
      <Collapsible plain head={<span className="cut">{t('board.planInvalid', { name: name || t('agent') })}</span>}>
        <p className={messageStyles.reasoning} lang="en">
          {error}
        </p>
      </Collapsible>
    </div>
  )
}

function useStatuses(tasks: readonly BoardTaskRow[], runs: readonly SubAgent[]): readonly TaskStatus[] {
  const { chatId } = useChat()
  const waiting = useWaitingSubAgents(chatId)
  return tasks.map(task => {
    const ids = listTree(runs.filter(run => run.metadata.call_id === task.id)).map(run => run.runId)
    const isWaiting = [...ids, task.run_id ?? ''].some(id => waiting.has(id))
    return getTaskStatus(task, isWaiting)
  })
}

function Fold({ isOpen, controls, onFold }: { isOpen: boolean; controls: string; onFold(): void }) {
  const { t } = useTexts()
  const { board } = useBoardContext()
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <button
      type="button"
      className={styles.toggle}
      aria-expanded={isOpen}
      aria-controls={isOpen ? controls : undefined}
      onClick={onFold}
    >
      <ListTree className="i s" aria-hidden />
      <b>
        {board.state !== 'init'
          ? t('board.count', { count: board.task_count })
          : t(board.error ? 'board.planningAgain' : 'board.planning')}
      </b>
      <Chevron className="i s" aria-hidden />
    </button>
  )
}

/** What the board does, and how many tasks are in each state. */
function Summary({ statuses }: { statuses: readonly TaskStatus[] }) {
  const { t } = useTexts()
  const { board } = useBoardContext()
  const formatCount = useFormatCount()
  const state = useStateText()
  const parts = [
    state,
    ...[...countStatuses(statuses)].map(formatCount),
    board.state === 'aggregating' ? t('board.aggregating') : '',
  ].filter(Boolean)
  if (board.state === 'init')
    return (
      <span className={styles.say} lang="en">
        {board.error}
      </span>
    )
  return (
    <span className={styles.say}>
      {parts.join(' · ')}
      {board.forked_from ? (
        <>
          {parts.length > 0 ? ' · ' : ''}
          <ForkedFrom />
        </>
      ) : null}
    </span>
  )
}

function useFormatCount(): (entry: [TaskStatus, number]) => string {
  const { t } = useTexts()
  const { me, findActor } = useChat()
  const { board } = useBoardContext()
  return ([status, count]) => {
    if (status !== 'waitsForPerson') return t(`board.${status}`, { count })
    if (board.on_behalf_of === me) return t('board.waitsForYou', { count })
    return t('board.waitsForPerson', { count, name: findActor(board.on_behalf_of)?.name ?? t('unknownPerson') })
  }
}

/** Returns the state of the board if it is one in which its tasks do not simply go on. */
function useStateText(): string {
  const { t } = useTexts()
  const { findActor } = useChat()
  const { board } = useBoardContext()
  const pauser = findActor(board.paused_by)?.name
  const stopper = findActor(board.stopped_by)?.name
  if (board.pause_reason) return pauser ? t('board.pausedBy', { name: pauser }) : t('board.paused')
  if (board.reason_code === 'stopped') return stopper ? t('board.stoppedBy', { name: stopper }) : t('board.wasStopped')
  if (board.state === 'failed') return t('board.hasFailed')
  return board.state === 'decomposed' ? t('board.notYet') : ''
}

/** Names the board that this one repeats, by the time at which it was made. */
function ForkedFrom() {
  const { t } = useTexts()
  const { chatId, goTo } = useChat()
  const { board } = useBoardContext()
  const source = useBoard(chatId, board.forked_from ?? '')
  const messageId = useMessageOfBoard(chatId, board.forked_from ?? '')
  if (!source || !messageId) return t('board.fromEarlier')
  return (
    <button type="button" className="link" onClick={() => goTo(messageId)}>
      {t('board.fromBoardOf', { time: formatTime(source.created_at) })}
    </button>
  )
}

/** What the board has cost, of its estimate or its limit. A click shows the cost of each task. */
function Total() {
  const { t } = useTexts()
  const { board } = useBoardContext()
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const { cost_micro: cost, estimate_micro: estimate, limit_micro: limit } = board
  if (cost === 0 && estimate === null) return null
  const amount = formatCurrency(cost)
  const text =
    board.pause_reason === 'budget' && limit !== null
      ? t('board.costOfLimit', { amount, limit: formatCurrency(limit) })
      : estimate === null
        ? amount
        : t('board.costOfEstimate', { amount, estimate: formatCurrency(estimate) })
  return (
    <>
      <button
        ref={button}
        type="button"
        className={cx(styles.total, 'num')}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {text}
      </button>
      {isOpen ? (
        <Suspense fallback={null}>
          <BoardCost anchor={button} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  )
}

function HeadButtons() {
  const { t } = useTexts()
  const { board, blocked, perform } = useBoardContext()
  const { id, state, pause_reason: pause } = board
  return (
    <>
      {state === 'decomposed' && !pause ? (
        <HeadButton label={t('board.startBoard')} blocked={blocked} onClick={() => perform(() => startBoard(id))}>
          <Play className="i s" aria-hidden />
          <span className="only-wide">{t('board.start')}</span>
        </HeadButton>
      ) : null}
      {state === 'executing' && !pause ? (
        <HeadButton label={t('board.pauseBoard')} blocked={blocked} onClick={() => perform(() => pauseBoard(id))}>
          <Pause className="i s" aria-hidden />
          <span className="only-wide">{t('board.pause')}</span>
        </HeadButton>
      ) : null}
      {pause === 'person' ? (
        <HeadButton label={t('board.continueBoard')} blocked={blocked} onClick={() => perform(() => resumeBoard(id))}>
          <Play className="i s" aria-hidden />
          <span className="only-wide">{t('board.continue')}</span>
        </HeadButton>
      ) : null}
      <HeadButton label={t('board.stopBoard')} blocked={blocked} onClick={() => perform(() => stopBoard(id))}>
        <Square className="i s" aria-hidden />
        <span className="only-wide">{t('stop')}</span>
      </HeadButton>
    </>
  )
}

/** A button whose text is left out on a small screen. */
function HeadButton({ label, ...rest }: ComponentProps<typeof Button> & { label: string }) {
  return <Button size="xs" aria-label={label} {...rest} />
}

interface NoteProps {
  icon: typeof Split
  label: string
  text: string
}

/** What the board is for, or why it was divided like this: two lines, until the reader unfolds it. */
function Note({ icon: Icon, label, text }: NoteProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={styles.note}>
      <Icon className="i s" aria-hidden />
      <button type="button" data-cut={!isOpen || undefined} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <b>{label}</b> {text}
      </button>
    </div>
  )
}

interface TaskListProps {
  runs: readonly SubAgent[]
  statuses: readonly TaskStatus[]
  above: string
}

function TaskList({ runs, statuses, above }: TaskListProps) {
  const { t } = useTexts()
  const { board, tasks } = useBoardContext()
  const formatCount = useFormatCount()
  const [isDoneOpen, setDoneOpen] = useState(false)
  const [isFurtherOpen, setFurtherOpen] = useState(false)
  const open = listOpenTasks(board, tasks, statuses)
  const { done, shown, further } = groupTasks(tasks, statuses)
  const statusOf = (task: BoardTaskRow) => statuses[tasks.indexOf(task)] ?? 'waiting'
  const renderTask = (task: BoardTaskRow) => (
    <BoardTask
      key={task.id}
      task={task}
      subAgent={runs.find(run => run.runId === task.run_id) ?? null}
      status={statusOf(task)}
      isOpenByDefault={open.has(task.number)}
      isShort={tasks.length >= MANY_TASKS || board.ended_at !== null}
      above={above}
    />
  )
  return (
    <>
      {done.length > 0 ? (
        <GroupLine
          text={t('board.done', { count: done.length })}
          state={formatCurrency(done.reduce((sum, task) => sum + task.cost_micro, 0))}
          isOpen={isDoneOpen}
          onFold={() => setDoneOpen(!isDoneOpen)}
        />
      ) : null}
      {/* A list without marks is no list to Safari, unless it says so. */}
      {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
      <ol className={styles.tasks} role="list">
        {isDoneOpen ? done.map(renderTask) : null}
        {shown.map(renderTask)}
        {isFurtherOpen ? further.map(renderTask) : null}
      </ol>
      {further.length > 0 ? (
        <GroupLine
          text={t('board.more', {
            n: further.length,
            counts: [...countStatuses(further.map(statusOf))].map(formatCount).join(', '),
          })}
          state={t('board.atOnce', { n: board.max_at_once })}
          isOpen={isFurtherOpen}
          onFold={() => setFurtherOpen(!isFurtherOpen)}
        />
      ) : null}
    </>
  )
}

interface GroupLineProps {
  text: string
  state: string
  isOpen: boolean
  onFold(): void
}

/** One line for many tasks, which shows or hides them. */
function GroupLine({ text, state, isOpen, onFold }: GroupLineProps) {
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <div className={styles.group}>
      <button type="button" aria-expanded={isOpen} onClick={onFold}>
        <Chevron className="i s" aria-hidden />
        {text}
      </button>
      <span className="num">{state}</span>
    </div>
  )
}

/** What people are to decide about a board, or why it has failed. */
function BoardNotice({ statuses }: { statuses: readonly TaskStatus[] }) {
  const { board } = useBoardContext()
  if (board.pause_reason === 'budget') return <BudgetNotice left={statuses.filter(each => each === 'waiting').length} />
  if (board.pause_reason === 'estimate') return <EstimateNotice />
  if (board.reason_code === 'stopped') return <StoppedNotice statuses={statuses} />
  return board.state === 'failed' ? <FailedNotice /> : null
}

interface NoticeProps {
  title: string
  text: string
  /** Whether nothing went wrong. */
  isPlain?: boolean
  children: ReactNode
}

function Notice({ title, text, isPlain = false, children }: NoticeProps) {
  const Icon = isPlain ? Play : CircleX
  return (
    <div className={styles.notice} data-plain={isPlain || undefined} role="status">
      <Icon className="i s" aria-hidden />
      <div>
        <b>{title}</b>
        {text ? <p>{text}</p> : null}
        <span className={styles.buttons}>{children}</span>
      </div>
    </div>
  )
}

/** `left`: the number of tasks that have not started. */
function BudgetNotice({ left }: { left: number }) {
  const { t } = useTexts()
  const { board, blocked, blockedLimit, perform } = useBoardContext()
  const { id, limit_micro: limit, cost_micro: cost } = board
  const isOwnLimit = limit !== null && cost >= limit
  // Half of the limit beyond what was used, so that the board does not pause again at once.
  const raised = isOwnLimit ? cost + Math.max(1, Math.ceil(limit / 2)) : 0
  return (
    <Notice
      title={isOwnLimit ? t('board.limitUsed', { limit: formatCurrency(limit) }) : t('board.budgetUsed')}
      text={left > 0 ? t('board.leftWhenPaused', { count: left }) : ''}
    >
      {isOwnLimit ? (
        <Button size="xs" blocked={blockedLimit} onClick={() => perform(() => resumeBoard(id, raised))}>
          <Play className="i s" aria-hidden />
          {t('board.allowMore', { amount: formatCurrency(raised - limit) })}
        </Button>
      ) : (
        <Button size="xs" blocked={blocked} onClick={() => perform(() => resumeBoard(id))}>
          <Play className="i s" aria-hidden />
          {t('board.continue')}
        </Button>
      )}
      <Button size="xs" blocked={blocked} onClick={() => perform(() => answerBoard(id))}>
        {t('board.answerNow')}
      </Button>
    </Notice>
  )
}

function EstimateNotice() {
  const { t } = useTexts()
  const { board, blocked, perform } = useBoardContext()
  const { estimate_micro: estimate } = board
  const text = estimate === null ? t('board.costUnknown') : t('board.willCost', { amount: formatCurrency(estimate) })
  return (
    <Notice isPlain title={t('board.asksBefore')} text={text}>
      <Button size="xs" tone="ink" blocked={blocked} onClick={() => perform(() => startBoard(board.id))}>
        <Play className="i s" aria-hidden />
        {t('board.start')}
      </Button>
    </Notice>
  )
}

function StoppedNotice({ statuses }: { statuses: readonly TaskStatus[] }) {
  const { t } = useTexts()
  const { board, tasks } = useBoardContext()
  const first = tasks.find(task => task.state !== 'succeeded')
  const kept = statuses.filter(status => status === 'done' || status === 'reused').length
  if (!first || !canFork(board)) return null
  return (
    <div className={styles.foot}>
      <GitFork className="i s" aria-hidden />
      <span>{t('board.kept', { count: kept })}</span>
      <RunAgainButton task={first} />
    </div>
  )
}

const failures = {
  no_results: 'board.failedNoResults',
  task_failed: 'board.failedTask',
  answer_failed: 'board.failedAnswer',
} as const

function FailedNotice() {
  const { t } = useTexts()
  const { board, tasks } = useBoardContext()
  const { reason_code: code } = board
  if (!code || !(code in failures)) return null
  const first = tasks.find(task => task.state === 'failed') ?? tasks[0]
  const error = first ? listTries(first).at(-1)?.error_code : null
  return (
    <Notice title={t(failures[code as keyof typeof failures])} text={error ? getRunErrorText(error) : ''}>
      {first && canFork(board) ? <RunAgainButton task={first} /> : null}
    </Notice>
  )
}

/** Opens the form that does a task again, with those that follow it. */
function RunAgainButton({ task }: { task: BoardTaskRow }) {
  const { t } = useTexts()
  const { blocked, runAgain } = useBoardContext()
  return (
    <Button size="xs" blocked={blocked} onClick={() => runAgain(task)}>
      <RotateCcw className="i s" aria-hidden />
      {t('board.runAgain', { n: task.number })}
    </Button>
  )
}

/** How a task has ended, in a word. */
const words: Partial<Record<TaskStatus, PlainTextKey>> = {
  done: 'tool.ok',
  reused: 'board.isReused',
  failed: 'tool.error',
  stopped: 'tool.stopped',
  skipped: 'board.isSkipped',
  notStarted: 'board.isNotStarted',
}

/** Says to a screen reader which task has ended last, since the board is shown, and which wait for the reader. */
function Progress({ statuses }: { statuses: readonly TaskStatus[] }) {
  const { t } = useTexts()
  const { board, tasks } = useBoardContext()
  const { me } = useChat()
  const [openedAt] = useState(Date.now)
  const ended = tasks.filter(task => task.ended_at !== null)
  const last = [...ended].sort((a, b) => (a.ended_at ?? '').localeCompare(b.ended_at ?? '')).at(-1)
  const isNew = last?.ended_at && Date.parse(last.ended_at) > openedAt
  const waiting = board.on_behalf_of === me ? tasks.filter((_, index) => statuses[index] === 'waitsForPerson') : []
  const word = last ? words[statuses[tasks.indexOf(last)] ?? 'waiting'] : undefined
  return (
    <>
      <span className="sr" role="alert">
        {waiting.map(task => t('board.taskWaits', { n: task.number, name: task.agent_name })).join(' ')}
      </span>
      <span className="sr" role="status">
        {last && isNew && word
          ? t('board.ended', {
              n: last.number,
              name: last.agent_name,
              state: t(word),
              ended: ended.length,
              count: board.task_count,
            })
          : ''}
      </span>
    </>
  )
}

/** The arguments of the call that makes a plan, while they are written: how many tasks they have so far. */
export function WrittenPlan({ args }: { args: string }) {
  const { t } = useTexts()
  const count = args.match(/"description"\s*:/g)?.length ?? 0
  return (
    <div className={styles.board} data-shut>
      <div className={styles.head}>
        <span className={styles.toggle}>
          <ListTree className="i s" aria-hidden />
          <b>{t('board.planning')}</b>
        </span>
        <span className={styles.say}>{count > 0 ? t('board.tasksSoFar', { count }) : ''}</span>
      </div>
    </div>
  )
}

/** What an answer lacks, from the rows of the board: which tasks brought nothing, and why. */
export function MissingResults({ boardId }: { boardId: string }) {
  const { t } = useTexts()
  const { chatId } = useChat()
  const board = useBoard(chatId, boardId)
  const tasks = useBoardTasks(chatId, boardId)
  const missing = board ? listMissing(board, tasks) : []
  if (!board || missing.length === 0) return null
  return (
    <BoardProvider board={board} tasks={tasks}>
      <ul className={styles.missing} aria-label={t('board.missingLabel')}>
        {missing.map(task => (
          <li key={task.id}>
            <TriangleAlert className="i s" aria-hidden />
            <span>
              <b>{t('board.missing', { n: task.number, name: task.agent_name })}</b> <MissingReason task={task} />
            </span>
            {canFork(board) ? <RunAgainButton task={task} /> : null}
          </li>
        ))}
      </ul>
    </BoardProvider>
  )
}

function MissingReason({ task }: { task: BoardTaskRow }) {
  const { t } = useTexts()
  const error = listTries(task).at(-1)?.error_code ?? task.reason_code
  if (task.state === 'skipped') return t('board.skippedJoin')
  if (task.state === 'cancelled') return t('board.wasNotAwaited')
  if (error === 'stopped') return t('board.itWasStopped')
  return getRunErrorText(error ?? null)
}

/** When the reply of a supervisor goes on. */
export function AnswersWhen({ boardId }: { boardId: string }) {
  const { t } = useTexts()
  const { chatId } = useChat()
  const left = useBoardTasks(chatId, boardId).filter(task => !task.ended_at)
  const numbers = left.map(task => task.number)
  if (numbers.length === 0) return null
  return <span>{t('board.answersWhen', { numbers: formatList(numbers.map(String)), count: numbers.length })}</span>
}

/** The boards of a message, each with its answer if that is no message of its own. */
export function BoardsOfMessage({ boards }: { boards: readonly PlacedBoard[] }) {
  return (
    <div className={styles.ofMessage}>
      {boards.map(board => (
        <div key={board.id}>
          <BoardView board={board} above="" />
          <Answer board={board} />
          <MissingResults boardId={board.id} />
        </div>
      ))}
    </div>
  )
}

/** The result of the only task of a board, or the answer of an agent that is not in the chat. */
function Answer({ board: { id, runs } }: { board: PlacedBoard }) {
  const { chatId, findName } = useChat()
  const board = useBoard(chatId, id)
  const done = useBoardTasks(chatId, id).find(task => task.state === 'succeeded')
  const run = runs.findLast(each => each.metadata.call_id === id)
  if (run) return <NestedAnswer run={run} />
  if (!board?.final_response || board.answer_run_id) return null
  const result = done ? getResult(done) : null
  const values = result ? readValues({ ...result, text: board.final_response }) : null
  if (values) return <ResultValues values={values} />
  return <LazyProse text={board.final_response} findName={findName} growing={false} />
}

function NestedAnswer({ run }: { run: SubAgent }) {
  const { chatId } = useChat()
  const streaming = useStreamingTexts(chatId, run.runId)
  const { parts, runEnd } = useMemo(() => buildReply(run.rows, streaming), [run.rows, streaming])
  const folding = useFolding(run.subAgents)
  const name = run.metadata.agent.displayName
  return (
    <FoldingContext value={folding}>
      <p className={styles.author}>
        <b>{name}</b>
      </p>
      <NestedParts parts={parts} isFailedOrStopped={runEnd !== null} subAgents={run.subAgents} above={name} />
    </FoldingContext>
  )
}

/** A board whose message or call is on a page that is not loaded yet. */
export function LoneBoards({ boards, at }: { boards: readonly PlacedBoard[]; at: string }) {
  const { t } = useTexts()
  return (
    <article
      className={messageStyles.msg}
      data-message={boards[0]?.id}
      tabIndex={-1}
      aria-label={`${t('board.board')}, ${formatTime(at)}`}
    >
      <span />
      <div className={messageStyles.c}>
        <p className="faint xs">{t('board.above')}</p>
        {boards.map(board => (
          <BoardView key={board.id} board={board} above="" />
        ))}
      </div>
    </article>
  )
}
