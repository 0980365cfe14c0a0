/** What sub-agents do, as foldable blocks in the reply of the agent that gave them their tasks. */
import {
  Check,
  ChevronDown,
  ChevronRight,
  CircleStop,
  Clock,
  FileText,
  ListChevronsDownUp,
  ListChevronsUpDown,
  ShieldQuestion,
  Workflow,
  X,
} from 'lucide-react'
import {
  createContext,
  type KeyboardEvent,
  memo,
  type ReactNode,
  Suspense,
  useCallback,
  useContext,
  useMemo,
  useRef,
  useState,
} from 'react'
import { contentUrlOf, type MessageRow, type RunRow, type Stamp, type SubAgentResult, useFilesById } from '@/api'
import { cx } from '@/lib/cx'
import { getTimeOfId } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { getRunErrorText } from '@/lib/runErrors'
import { formatCurrency, formatNumber, formatSeconds, formatTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import { Collapsible } from '@/ui/Collapsible'
import { lazy } from '@/ui/lazy'
import { Skeleton } from '@/ui/Skeleton'
import { Spinner } from '@/ui/Spinner'
import { getCost, type RunCost } from '../cost'
import { useActiveSubAgents, useRun, useStreamingTexts, useWaitingSubAgents } from '../hooks'
import { buildReply, type Part, type ReplyParts, type RunEnd } from '../reply'
import { type ActiveStatus, getActiveStatus, getRunStatus, isPending } from '../runStatus'
import { findResults, getEnd, listTree, readTask, type SubAgent, type SubAgentEnd, type Task } from '../subAgents'
import { noBoards, type PlacedBoard } from '../timeline'
import { useChat } from './ChatContext'
import { Cost } from './Cost'
import { FoldingChoices } from './foldingChoices'
import messageStyles from './Message.module.css'
import { Details, Duration, PartView, PendingIndicator, StopButton } from './ReplyParts'
import { FailureReason } from './RunOutcome'
import styles from './SubAgents.module.css'
import { ModelName, VersionBadge } from './VersionBadge'

const BoardView = lazy(() => import('./Board').then(module => ({ default: module.BoardView })))
const MissingResults = lazy(() => import('./Board').then(module => ({ default: module.MissingResults })))
const CostTree = lazy(() => import('./CostTree').then(module => ({ default: module.CostTree })))

/** Which sub-agents of a reply the reader has folded or unfolded, by the ids of their runs. The others are open while they work. */
interface Folding {
  chosen: ReadonlyMap<string, boolean>
  setOpen(runIds: readonly string[], isOpen: boolean): void
  /** Folds or unfolds all of the reply. */
  setAllOpen(isOpen: boolean): void
}

export const FoldingContext = createContext<Folding>({
  chosen: new Map(),
  setOpen: () => undefined,
  setAllOpen: () => undefined,
})

/** `subAgents`: those that are folded and unfolded together. Other ids may be folded by the same choices. */
export function useFolding(subAgents: readonly SubAgent[]): Folding {
  const choices = useContext(FoldingChoices)
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(() => new Map(choices))
  const setOpen = useCallback(
    (runIds: readonly string[], isOpen: boolean) => {
      for (const id of runIds) choices.set(id, isOpen)
      setChosen(new Map(choices))
    },
    [choices],
  )
  const setAllOpen = useCallback(
    (isOpen: boolean) =>
      setOpen(
        listTree(subAgents).map(({ runId }) => runId),
        isOpen,
      ),
    [subAgents, setOpen],
  )
  return useMemo(() => ({ chosen, setOpen, setAllOpen }), [chosen, setOpen, setAllOpen])
}

interface ReplyWithSubAgentsProps {
  parts: readonly Part[]
  isFailedOrStopped: boolean
  subAgents: readonly SubAgent[]
  boards: readonly PlacedBoard[]
  /** The rows of the reply, with the results of its sub-agents. */
  rows: readonly MessageRow[]
  name: string
}

/** The parts of a reply, with the sub-agents below the calls that gave them their tasks, and the boards in place of their calls. */
export function ReplyWithSubAgents(props: ReplyWithSubAgentsProps) {
  const { parts, isFailedOrStopped, subAgents, boards, rows, name } = props
  const folding = useFolding(subAgents)
  return (
    <FoldingContext value={folding}>
      <NestedParts
        parts={parts}
        isFailedOrStopped={isFailedOrStopped}
        subAgents={subAgents}
        boards={boards}
        above={name}
        head={<TreeLine subAgents={subAgents} rows={rows} />}
      />
      {boards.map(board => (
        <Suspense key={board.id} fallback={null}>
          <MissingResults boardId={board.id} />
        </Suspense>
      ))}
    </FoldingContext>
  )
}

interface NestedPartsProps {
  parts: readonly Part[]
  isFailedOrStopped: boolean
  subAgents: readonly SubAgent[]
  boards?: readonly PlacedBoard[]
  /** The names of the agents above the sub-agents, joined by `›`. */
  above: string
  /** The task of the agent that wrote the parts; null if it is not a sub-agent, or if its task is unknown. */
  task?: Task | null
  /** What is shown above the first sub-agent. */
  head?: ReactNode
}

export function NestedParts(props: NestedPartsProps) {
  const { parts, isFailedOrStopped, subAgents, boards = noBoards, above, task = null, head } = props
  const findBoard = (part: Part) => boards.find(each => part.kind === 'tool' && each.callId === part.callId)
  const placedBoards = new Set(parts.map(findBoard))
  const byCall = new Map(subAgents.map(subAgent => [subAgent.metadata.call_id, subAgent]))
  const findSubAgent = (part: Part) => (part.kind === 'tool' ? byCall.get(part.callId) : undefined)
  const placed = new Set(parts.map(findSubAgent))
  const unplaced = subAgents.filter(subAgent => !placed.has(subAgent))
  const firstPart = unplaced.length > 0 ? null : parts.find(findSubAgent)
  return (
    <>
      {boards.map(board =>
        placedBoards.has(board) ? null : <BoardOfReply key={board.id} board={board} above={above} />,
      )}
      {unplaced.length > 0 ? head : null}
      {unplaced.map(subAgent => (
        <SubAgentBlock key={subAgent.runId} subAgent={subAgent} above={above} />
      ))}
      {parts.map(part => {
        const board = findBoard(part)
        if (board) return <BoardOfReply key={part.key} board={board} above={above} />
        const subAgent = findSubAgent(part)
        if (part.kind !== 'tool' || !subAgent)
          return <PartView key={part.key} part={part} isFailedOrStopped={isFailedOrStopped} />
        const data = part.response?.data
        return (
          <div key={part.key}>
            {part === firstPart ? head : null}
            <SubAgentBlock
              subAgent={subAgent}
              above={above}
              taskAbove={task}
              args={part.decision?.arguments ?? part.args}
              result={data?.kind === 'sub_agent' ? data : null}
            />
          </div>
        )
      })}
    </>
  )
}

function BoardOfReply({ board, above }: { board: PlacedBoard; above: string }) {
  const { t } = useTexts()
  return (
    <Suspense fallback={<Skeleton lines={3} label={t('loading')} />}>
      <BoardView board={board} above={above} />
    </Suspense>
  )
}

interface SubAgentBlockProps {
  subAgent: SubAgent
  above: string
  /** The task of its caller; null if its caller is not a sub-agent, or if that task is unknown. */
  taskAbove?: Task | null
  /** The arguments of the call that gave it its task. */
  args?: string
  /** The result of the call; null until its caller has got it. */
  result?: SubAgentResult | null
}

/** From this depth on, the blocks of sub-agents are not indented further. */
const DEEP = 4

/** The block of one sub-agent: its head, and its parts while it works or when it is unfolded. */
const SubAgentBlock = memo(function SubAgentBlock({
  subAgent,
  above,
  taskAbove = null,
  args = '',
  result = null,
}: SubAgentBlockProps) {
  const { t } = useTexts()
  const { chatId } = useChat()
  const { chosen } = useContext(FoldingContext)
  const { runId, rows, metadata } = subAgent
  const run = useRun(chatId, runId)
  const streaming = useStreamingTexts(chatId, runId)
  const reply = useMemo(() => buildReply(rows, streaming), [rows, streaming])
  const status = getActiveStatus(getRunStatus({ chatId, runId, run, streaming, runEnd: reply.runEnd }))
  const end = status ? null : getEnd(subAgent, result)
  const { displayName: name, depth } = metadata.agent
  const path = `${above} › ${name}`
  const isOpen = chosen.get(runId) ?? status !== null
  const task = useMemo(() => readTask(args), [args])
  const summary = end?.state === 'failed' ? getRunErrorText(end.code) : end?.summary || task?.text
  const used = getCost(rows, result)
  return (
    <section
      className={styles.sub}
      data-sub-agent={runId}
      data-deep={depth >= DEEP || undefined}
      data-folded={!isOpen || undefined}
      aria-label={`${path}, ${t('subAgents.depth', { n: depth })}`}
      aria-busy={status !== null}
    >
      <div className={styles.h}>
        <BlockToggle subAgent={subAgent} isOpen={isOpen}>
          {isOpen ? (
            <span className={cx(styles.path, 'cut')}>
              {path} · {t('subAgents.depth', { n: depth })}
            </span>
          ) : (
            <span className={cx(styles.summary, 'cut')}>{summary}</span>
          )}
        </BlockToggle>
        <span className={cx(styles.state, 'num')}>
          {status ? <Progress status={status} /> : null}
          {end ? <Ending end={end} cost={used.cost} /> : null}
        </span>
        {status ? <StopButton status={status} label={t('subAgents.stopNamed', { name })} isSmall /> : null}
      </div>
      {isOpen ? (
        <SubAgentBody
          subAgent={subAgent}
          path={path}
          task={task}
          taskAbove={taskAbove}
          reply={reply}
          status={status}
          end={end}
          stamp={reply.stamp ?? run?.stamp ?? null}
          used={used}
        />
      ) : (
        <p className={styles.folded}>{summary}</p>
      )}
    </section>
  )
})

interface SubAgentBodyProps {
  subAgent: SubAgent
  path: string
  task: Task | null
  taskAbove: Task | null
  reply: ReplyParts
  /** Null once it has ended. */
  status: ActiveStatus | null
  end: SubAgentEnd | null
  stamp: Stamp | null
  used: RunCost
}

function SubAgentBody({ subAgent, path, task, taskAbove, reply, status, end, stamp, used }: SubAgentBodyProps) {
  const { parts, runEnd } = reply
  const { metadata } = subAgent
  return (
    <div className={styles.c}>
      {task ? <TaskView task={task} taskAbove={taskAbove} /> : null}
      <NestedParts
        parts={parts}
        isFailedOrStopped={runEnd !== null}
        subAgents={subAgent.subAgents}
        above={path}
        task={task}
      />
      {status && isPending(status) ? <PendingIndicator status={status} /> : null}
      {end?.state === 'failed' ? <Failure end={end} runEnd={runEnd} caller={metadata.agent.path.at(-2) ?? ''} /> : null}
      <SubAgentFooter subAgent={subAgent} stamp={stamp} used={used} isActive={status !== null} />
    </div>
  )
}

/** What a sub-agent was given: the task, the facts that go along, and the files. */
function TaskView({ task, taskAbove }: { task: Task; taskAbove: Task | null }) {
  const { t } = useTexts()
  const { text, context, fileIds } = task
  // A sub-agent passes on no other files than those that it was given itself.
  const passed = taskAbove ? fileIds.filter(id => taskAbove.fileIds.includes(id)) : fileIds
  return (
    <>
      <Collapsible plain head={<span className="cut">{t('subAgents.task', { text })}</span>}>
        <p className={messageStyles.reasoning}>{text}</p>
      </Collapsible>
      {context ? (
        <Collapsible plain head={<span className="cut">{t('subAgents.context', { text: context })}</span>}>
          <p className={messageStyles.reasoning}>{context}</p>
        </Collapsible>
      ) : null}
      {passed.length > 0 ? <TaskFiles ids={passed} /> : null}
    </>
  )
}

/** The files that a sub-agent may read. Those that are not in the chat were not given to it, although its caller has named them. */
export function TaskFiles({ ids }: { ids: readonly string[] }) {
  const { t } = useTexts()
  const { chatId } = useChat()
  const findFile = useFilesById(ids)
  const files = ids.flatMap<{ id: string; name: string | undefined }>(id => {
    const file = findFile(id)
    if (file === undefined) return [] // not read yet
    if (file === null) return [{ id, name: undefined }] // deleted, or hidden from the reader
    return file.chat_id !== chatId || !file.posted ? [] : [{ id, name: file.name }]
  })
  if (files.length === 0) return null
  return (
    <ul className={styles.files} aria-label={t('subAgents.files')}>
      {files.map(({ id, name }) => (
        <li key={id}>
          <FileText className="i s" aria-hidden />
          {name === undefined ? (
            <span className="faint">{t('subAgents.hiddenFile')}</span>
          ) : (
            <a className="link cut" href={contentUrlOf(id)} download={name} title={name}>
              {name}
            </a>
          )}
        </li>
      ))}
    </ul>
  )
}

/** The button at the head of a block, which folds or unfolds it. So do ← and →; with Shift, for all of the reply. */
function BlockToggle({ subAgent, isOpen, children }: { subAgent: SubAgent; isOpen: boolean; children: ReactNode }) {
  const { findActor } = useChat()
  const { setOpen, setAllOpen } = useContext(FoldingContext)
  const { runId, agentId, metadata } = subAgent
  const { name: handle, displayName: name } = metadata.agent
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
    event.preventDefault()
    if (event.shiftKey) setAllOpen(event.key === 'ArrowRight')
    else setOpen([runId], event.key === 'ArrowRight')
  }
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <button
      type="button"
      className={styles.toggle}
      aria-expanded={isOpen}
      onClick={() => setOpen([runId], !isOpen)}
      onKeyDown={onKeyDown}
    >
      <Avatar id={agentId ?? handle} name={name} avatar={metadata.avatar ?? findActor(agentId)?.avatar} square />
      <b>{name}</b>
      {children}
      <Chevron className="i s" aria-hidden />
    </button>
  )
}

