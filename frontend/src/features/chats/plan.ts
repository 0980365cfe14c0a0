/** A plan that a person writes. Pure functions. */
import type { ActorRow, BoardDetailRow, BoardTaskRow, ListedAgentRow, NewBoard } from '@/api'
import { newId } from '@/lib/ids'
import { type AnswerShape, buildSchema, findShapeProblem, newShape, openSchema } from './answerShape'
import { type ParameterField, readParameters, toParameterFields } from './boards'

/** The server's limit for the number of tasks of a plan by hand. */
export const MAX_TASKS = 50
/** The server's limit for the number of tries of a task. */
export const MAX_TRIES = 5
/** The server's limit for the number of files of a task. */
export const MAX_FILES = 20

/** A task of a plan that a person writes. */
export interface PlannedTask {
  /** Tells the tasks apart while their numbers change. */
  key: string
  agentId: string
  description: string
  parameters: readonly ParameterField[]
  /** The keys of the tasks that it follows. */
  after: readonly string[]
  join: BoardTaskRow['join']
  onFailure: BoardTaskRow['on_failure']
  tries: number
  fileIds: readonly string[]
  /** The values with which it is to answer; without any, it answers with a text. */
  answer: AnswerShape
}

/** An agent that may be chosen for a task. */
export type OfferedAgent = Pick<ActorRow, 'id' | 'name'>

export interface Plan {
  userInput: string
  tasks: readonly PlannedTask[]
  /** The agent that puts the answer together; empty: the server chooses it. */
  aggregatorId: string
  maxAtOnce: number
  /** What the board may cost in dollars, as it is typed; empty: no limit of its own. */
  limit: string
  /** Public agents that are offered for tasks, besides those that the workspace uses. */
  publicAgents: readonly OfferedAgent[]
}

export const newTask = (): PlannedTask => ({
  key: newId(),
  agentId: '',
  description: '',
  parameters: [],
  after: [],
  join: 'all',
  onFailure: 'go_on',
  tries: 2,
  fileIds: [],
  answer: newShape(),
})

export const newPlan = (): Plan => ({
  userInput: '',
  tasks: [newTask()],
  aggregatorId: '',
  maxAtOnce: 3,
  limit: '',
  publicAgents: [],
})

/** Returns whether nothing has been written yet. */
export const isEmptyPlan = (plan: Plan): boolean => {
  const { key: _, ...task } = plan.tasks[0] ?? newTask()
  const { key: __, ...untouched } = newTask()
  const isUntouched = JSON.stringify(task) === JSON.stringify(untouched)
  return plan.userInput === '' && plan.limit === '' && plan.tasks.length === 1 && isUntouched
}

/** Returns a plan without a task. What followed it follows nothing in its place. */
export const removeTask = (tasks: readonly PlannedTask[], key: string): readonly PlannedTask[] =>
  tasks.filter(task => task.key !== key).map(task => ({ ...task, after: task.after.filter(each => each !== key) }))

const MICRO = 1_000_000

/** Returns a limit in millionths of a dollar; null for an empty one, NaN for one that is not valid. */
export function readLimit(text: string): number | null {
  if (text.trim() === '') return null
  const micro = Math.round(Number(text.trim().replace(',', '.')) * MICRO)
  return micro > 0 && Number.isFinite(micro) ? micro : Number.NaN
}

/**
 * Returns the plan of a board, to be changed and started again. An agent of the workspace that no longer accepts tasks is left out.
 * An agent that is not of the workspace was a public one. `agents`: those of the workspace.
 */
export function openPlan({ board, tasks }: BoardDetailRow, agents: readonly ListedAgentRow[]): Plan {
  const keys = new Map(tasks.map(task => [task.number, task.id]))
  const findOwn = (id: string) => agents.find(({ actor }) => actor.id === id)
  const chooseAgent = (id: string) => (findOwn(id)?.accepts_tasks === false ? '' : id)
  const others = new Map(tasks.filter(task => !findOwn(task.agent_id)).map(task => [task.agent_id, task.agent_name]))
  const aggregatorId = board.aggregator_id ?? ''
  return {
    userInput: board.user_input,
    tasks: tasks.map(task => ({
      key: task.id,
      agentId: chooseAgent(task.agent_id),
      description: task.description,
      parameters: toParameterFields(task.parameters),
      after: task.after.flatMap(number => keys.get(number) ?? []),
      join: task.join,
      onFailure: task.on_failure,
      tries: task.max_attempts,
      fileIds: task.file_ids,
      answer: openSchema(task.output_schema),
    })),
    // The agent may have been chosen by the server, which chooses again.
    aggregatorId: tasks.some(task => task.agent_id === aggregatorId) ? chooseAgent(aggregatorId) : '',
    maxAtOnce: board.max_at_once,
    limit: board.limit_micro === null ? '' : String(board.limit_micro / MICRO),
    publicAgents: [...others].map(([id, name]) => ({ id, name })),
  }
}

