import { History, Play, Plus, X } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { type ActorRow, ApiError, createBoard, listNewestBoards, readBoard, useAgents, useBoardEstimate } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { getErrorText } from '@/lib/errors'
import { newId } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { formatCurrency } from '@/lib/time'
import { upsertRows } from '@/realtime'
import { Button, IconButton } from '@/ui/Button'
import { Checkbox } from '@/ui/Checkbox'
import { Dialog } from '@/ui/Dialog'
import dialogStyles from '@/ui/Dialog.module.css'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { Field, TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { showToast } from '@/ui/toast'
import { buildNewBoard, MAX_DESCRIPTION, MAX_TASKS, openPlan, type Plan, type PlannedTask, removeTask } from '../boards'
import { useChat } from './ChatContext'
import { ParameterFields } from './ParameterFields'
import styles from './Plan.module.css'

interface PlanDialogProps {
  onClose(): void
  onStarted(): void
}

/** The form of a plan by hand: the tasks, who does them, and which follow others. */
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

const newTask = (agentId = ''): PlannedTask => ({ key: newId(), agentId, description: '', parameters: [], after: [] })

const MICRO = 1_000_000

function PlanForm({ onClose, onStarted }: PlanDialogProps) {
  const { t } = useTexts()
  const { chatId } = useChat()
  const agents = useAgentsForTasks()
  const [id] = useState(newId)
  const [plan, setPlan] = useState<Plan>(() => ({ userInput: '', tasks: [newTask()] }))
  const [limit, setLimit] = useState('')
  const { busy, error, run } = useAsyncAction()
  const tasks = useRef<HTMLOListElement>(null)
  const limitMicro = limit.trim() === '' ? null : Math.round(Number(limit.replace(',', '.')) * MICRO)
  const isLimitValid = limitMicro === null || (Number.isFinite(limitMicro) && limitMicro > 0)
  const isComplete =
    plan.userInput.trim() !== '' && plan.tasks.every(task => task.agentId !== '' && task.description.trim() !== '')
  const changeTask = (key: string, change: Partial<PlannedTask>) =>
    setPlan({ ...plan, tasks: plan.tasks.map(task => (task.key === key ? { ...task, ...change } : task)) })
  const estimate = useBoardEstimate(
    chatId,
    plan.tasks.flatMap(task => task.agentId || []),
  ).data
  const focusLast = useFocusLast(tasks, plan.tasks.length)
  const add = () => {
    focusLast()
    setPlan({ ...plan, tasks: [...plan.tasks, newTask()] })
  }
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    void run(async () => {
      const { board, tasks: rows } = await createBoard(chatId, buildNewBoard(id, plan, limitMicro))
      upsertRows(chatId, [board, ...rows])
      onClose()
      onStarted()
    })
  }
  if (agents.length === 0) return <p className="muted sm">{t('plan.noAgents')}</p>
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      <Field label={t('plan.userInput')}>
        {attributes => (
          <textarea
            {...attributes}
            className={fieldStyles.input}
            rows={2}
            maxLength={MAX_DESCRIPTION}
            value={plan.userInput}
            onChange={event => setPlan({ ...plan, userInput: event.target.value })}
          />
        )}
      </Field>
      <LastPlan agents={agents} onOpen={setPlan} />
      <ol className={styles.tasks} ref={tasks}>
        {plan.tasks.map((task, index) => (
          <TaskFields
            key={task.key}
            task={task}
            before={plan.tasks.slice(0, index)}
            agents={agents}
            onChange={change => changeTask(task.key, change)}
            onRemove={
              plan.tasks.length > 1 ? () => setPlan({ ...plan, tasks: removeTask(plan.tasks, task.key) }) : null
            }
          />
        ))}
      </ol>
      <div>
        <Button size="xs" blocked={plan.tasks.length >= MAX_TASKS && t('plan.tooMany', { n: MAX_TASKS })} onClick={add}>
          <Plus className="i s" aria-hidden />
          {t('plan.addTask')}
        </Button>
      </div>
      <TextField
        label={t('plan.limit')}
        hint={t('plan.limitHint')}
        inputMode="decimal"
        value={limit}
        error={isLimitValid ? null : t('error.invalid')}
        onChange={setLimit}
      />
      <ErrorBanner error={error} />
      {error instanceof ApiError && error.hints.length > 0 ? (
        <ul className={styles.hints} lang="en">
          {error.hints.map(hint => (
            <li key={hint}>{hint}</li>
          ))}
        </ul>
      ) : null}
      <div className={styles.actions}>
        {estimate ? <span className="faint xs">{t('plan.estimate', { amount: formatCurrency(estimate) })}</span> : null}
        <Button tone="flat" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button
          tone="ink"
          type="submit"
          busy={busy ? t('plan.starting') : null}
          blocked={(!isComplete && t('plan.incomplete')) || (!isLimitValid && t('error.invalid'))}
        >
          <Play className="i s" aria-hidden />
          {t('plan.start', { count: plan.tasks.length })}
        </Button>
      </div>
    </form>
  )
}