/** Why a sub-agent failed, and how its task is repeated: it has no retry of its own. */
function Failure({ end, runEnd, caller }: { end: SubAgentEnd; runEnd: RunEnd | null; caller: string }) {
  const { t } = useTexts()
  return (
    <>
      <p className={cx(styles.failed, 'no')}>
        <FailureReason code={end.code} payerName={runEnd?.payerName ?? ''} />
      </p>
      {caller ? <p className="faint xs">{t('subAgents.retryCaller', { name: caller })}</p> : null}
      {runEnd?.note ? <Details note={runEnd.note} /> : null}
    </>
  )
}

/** What an active sub-agent does, and since when. */
function Progress({ status: { status, run } }: { status: ActiveStatus }) {
  const { t } = useTexts()
  const { me, findActor } = useChat()
  const name = findActor(run.on_behalf_of)?.name
  const person = name ? t('subAgents.waitsFor', { name }) : t('approval.waits')
  switch (status) {
    case 'queued':
      return (
        <>
          <Clock className="i s" aria-hidden />
          {t('queued')}
        </>
      )
    case 'awaiting_approval':
      return (
        <>
          <ShieldQuestion className="i s" aria-hidden />
          <span className="cut">{run.on_behalf_of === me ? t('subAgents.waitsForYou') : person}</span>
        </>
      )
    default:
      return (
        <>
          {status === 'awaiting_child' ? <Clock className="i s" aria-hidden /> : <Spinner />}
          {status === 'awaiting_child' ? <span className={styles.wide}>{t('subAgents.waits')} ·</span> : null}
          <span>
            {run.max_steps ? t('subAgents.step', { n: getStep(run), max: run.max_steps }) : t('working')}
            <span className={styles.wide}>
              {' · '}
              <Duration from={run.started_at ?? run.created_at} until={null} />
            </span>
          </span>
        </>
      )
  }
}