/** Returns the body of the request that creates the board of a plan, which has no problems. */
export const buildNewBoard = (id: string, plan: Plan): NewBoard => ({
  id,
  user_input: plan.userInput.trim(),
  tasks: plan.tasks.map(task => ({
    agent_id: task.agentId,
    description: task.description.trim(),
    parameters: readParameters(task.parameters),
    after: task.after.map(key => plan.tasks.findIndex(other => other.key === key) + 1).filter(number => number > 0),
    join: task.join,
    on_failure: task.onFailure,
    max_attempts: task.tries,
    file_ids: [...task.fileIds],
    output_schema: buildSchema(task.answer),
  })),
  aggregator_id: plan.tasks.length > 1 && plan.aggregatorId ? plan.aggregatorId : null,
  max_at_once: plan.maxAtOnce,
  limit_micro: readLimit(plan.limit),
})

/** A field of the form: of the plan, or of the task with a key. */
export type PlanField = 'userInput' | 'aggregatorId' | 'limit' | `${TaskField} ${string}`
type TaskField = 'agentId' | 'description' | 'parameters' | 'after' | 'fileIds' | 'answer'
export const toPlanField = (field: TaskField, task: PlannedTask): PlanField => `${field} ${task.key}`

/**
 * What is wrong with a field: `missing`, `invalid`, an agent that gets no tasks (`refused`), text that is no
 * JSON schema (`noSchema`), values without a name or with the same (`names`), or the English sentence of the server.
 */
export type PlanProblem = { code: 'missing' | 'invalid' | 'refused' | 'noSchema' | 'names' } | { text: string }
export type PlanProblems = ReadonlyMap<PlanField, PlanProblem>

/** Returns what the person still has to write or to change. */
export function findProblems(plan: Plan): PlanProblems {
  const problems = new Map<PlanField, PlanProblem>()
  if (plan.userInput.trim() === '') problems.set('userInput', { code: 'missing' })
  for (const task of plan.tasks) {
    if (task.agentId === '') problems.set(toPlanField('agentId', task), { code: 'missing' })
    if (task.description.trim() === '') problems.set(toPlanField('description', task), { code: 'missing' })
    const code = findShapeProblem(task.answer)
    if (code) problems.set(toPlanField('answer', task), { code })
  }
  if (Number.isNaN(readLimit(plan.limit))) problems.set('limit', { code: 'invalid' })
  return problems
}

const fieldsOfPlan: Readonly<Record<string, PlanField>> = {
  user_input: 'userInput',
  aggregator_id: 'aggregatorId',
  limit_micro: 'limit',
}
const fieldsOfTask: Readonly<Record<string, TaskField>> = {
  agent_id: 'agentId',
  description: 'description',
  parameters: 'parameters',
  after: 'after',
  file_ids: 'fileIds',
  output_schema: 'answer',
}

/** Returns the field that a hint of the server is about, and what it says about it; null if it is about none. */
function locateHint(hint: string, tasks: readonly PlannedTask[]): { field: PlanField; text: string } | null {
  const [, path = '', text = ''] = hint.match(/^([\w.]+): (.*)$/s) ?? []
  const [, index = '', name = ''] = path.match(/^tasks\.(\d+)\.(\w+)/) ?? []
  const [, part = '', number = ''] = hint.match(/^The (parameters|output schema) of task (\d+)/) ?? []
  const task = tasks[number ? Number(number) - 1 : index ? Number(index) : -1]
  const taskField = fieldsOfTask[part.replace(' ', '_') || name]
  if (task && taskField) return { field: toPlanField(taskField, task), text: text || hint }
  const field = fieldsOfPlan[path.split('.')[0] ?? '']
  return field ? { field, text } : null
}

/** Divides the hints of the server into those about fields of the form, and others. */
export function readHints(hints: readonly string[], tasks: readonly PlannedTask[]): [PlanProblems, readonly string[]] {
  const problems = new Map<PlanField, PlanProblem>()
  const others: string[] = []
  for (const hint of hints) {
    const found = locateHint(hint, tasks)
    if (!found) others.push(hint)
    else {
      const isAgent = found.field === 'aggregatorId' || found.field.startsWith('agentId ')
      problems.set(found.field, isAgent ? { code: 'refused' } : { text: found.text })
    }
  }
  return [problems, others]
}
