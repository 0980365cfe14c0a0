/** The fields of a task in the form of a plan by hand. */
import { ChevronDown, ChevronRight, CircleAlert, X } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { useChatFiles, useFilesById } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { useSettled } from '@/lib/settled'
import { IconButton } from '@/ui/Button'
import { Checkbox } from '@/ui/Checkbox'
import { SearchInput, SelectField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { Loading } from '@/ui/Loading'
import { MAX_DESCRIPTION } from '../boards'
import {
  MAX_FILES,
  MAX_TRIES,
  type OfferedAgent,
  type PlanField,
  type PlannedTask,
  type PlanProblem,
  type PlanProblems,
  toPlanField,
} from '../plan'
import { AnswerFields } from './AnswerFields'
import { useChat } from './ChatContext'
import { ParameterFields } from './ParameterFields'
import styles from './Plan.module.css'

/** The agents that may be chosen: those of the workspace, and public ones. */
export interface OfferedAgents {
  own: readonly OfferedAgent[]
  others: readonly OfferedAgent[]
}

interface TaskFieldsProps {
  task: PlannedTask
  /** The tasks above it, which it may follow. */
  before: readonly PlannedTask[]
  agents: OfferedAgents
  problems: PlanProblems
  onChange(changes: Partial<PlannedTask>): void
  /** Null if it is the only task. */
  onRemove: (() => void) | null
}

export function TaskFields({ task, before, agents, problems, onChange, onRemove }: TaskFieldsProps) {
  const { t } = useTexts()
  const number = before.length + 1
  const agent = useFieldProblem(toPlanField('agentId', task), problems)
  const description = useFieldProblem(toPlanField('description', task), problems)
  const parameters = useFieldProblem(toPlanField('parameters', task), problems)
  const after = useFieldProblem(toPlanField('after', task), problems)
  const toggle = (key: string) =>
    onChange({ after: task.after.includes(key) ? task.after.filter(each => each !== key) : [...task.after, key] })
  return (
    <li className={styles.task} aria-label={t('plan.task', { n: number })}>
      <div className={styles.taskHead}>
        <span className={styles.number} aria-hidden>
          {number}
        </span>
        <select
          {...agent.attributes}
          className={fieldStyles.input}
          aria-label={t('plan.agentOf', { n: number })}
          value={task.agentId}
          onChange={event => onChange({ agentId: event.target.value })}
        >
          <option value="">{t('plan.chooseAgent')}</option>
          <AgentOptions agents={agents} />
        </select>
        {onRemove ? (
          <IconButton small label={t('plan.removeTask', { n: number })} onClick={onRemove}>
            <X className="i s" />
          </IconButton>
        ) : null}
      </div>
      {agent.text}
      <textarea
        {...description.attributes}
        className={fieldStyles.input}
        aria-label={t('plan.descriptionOf', { n: number })}
        placeholder={t('plan.description')}
        rows={2}
        maxLength={MAX_DESCRIPTION}
        value={task.description}
        onChange={event => onChange({ description: event.target.value })}
      />
      {description.text}
      <ParameterFields
        label={t('plan.parametersOf', { n: number })}
        fields={task.parameters}
        onChange={next => onChange({ parameters: next })}
      />
      {parameters.text}
      {before.length > 0 ? (
        <fieldset className={styles.after} {...after.attributes}>
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
      {after.text}
      <MoreOfTask task={task} number={number} problems={problems} onChange={onChange} />
    </li>
  )
}

/** The options of a choice of agents. */
export function AgentOptions({ agents: { own, others } }: { agents: OfferedAgents }) {
  const { t } = useTexts()
  const list = (agents: readonly OfferedAgent[]) =>
    agents.map(agent => (
      <option key={agent.id} value={agent.id}>
        {agent.name}
      </option>
    ))
  if (others.length === 0) return list(own)
  return (
    <>
      {own.length > 0 ? <optgroup label={t('plan.ownAgents')}>{list(own)}</optgroup> : null}
      <optgroup label={t('plan.publicAgentsGroup')}>{list(others)}</optgroup>
    </>
  )
}

const joinTexts = { all: 'plan.joinAll', any: 'plan.joinAny', settled: 'plan.joinSettled' } as const
const failureTexts = { go_on: 'plan.othersGoOn', stop: 'plan.boardFails' } as const
const DEFAULT_TRIES = 2

interface MoreOfTaskProps extends Pick<TaskFieldsProps, 'task' | 'problems' | 'onChange'> {
  number: number
}

/** What a simple task does not need: how often it is tried, what follows from its failure, when it starts, and its files. */
function MoreOfTask({ task, number, problems, onChange }: MoreOfTaskProps) {
  const { t } = useTexts()
  const field = toPlanField('fileIds', task)
  const files = useFieldProblem(field, problems)
  const answerField = toPlanField('answer', task)
  const answer = useFieldProblem(answerField, problems)
  const summary = [
    task.after.length > 0 && task.join !== 'all' ? t(joinTexts[task.join]) : '',
    task.tries === DEFAULT_TRIES ? '' : t('plan.tries', { count: task.tries }),
    task.onFailure === 'go_on' ? '' : `${t('plan.onFailure')}: ${t(failureTexts[task.onFailure])}`,
    task.fileIds.length > 0 ? t('plan.fileCount', { count: task.fileIds.length }) : '',
    task.answer.json?.trim() || task.answer.values.length > 0 ? t('plan.answersWithValues') : '',
  ]
  return (
    <More
      label={
        <>
          {t('plan.more')}
          <span className="sr"> {t('plan.task', { n: number })}</span>
        </>
      }
      summary={summary}
      hasProblem={problems.has(field) || problems.has(answerField)}
    >
      <div className={styles.columns}>
        {task.after.length > 0 ? (
          <SelectField
            label={t('plan.join')}
            value={task.join}
            options={Object.entries(joinTexts).map(([value, text]) => ({
              value: value as PlannedTask['join'],
              label: t(text),
            }))}
            onChange={join => onChange({ join })}
          />
        ) : null}
        <SelectField
          label={t('plan.maxTries')}
          value={String(task.tries)}
          options={Array.from({ length: MAX_TRIES }, (_, index) => ({
            value: String(index + 1),
            label: String(index + 1),
          }))}
          onChange={value => onChange({ tries: Number(value) })}
        />
        <SelectField
          label={t('plan.onFailure')}
          value={task.onFailure}
          options={Object.entries(failureTexts).map(([value, text]) => ({
            value: value as PlannedTask['onFailure'],
            label: t(text),
          }))}
          onChange={onFailure => onChange({ onFailure })}
        />
      </div>
      <FilesOfTask chosen={task.fileIds} onChange={fileIds => onChange({ fileIds })} />
      {files.text}
      <AnswerFields
        number={number}
        shape={task.answer}
        attributes={answer.attributes}
        onChange={next => onChange({ answer: next })}
      />
      {answer.text}
    </More>
  )
}

interface MoreProps {
  label: ReactNode
  /** What was chosen inside, said while it is folded. */
  summary: readonly string[]
  hasProblem: boolean
  children: ReactNode
}

/** A part of the form that is folded until it is needed. */
export function More({ label, summary, hasProblem, children }: MoreProps) {
  const [isUnfolded, setUnfolded] = useState(false)
  const id = useId()
  const isOpen = isUnfolded || hasProblem
  const Chevron = isOpen ? ChevronDown : ChevronRight
  const said = summary.filter(Boolean).join(' · ')
  return (
    <div className={styles.more}>
      <div className={styles.moreHead}>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          onClick={() => setUnfolded(!isOpen)}
        >
          <Chevron className="i s" aria-hidden />
          {label}
        </button>
        {isOpen || !said ? null : <span className="faint">{said}</span>}
      </div>
      {isOpen ? (
        <div className={styles.moreBody} id={id}>
          {children}
        </div>
      ) : null}
    </div>
  )
}

/** From this number of files on, they can be searched. */
const MANY_FILES = 8

/** The choice of files that were posted in the chat. */
function FilesOfTask({ chosen, onChange }: { chosen: readonly string[]; onChange(ids: readonly string[]): void }) {
  const { t } = useTexts()
  const { chatId, workspaceId } = useChat()
  const [text, setText] = useState('')
  const settled = useSettled(text.trim())
  const files = useChatFiles(workspaceId, chatId, settled)
  const listed = files.data ?? []
  const others = chosen.filter(id => !listed.some(file => file.id === id))
  const findFile = useFilesById(others)
  const rows = [...others.map(id => ({ id, name: findFile(id)?.name ?? t('plan.fileGone') })), ...listed]
  const toggle = (id: string) => onChange(chosen.includes(id) ? chosen.filter(each => each !== id) : [...chosen, id])
  return (
    <fieldset className={styles.files}>
      <legend className={fieldStyles.label}>{t('plan.files')}</legend>
      {text || listed.length >= MANY_FILES ? (
        <SearchInput label={t('plan.findFiles')} value={text} onChange={setText} />
      ) : null}
      {files.data ? null : <Loading query={files} lines={1} />}
      {files.data && rows.length === 0 ? (
        <p className="faint xs">{t(settled ? 'plan.noSuchFile' : 'plan.noFiles')}</p>
      ) : null}
      <ul>
        {rows.map(({ id, name }) => {
          const isChosen = chosen.includes(id)
          const isFull = !isChosen && chosen.length >= MAX_FILES
          return (
            <li key={id} className={cx(isFull && 'faint')}>
              {/* biome-ignore lint/a11y/noLabelWithoutControl: the check box is inside */}
              <label>
                {isFull ? null : <Checkbox checked={isChosen} label={name} onChange={() => toggle(id)} />}
                <span className="cut">{name}</span>
              </label>
            </li>
          )
        })}
      </ul>
    </fieldset>
  )
}

const problemTexts = {
  refused: 'plan.agentRefused',
  invalid: 'error.invalid',
  noSchema: 'plan.noSchema',
  names: 'plan.nameAnswers',
} as const

/** Returns a function that says what is wrong with a field; null if nothing is. */
export function useProblemText(): (field: PlanField, problem: PlanProblem | undefined) => string | null {
  const { t } = useTexts()
  return (field, problem) => {
    if (!problem) return null
    if ('text' in problem) return problem.text
    if (problem.code !== 'missing') return t(problemTexts[problem.code])
    if (field === 'userInput') return t('plan.sayWhatFor')
    return t(field.startsWith('agentId ') ? 'plan.chooseOne' : 'plan.sayWhat')
  }
}

/** Returns the attributes of a control whose field may be wrong, and the text that says so. */
function useFieldProblem(field: PlanField, problems: PlanProblems) {
  const id = useId()
  const describe = useProblemText()
  const problem = problems.get(field)
  const text = describe(field, problem)
  return {
    attributes: text ? { 'aria-invalid': true as const, 'aria-describedby': id } : {},
    text:
      text && problem ? (
        <span className={styles.problem} id={id} role="alert" lang={'text' in problem ? 'en' : undefined}>
          <CircleAlert className="i s" aria-hidden />
          {text}
        </span>
      ) : null,
  }
}