/** Returns the number of the step that a run is in. It waits for sub-agents after a step, and works on the next one otherwise. */
export const getStep = ({ steps, max_steps: max, state }: RunRow) =>
  Math.max(1, Math.min(state === 'waiting_child' ? steps : steps + 1, max ?? steps + 1))

/** How a sub-agent ended, after how long, and what it has cost. */
function Ending({ end, cost }: { end: SubAgentEnd; cost: number | null }) {
  const { t } = useTexts()
  const { findActor } = useChat()
  const by = findActor(end.by)?.name
  const facts = [
    end.seconds > 0 ? t('secondsShort', { n: formatSeconds(end.seconds) }) : '',
    cost ? formatCurrency(cost) : '',
  ].filter(Boolean)
  return (
    <>
      {end.state === 'completed' ? (
        <span className="ok">
          <Check className="i s" aria-hidden />
          {t('tool.ok')}
        </span>
      ) : end.state === 'failed' ? (
        <span className="no">
          <X className="i s" aria-hidden />
          {t('tool.error')}
        </span>
      ) : (
        <>
          <CircleStop className="i s" aria-hidden />
          {by ? t('stoppedBy', { name: by }) : t('stopped')}
        </>
      )}
      <span className={end.state === 'completed' ? undefined : styles.wide}>{facts.join(' · ')}</span>
    </>
  )
}

