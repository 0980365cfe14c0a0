import { Eraser, History, Play, Plus } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import {
  ApiError,
  createBoard,
  type ListedAgentRow,
  listNewestBoards,
  readBoard,
  useAgents,
  useBoardEstimate,
  usePublicAgents,
} from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { getErrorText } from '@/lib/errors'
import { newId } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { formatCurrency } from '@/lib/time'
import { upsertRows } from '@/realtime'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import dialogStyles from '@/ui/Dialog.module.css'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { Field, SelectField, TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { Loading } from '@/ui/Loading'
import { showToast } from '@/ui/toast'
import { MAX_DESCRIPTION } from '../boards'
import {
  buildNewBoard,
  findProblems,
  isEmptyPlan,
  MAX_TASKS,
  newPlan,
  newTask,
  type OfferedAgent,
  openPlan,
  type Plan,
  type PlannedTask,
  type PlanProblems,
  readHints,
  readLimit,
  removeTask,
} from '../plan'
import { forgetPlanDraft, usePlanDraft } from '../planDraft'
import { useChat } from './ChatContext'
import styles from './Plan.module.css'
import { AgentOptions, More, type OfferedAgents, TaskFields, useProblemText } from './PlanTaskFields'
import { PublicAgentPicker } from './PublicAgentPicker'

interface PlanDialogProps {
  onClose(): void
  onStarted(): void
}

/** The form of a plan by hand: the tasks, who does them, and which follow others. What is written is kept when it is closed. */
export function PlanDialog({ onClose, onStarted }: PlanDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog
      open
      onOpenChange={open => !open && onClose()}
      title={t('plan.title')}
      description={t('plan.hint')}
      className={dialogStyles.wide}
    >
      <PlanForm onClose={onClose} onStarted={onStarted} />
    </Dialog>
  )
}

const noProblems: PlanProblems = new Map()