/** Returns the agents that accept tasks here: those of the workspace, and public ones that it uses. */
function useAgentsForTasks(): readonly ActorRow[] {
  const { workspaceId } = useChat()
  return (useAgents(workspaceId).data ?? []).filter(({ accepts_tasks: accepts }) => accepts).map(({ actor }) => actor)
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

/** Number of the newest boards among which the last plan by hand is looked for. */
const SEARCHED_BOARDS = 50

/** Opens the plan by hand that was started last in this chat. */
function LastPlan({ agents, onOpen }: { agents: readonly ActorRow[]; onOpen(plan: Plan): void }) {
  const { t } = useTexts()
  const { chatId } = useChat()
  const [isLoading, setLoading] = useState(false)
  const open = async () => {
    setLoading(true)
    try {
      const boards = await listNewestBoards(chatId, SEARCHED_BOARDS)
      const last = boards.find(board => board.planned_by === 'person')
      if (last)
        onOpen(
          openPlan(
            await readBoard(last.id),
            agents.map(agent => agent.id),
          ),
        )
      else showToast(t('plan.noLast'))
    } catch (error) {
      showToast(getErrorText(error))
    }
    setLoading(false)
  }
  return (
    <div>
      <Button size="xs" busy={isLoading ? t('loading') : null} onClick={() => void open()}>
        <History className="i s" aria-hidden />
        {t('plan.openLast')}
      </Button>
    </div>
  )
}

interface TaskFieldsProps {
  task: PlannedTask
  /** The tasks above it, which it may follow. */
  before: readonly PlannedTask[]
  agents: readonly ActorRow[]
  onChange(change: Partial<PlannedTask>): void
  /** Null if it is the only task. */
  onRemove: (() => void) | null
}

function TaskFields({ task, before, agents, onChange, onRemove }: TaskFieldsProps) {
  const { t } = useTexts()
  const number = before.length + 1
  const toggle = (key: string) =>
    onChange({ after: task.after.includes(key) ? task.after.filter(each => each !== key) : [...task.after, key] })
  return (
    <li className={styles.task} aria-label={t('plan.task', { n: number })}>
      <div className={styles.taskHead}>
        <span className={styles.number} aria-hidden>
          {number}
        </span>
        <select
          className={fieldStyles.input}
          aria-label={t('plan.agentOf', { n: number })}
          value={task.agentId}
          onChange={event => onChange({ agentId: event.target.value })}
        >
          <option value="">{t('plan.chooseAgent')}</option>
          {agents.map(agent => (
            <option key={agent.id} value={agent.id}>
              {agent.name}
            </option>
          ))}
        </select>
        {onRemove ? (
          <IconButton small label={t('plan.removeTask', { n: number })} onClick={onRemove}>
            <X className="i s" />
          </IconButton>
        ) : null}
      </div>
      <textarea
        className={fieldStyles.input}
        aria-label={t('plan.descriptionOf', { n: number })}
        placeholder={t('plan.description')}
        rows={2}
        maxLength={MAX_DESCRIPTION}
        value={task.description}
        onChange={event => onChange({ description: event.target.value })}
      />
      <ParameterFields
        label={t('plan.parametersOf', { n: number })}
        fields={task.parameters}
        onChange={parameters => onChange({ parameters })}
      />
      {before.length > 0 ? (
        <fieldset className={styles.after}>
          <legend>{t('plan.startsAfter')}</legend>
          {before.map((other, index) => (
            // biome-ignore lint/a11y/noLabelWithoutControl: the check box is inside
            <label key={other.key}>
              <Checkbox
                checked={task.after.includes(other.key)}
                label={t('plan.afterTask', { n: index + 1 })}
                onChange={() => toggle(other.key)}
              />
              {index + 1}
            </label>
          ))}
        </fieldset>
      ) : null}
    </li>
  )
}