interface SubAgentFooterProps {
  subAgent: SubAgent
  /** Which version and model answer; null until the first answer of the model. */
  stamp: Stamp | null
  used: RunCost
  isActive: boolean
  /** Whether a small screen shows its depth. */
  hasDepth?: boolean
}

export function SubAgentFooter({ subAgent, stamp, used, isActive, hasDepth = true }: SubAgentFooterProps) {
  const { agentId, metadata, runId } = subAgent
  const { t } = useTexts()
  if (!stamp) return null
  return (
    <div className={cx(messageStyles.foot, styles.foot)}>
      <VersionBadge stamp={stamp} agentId={agentId} />
      <ModelName stamp={stamp} />
      {hasDepth ? <span className={styles.narrow}>{t('subAgents.depth', { n: metadata.agent.depth })}</span> : null}
      <Cost used={used} runId={runId} isGrowing={isActive} />
    </div>
  )
}

const countedStates = ['working', 'waiting', 'completed', 'failed', 'stopped'] as const
const stateTexts = {
  working: 'subAgents.working',
  waiting: 'subAgents.waiting',
  completed: 'subAgents.done',
  failed: 'subAgents.failed',
  stopped: 'subAgents.stopped',
} as const

/** The line above several sub-agents: how many are in each state, and a button that folds or unfolds all. */
function TreeLine({ subAgents, rows }: { subAgents: readonly SubAgent[]; rows: readonly MessageRow[] }) {
  const { t } = useTexts()
  const { chatId } = useChat()
  const { chosen, setAllOpen } = useContext(FoldingContext)
  const active = useActiveSubAgents(chatId)
  const waiting = useWaitingSubAgents(chatId)
  const tree = listTree(subAgents)
  if (tree.length < 2) return null
  const results = findResults([...rows, ...tree.flatMap(subAgent => subAgent.rows)])
  const counts = { working: 0, waiting: 0, completed: 0, failed: 0, stopped: 0 }
  for (const subAgent of tree) {
    const { state } = getEnd(subAgent, results.get(subAgent.runId) ?? null)
    counts[waiting.has(subAgent.runId) ? 'waiting' : active.has(subAgent.runId) ? 'working' : state] += 1
  }
  const states = countedStates.filter(state => counts[state] > 0)
  const isAnyOpen = tree.some(({ runId }) => chosen.get(runId) ?? active.has(runId))
  const label = t(isAnyOpen ? 'subAgents.foldAll' : 'subAgents.unfoldAll')
  const Icon = isAnyOpen ? ListChevronsDownUp : ListChevronsUpDown
  const since = getTimeOfId(tree[0]?.runId ?? '')
  return (
    <div className={styles.tree}>
      <Workflow className={cx('i s', styles.wide)} aria-hidden />
      <b>{t('subAgents.count', { count: tree.length })}</b>
      <span className="cut">{states.map(state => t(stateTexts[state], { count: counts[state] })).join(' · ')}</span>
      <span className={styles.treeEnd}>
        {counts.working + counts.waiting > 0 && since !== null ? (
          <span className={cx(styles.wide, 'num')}>
            <Duration from={new Date(since).toISOString()} until={null} />
          </span>
        ) : null}
        <Button tone="flat" size="xs" aria-label={label} title={label} onClick={() => setAllOpen(!isAnyOpen)}>
          <Icon className="i s" aria-hidden />
          <span className={styles.wide}>{label}</span>
        </Button>
      </span>
    </div>
  )
}