function PlanForm({ onClose, onStarted }: PlanDialogProps) {
  const { t } = useTexts()
  const { chatId, workspaceId } = useChat()
  const agents = useAgents(workspaceId)
  const publicAgents = usePublicAgents(workspaceId, '')
  const [id] = useState(newId)
  const [plan, setPlan] = usePlanDraft(chatId)
  const [sent, setSent] = useState<Plan | null>(null)
  const [failedChecks, setFailedChecks] = useState(0)
  const { busy, error, run } = useAsyncAction()
  const form = useRef<HTMLFormElement>(null)
  const list = useRef<HTMLOListElement>(null)
  const focusLast = useFocusLast(list, plan.tasks.length)
  useFocusProblem(form, failedChecks, error)
  const estimate = useBoardEstimate(
    chatId,
    plan.tasks.flatMap(task => task.agentId || []),
  ).data
  if (!agents.data || publicAgents.isLoading) return <Loading query={agents} />
  const change = (changes: Partial<Plan>) => setPlan({ ...plan, ...changes })
  const changeTask = (key: string, changes: Partial<PlannedTask>) =>
    change({ tasks: plan.tasks.map(task => (task.key === key ? { ...task, ...changes } : task)) })
  const offered: OfferedAgents = {
    own: agents.data.filter(({ accepts_tasks: accepts }) => accepts).map(({ actor }) => actor),
    others: joinAgents(publicAgents.data?.rows.map(({ actor }) => actor) ?? [], plan.publicAgents),
  }
  if (offered.own.length + offered.others.length === 0) return <p className="muted sm">{t('plan.noAgents')}</p>

  // What the server said is about the plan that was sent.
  const hints = error instanceof ApiError && sent === plan ? error.hints : []
  const [refused, otherHints] = readHints(hints, plan.tasks)
  const problems =
    failedChecks > 0 ? new Map([...findProblems(plan), ...refused]) : refused.size > 0 ? refused : noProblems
  const empty = () => {
    setPlan(newPlan())
    setFailedChecks(0)
    form.current?.querySelector('textarea')?.focus()
  }
  const add = () => {
    focusLast()
    change({ tasks: [...plan.tasks, newTask()] })
  }
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (findProblems(plan).size > 0) {
      setFailedChecks(failedChecks + 1)
      return
    }
    setSent(plan)
    void run(async () => {
      const { board, tasks } = await createBoard(chatId, buildNewBoard(id, plan))
      forgetPlanDraft(chatId)
      upsertRows(chatId, [board, ...tasks])
      onClose()
      onStarted()
    })
  }
  return (
    <form className="col gap" ref={form} onSubmit={handleSubmit} noValidate data-kept>
      <UserInput plan={plan} problems={problems} onChange={change} />
      <div className={styles.starts}>
        <LastPlan agents={agents.data} onOpen={setPlan} />
        {isEmptyPlan(plan) ? null : (
          <Button size="xs" tone="flat" onClick={empty}>
            <Eraser className="i s" aria-hidden />
            {t('plan.clear')}
          </Button>
        )}
      </div>
      <ol className={styles.tasks} ref={list}>
        {plan.tasks.map((task, index) => (
          <TaskFields
            key={task.key}
            task={task}
            before={plan.tasks.slice(0, index)}
            agents={offered}
            problems={problems}
            onChange={changes => changeTask(task.key, changes)}
            onRemove={plan.tasks.length > 1 ? () => change({ tasks: removeTask(plan.tasks, task.key) }) : null}
          />
        ))}
      </ol>
      <div>
        <Button size="xs" blocked={plan.tasks.length >= MAX_TASKS && t('plan.tooMany', { n: MAX_TASKS })} onClick={add}>
          <Plus className="i s" aria-hidden />
          {t('plan.addTask')}
        </Button>
      </div>
      <MoreOfPlan plan={plan} agents={offered} problems={problems} onChange={change} />
      {sent === plan ? <ErrorBanner error={error} /> : null}
      {otherHints.length > 0 ? (
        <ul className={styles.hints} lang="en">
          {otherHints.map(hint => (
            <li key={hint}>{hint}</li>
          ))}
        </ul>
      ) : null}
      <div className={styles.actions}>
        {estimate ? <span className="faint xs">{t('plan.estimate', { amount: formatCurrency(estimate) })}</span> : null}
        <Button tone="flat" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button tone="ink" type="submit" busy={busy ? t('plan.starting') : null}>
          <Play className="i s" aria-hidden />
          {t('plan.start', { count: plan.tasks.length })}
        </Button>
      </div>
    </form>
  )
}

const joinAgents = (first: readonly OfferedAgent[], second: readonly OfferedAgent[]): readonly OfferedAgent[] => [
  ...new Map([...first, ...second].map(agent => [agent.id, agent])).values(),
]

interface PartProps {
  plan: Plan
  problems: PlanProblems
  onChange(changes: Partial<Plan>): void
}

function UserInput({ plan, problems, onChange }: PartProps) {
  const { t } = useTexts()
  const describe = useProblemText()
  return (
    <Field label={t('plan.userInput')} error={describe('userInput', problems.get('userInput'))}>
      {attributes => (
        <textarea
          {...attributes}
          className={fieldStyles.input}
          rows={2}
          maxLength={MAX_DESCRIPTION}
          value={plan.userInput}
          onChange={event => onChange({ userInput: event.target.value })}
        />
      )}
    </Field>
  )
}

const MAX_AT_ONCE = 10

