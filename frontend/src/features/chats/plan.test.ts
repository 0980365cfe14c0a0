import { describe, expect, it } from 'vitest'
import type { ListedAgentRow } from '@/api'
import { boardRow, boardTaskRow as task } from '@/testing/rows'
import { buildNewBoard, findProblems, isEmptyPlan, newPlan, openPlan, readHints, removeTask } from './plan'

const agent = (id: string, accepts_tasks: boolean) => ({ actor: { id, name: id }, accepts_tasks }) as ListedAgentRow
const stored = {
  board: boardRow({ user_input: 'A trip', aggregator_id: 'agent 3', max_at_once: 2, limit_micro: 1_500_000 }),
  tasks: [
    task(1, { parameters: { days: 4 }, file_ids: ['notes'], max_attempts: 4, on_failure: 'stop' }),
    task(2, { after: [1] }),
    task(3, { after: [1, 2], join: 'any' }),
  ],
}
const agents = [agent('agent 1', true), agent('agent 2', false)]

describe('the plan of an earlier board', () => {
  const plan = openPlan(stored, agents)

  it('has no agent of the workspace that accepts no tasks, and offers the public ones', () => {
    expect(plan.tasks.map(each => each.agentId)).toEqual(['agent 1', '', 'agent 3'])
    expect(plan.publicAgents).toEqual([{ id: 'agent 3', name: 'Agent 3' }])
  })

  it('is sent as it was', () => {
    const body = buildNewBoard('new', plan)
    expect(body).toMatchObject({
      user_input: 'A trip',
      aggregator_id: 'agent 3',
      max_at_once: 2,
      limit_micro: 1_500_000,
    })
    expect(body.tasks.map(each => each.after)).toEqual([[], [1], [1, 2]])
    expect(body.tasks[0]).toMatchObject({
      parameters: { days: 4 },
      file_ids: ['notes'],
      max_attempts: 4,
      on_failure: 'stop',
    })
    expect(body.tasks[2]?.join).toBe('any')
  })

  it('has other numbers once a task is removed', () => {
    const tasks = removeTask(plan.tasks, 't1')
    expect(buildNewBoard('new', { ...plan, tasks }).tasks.map(each => each.after)).toEqual([[], [1]])
  })
})

it('is empty until something is written', () => {
  const plan = newPlan()
  expect(isEmptyPlan(plan)).toBe(true)
  expect(isEmptyPlan({ ...plan, tasks: plan.tasks.map(each => ({ ...each, agentId: 'agent 1' })) })).toBe(false)
})

describe('problems', () => {
  it('name the fields that are empty or not valid', () => {
    const plan = { ...newPlan(), limit: '-1' }
    const key = plan.tasks[0]?.key
    expect([...findProblems(plan).keys()]).toEqual(['userInput', `agentId ${key}`, `description ${key}`, 'limit'])
    expect(findProblems({ ...plan, userInput: 'A trip', limit: '0,5' }).has('limit')).toBe(false)
  })

  it('of the server are put to the fields that they name', () => {
    const { tasks } = openPlan(stored, agents)
    const [problems, others] = readHints(
      [
        'tasks.1.agent_id: This agent is not of this workspace, or accepts no tasks.',
        'tasks.2.parameters.days: It is too long.',
        'The parameters of task 1 have more than 20,000 characters.',
        'limit_micro: It is too large.',
        'The tasks 1, 2 wait for each other.',
      ],
      tasks,
    )
    expect([...problems]).toEqual([
      ['agentId t2', { code: 'refused' }],
      ['parameters t3', { text: 'It is too long.' }],
      ['parameters t1', { text: 'The parameters of task 1 have more than 20,000 characters.' }],
      ['limit', { text: 'It is too large.' }],
    ])
    expect(others).toEqual(['The tasks 1, 2 wait for each other.'])
  })
})