interface TotalCostProps {
  runId: string
  agentId: string | null
  name: string
  rows: readonly MessageRow[]
  subAgents: readonly SubAgent[]
}

/** What a reply has cost with all its sub-agents. A click shows the cost of each. */
export function TotalCost({ runId, agentId, name, rows, subAgents }: TotalCostProps) {
  const { t } = useTexts()
  const { chatId } = useChat()
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const active = useActiveSubAgents(chatId)
  const run = useRun(chatId, runId)
  const tree = listTree(subAgents)
  const results = findResults([...rows, ...tree.flatMap(subAgent => subAgent.rows)])
  const costs = [getCost(rows), ...tree.map(each => getCost(each.rows, results.get(each.runId)))]
  const isGrowing = run?.ended_at === null || tree.some(each => active.has(each.runId))
  const tokens = costs.reduce((sum, each) => sum + each.tokens, 0)
  const cost = costs.reduce((sum, each) => sum + (each.cost ?? 0), 0)
  const amount = cost > 0 ? formatCurrency(cost) : t('usedTokens', { count: tokens, n: formatNumber(tokens) })
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
        {t('subAgents.total', { amount: isGrowing ? t('subAgents.soFar', { amount }) : amount, count: costs.length })}
      </button>
      {isOpen ? (
        <Suspense fallback={null}>
          <CostTree
            anchor={button}
            root={{ agentId, name, rows }}
            subAgents={subAgents}
            results={results}
            active={active}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      ) : null}
    </>
  )
}

/** A sub-agent whose caller is on a page that is not loaded yet. */
export function LoneSubAgent({ subAgent }: { subAgent: SubAgent }) {
  const { t } = useTexts()
  const { findActor } = useChat()
  const all = useMemo(() => [subAgent], [subAgent])
  const folding = useFolding(all)
  const { agent } = subAgent.metadata
  const at = subAgent.rows[0]?.created_at ?? ''
  const name = findActor(subAgent.agentId)?.name ?? agent.displayName
  return (
    <article
      className={messageStyles.msg}
      data-message={subAgent.runId}
      tabIndex={-1}
      aria-label={at ? `${name}, ${formatTime(at)}` : name}
    >
      <span />
      <div className={messageStyles.c}>
        <p className="faint xs">{t('subAgents.callerAbove')}</p>
        <FoldingContext value={folding}>
          <SubAgentBlock subAgent={subAgent} above={agent.path.slice(0, -1).join(' › ')} />
        </FoldingContext>
      </div>
    </article>
  )
}