/** What the simple case does not need: the answer, the limits, and agents that the workspace does not use yet. */
function MoreOfPlan({ plan, agents, problems, onChange }: PartProps & { agents: OfferedAgents }) {
  const { t } = useTexts()
  const { workspaceId } = useChat()
  const describe = useProblemText()
  const picked = plan.publicAgents.map(agent => agent.name)
  const limit = readLimit(plan.limit)
  const inside = new Set(agents.others.map(agent => agent.id))
  const summary = [
    limit ? t('plan.limitOf', { amount: formatCurrency(limit) }) : '',
    plan.maxAtOnce === 3 ? '' : t('board.atOnce', { n: plan.maxAtOnce }),
  ]
  const aggregatorProblem = describe('aggregatorId', problems.get('aggregatorId'))
  return (
    <More
      label={t('plan.moreOfPlan')}
      summary={summary}
      hasProblem={problems.has('limit') || problems.has('aggregatorId')}
    >
      <div className={styles.columns}>
        {plan.tasks.length > 1 ? (
          <Field label={t('plan.aggregator')} error={aggregatorProblem} hint={t('plan.aggregatorHint')}>
            {attributes => (
              <select
                {...attributes}
                className={fieldStyles.input}
                value={plan.aggregatorId}
                onChange={event => onChange({ aggregatorId: event.target.value })}
              >
                <option value="">{t('plan.aggregatorAuto')}</option>
                <AgentOptions agents={agents} />
              </select>
            )}
          </Field>
        ) : null}
        <SelectField
          label={t('plan.maxAtOnce')}
          value={String(plan.maxAtOnce)}
          options={[...new Set([...Array.from({ length: MAX_AT_ONCE }, (_, index) => index + 1), plan.maxAtOnce])].map(
            n => ({ value: String(n), label: String(n) }),
          )}
          onChange={value => onChange({ maxAtOnce: Number(value) })}
        />
        <TextField
          label={t('plan.limit')}
          hint={t('plan.limitHint')}
          inputMode="decimal"
          value={plan.limit}
          error={describe('limit', problems.get('limit'))}
          onChange={limit => onChange({ limit })}
        />
      </div>
      <PublicAgentPicker
        label={t('plan.publicAgents')}
        workspaceId={workspaceId}
        inside={inside}
        onPick={({ id, name }) => onChange({ publicAgents: [...plan.publicAgents, { id, name }] })}
      />
      <span className="hint faint xs" role="status">
        {picked.length > 0 ? t('plan.offered', { names: formatList(picked), count: picked.length }) : ''}
      </span>
    </More>
  )
}

/** Returns a function that makes the first field of the next task get the focus once it is shown. */
function useFocusLast(list: { current: HTMLOListElement | null }, count: number): () => void {
  const isWanted = useRef(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when a task was added
  useEffect(() => {
    if (isWanted.current) list.current?.lastElementChild?.querySelector<HTMLElement>('select')?.focus()
    isWanted.current = false
  }, [count])
  return () => {
    isWanted.current = true
  }
}

/** Moves the focus to the first field that is wrong, each time when the plan was not sent, or was refused. */
function useFocusProblem(form: { current: HTMLFormElement | null }, failedChecks: number, error: unknown): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the plan was not sent, or was refused
  useEffect(() => {
    if (failedChecks > 0 || error) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [failedChecks, error])
}

/** Number of the newest boards among which the last plan by hand is looked for. */
const SEARCHED_BOARDS = 50

/** Opens the plan by hand that was started last in this chat. */
function LastPlan({ agents, onOpen }: { agents: readonly ListedAgentRow[]; onOpen(plan: Plan): void }) {
  const { t } = useTexts()
  const { chatId } = useChat()
  const [isLoading, setLoading] = useState(false)
  const open = async () => {
    setLoading(true)
    try {
      const boards = await listNewestBoards(chatId, SEARCHED_BOARDS)
      const last = boards.find(board => board.planned_by === 'person')
      if (last) onOpen(openPlan(await readBoard(last.id), agents))
      else showToast(t('plan.noLast'))
    } catch (error) {
      showToast(getErrorText(error))
    }
    setLoading(false)
  }
  return (
    <Button size="xs" busy={isLoading ? t('loading') : null} onClick={() => void open()}>
      <History className="i s" aria-hidden />
      {t('plan.openLast')}
    </Button>
  )
}
