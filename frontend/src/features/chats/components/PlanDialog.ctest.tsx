import axe from 'axe-core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { ListedAgentRow, NewBoard } from '@/api'
import { setStorageOwner } from '@/lib/storage'
import { chatState } from '@/realtime'
import { buildChatContext } from '@/testing/chatContext'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { answerRequests, listChanges, newQueryClient, page, withQueries } from '@/testing/restServer'
import { boardRow, boardTaskRow } from '@/testing/rows'
import { ChatContext } from './ChatContext'
import { PlanDialog } from './PlanDialog'

const agent = (id: string, name: string, accepts_tasks = true) =>
  ({ actor: { id, name, kind: 'agent', avatar: null }, accepts_tasks }) as unknown as ListedAgentRow
const publicAgent = (id: string, name: string) => ({
  actor: { id, name, kind: 'agent', avatar: null },
  publisher_name: null,
})

let requests: ReturnType<typeof answerRequests>
/** What the server answers to a plan. */
let answer: [number, unknown]
const created = {
  board: boardRow({ id: 'new', version: 99, planned_by: 'person' }),
  tasks: [boardTaskRow(1, { board_id: 'new' })],
}

beforeEach(async () => {
  setStorageOwner('alice')
  answer = [201, created]
  requests = answerRequests(({ method, path }) => {
    if (method === 'POST' && path === '/chats/c/boards') return answer
    if (path.startsWith('/workspaces/w/agents'))
      return [200, page([agent('finance', 'Finance'), agent('scribe', 'Scribe', false), agent('travel', 'Travel')])]
    if (path.startsWith('/directory?') && path.includes('query=guide'))
      return [200, page([publicAgent('guide', 'Guide')])]
    if (path.startsWith('/directory?')) return [200, page([publicAgent('browser', 'Browser')])]
    if (path.startsWith('/chats/c/files')) return [200, page([{ id: 'notes', name: 'notes.md' }])]
    if (path === '/chats/c/boards/estimate') return [200, { estimate_micro: null }]
    return [404, { error: { code: 'not_found', message: '' } }]
  })
  await loadChat([])
})
afterEach(() => {
  closeChat()
  vi.restoreAllMocks()
  localStorage.clear()
  setStorageOwner(null)
})

async function openForm() {
  const onClose = vi.fn()
  const screen = await render(
    withQueries(
      <ChatContext value={buildChatContext()}>
        <PlanDialog onClose={onClose} onStarted={() => undefined} />
      </ChatContext>,
      newQueryClient(),
    ),
  )
  await expect.element(screen.getByLabelText('Agent of task 1')).toBeVisible()
  return { screen, form: screen.getByRole('dialog', { name: 'Plan tasks' }), onClose }
}
type Form = Awaited<ReturnType<typeof openForm>>['form']

async function fillIn(form: Form) {
  await form.getByLabelText('What is this for?').fill('A trip')
  await form.getByLabelText('Agent of task 1').selectOptions('Finance')
  await form.getByLabelText('Description of task 1').fill('Add it up')
  await form.getByRole('button', { name: 'Add a task' }).click()
  await form.getByLabelText('Agent of task 2').selectOptions('Travel')
  await form.getByLabelText('Description of task 2').fill('Plan the days')
}

/** The plans that were sent. */
const listPlans = () =>
  listChanges(requests).flatMap(([path, body]) => (path === 'POST /chats/c/boards' ? (body as NewBoard) : []))

it('starts a simple plan with the defaults of the server', async () => {
  const { form, onClose } = await openForm()
  await expect.element(form.getByLabelText('Tries at most')).not.toBeInTheDocument()
  await fillIn(form)
  await form.getByRole('button', { name: 'Start 2 tasks' }).click()
  await vi.waitFor(() => expect(onClose).toHaveBeenCalledOnce())
  expect(listPlans()).toEqual([
    {
      id: expect.any(String),
      user_input: 'A trip',
      tasks: [
        expect.objectContaining({
          agent_id: 'finance',
          max_attempts: 2,
          join: 'all',
          on_failure: 'go_on',
          file_ids: [],
        }),
        expect.objectContaining({ agent_id: 'travel', after: [] }),
      ],
      aggregator_id: null,
      max_at_once: 3,
      limit_micro: null,
    },
  ])
  expect(chatState('c').rows.board.has('new')).toBe(true)
})

it('has tries, joins, files, an agent for the answer and limits behind “More…”', async () => {
  const { screen, form } = await openForm()
  await fillIn(form)
  const task = form.getByRole('listitem', { name: 'Task 2' })
  await task.getByRole('checkbox', { name: 'After task 1' }).click()
  await task.getByRole('button', { name: 'More… Task 2' }).click()
  await task.getByLabelText('Starts when').selectOptions('one of these succeeded')
  await task.getByLabelText('Tries at most').selectOptions('5')
  await task.getByLabelText('If it fails').selectOptions('the board fails')
  await task.getByRole('checkbox', { name: 'notes.md' }).click()
  await form.getByRole('button', { name: 'More about the plan…' }).click()
  await form.getByLabelText('Who puts the answer together').selectOptions('Finance')
  await form.getByLabelText('Tasks at the same time').selectOptions('1')
  await form.getByLabelText('Limit in dollars').fill('0,50')
  const { violations } = await axe.run(screen.baseElement, { rules: { region: { enabled: false } } })
  expect(violations).toEqual([])
  // Folded, it says what was chosen.
  await task.getByRole('button', { name: 'More… Task 2' }).click()
  await expect
    .element(task.getByText('one of these succeeded · 5 tries · If it fails: the board fails · 1 file'))
    .toBeVisible()
  await form.getByRole('button', { name: 'Start 2 tasks' }).click()
  await vi.waitFor(() => expect(listPlans()).toHaveLength(1))
  expect(listPlans()[0]).toMatchObject({ aggregator_id: 'finance', max_at_once: 1, limit_micro: 500_000 })
  expect(listPlans()[0]?.tasks[1]).toMatchObject({
    after: [1],
    join: 'any',
    max_attempts: 5,
    on_failure: 'stop',
    file_ids: ['notes'],
  })
})

it('offers agents of the workspace that accept tasks, and public ones, also those that are searched', async () => {
  const { form } = await openForm()
  const listNames = () =>
    [...(form.getByLabelText('Agent of task 1').element() as HTMLSelectElement).options].map(o => o.text)
  expect(listNames()).toEqual(['Choose an agent', 'Finance', 'Travel', 'Browser'])
  await form.getByRole('button', { name: 'More about the plan…' }).click()
  await form.getByRole('searchbox', { name: 'Find public agents' }).fill('guide')
  await form.getByRole('button', { name: 'Guide' }).click()
  await expect.element(form.getByText('Guide can now be chosen for a task.')).toBeVisible()
  expect(listNames()).toEqual(['Choose an agent', 'Finance', 'Travel', 'Browser', 'Guide'])
})

it('marks the fields that are wrong, in its own words and in those of the server', async () => {
  const { form } = await openForm()
  await form.getByRole('button', { name: 'Start 1 task' }).click()
  const userInput = form.getByLabelText('What is this for?')
  await expect.element(userInput).toHaveFocus()
  for (const label of ['What is this for?', 'Agent of task 1', 'Description of task 1'])
    await expect.element(form.getByLabelText(label)).toHaveAttribute('aria-invalid', 'true')
  await fillIn(form)
  await expect.element(userInput).not.toHaveAttribute('aria-invalid')
  expect(listPlans()).toEqual([])

  answer = [
    400,
    { error: { code: 'invalid', message: '', hints: ['tasks.1.agent_id: It accepts no tasks.', 'Another problem.'] } },
  ]
  await form.getByRole('button', { name: 'Start 2 tasks' }).click()
  const second = form.getByLabelText('Agent of task 2')
  await expect.element(second).toHaveFocus()
  await expect
    .element(second)
    .toHaveAccessibleDescription('This agent gets no tasks in this workspace. Choose another one.')
  await expect.element(form.getByText('Another problem.')).toBeVisible()
  await second.selectOptions('Browser')
  await expect.element(second).not.toHaveAttribute('aria-invalid')
  answer = [201, created]
  await form.getByRole('button', { name: 'Start 2 tasks' }).click()
  await vi.waitFor(() => expect(listPlans()).toHaveLength(2))
})

it('keeps what was written when it is closed, until it is emptied or started', async () => {
  const first = await openForm()
  await fillIn(first.form)
  await first.screen.unmount()
  const second = await openForm()
  await expect.element(second.form.getByLabelText('Description of task 2')).toHaveValue('Plan the days')
  await second.form.getByRole('button', { name: 'Empty the form' }).click()
  await expect.element(second.form.getByLabelText('What is this for?')).toHaveValue('')
  await fillIn(second.form)
  await second.form.getByRole('button', { name: 'Start 2 tasks' }).click()
  await vi.waitFor(() => expect(second.onClose).toHaveBeenCalledOnce())
  await second.screen.unmount()
  const third = await openForm()
  await expect.element(third.form.getByLabelText('What is this for?')).toHaveValue('')
})

it('asks for named values, marks one without a name, and sends their schema', async () => {
  const { form } = await openForm()
  await fillIn(form)
  const task = form.getByRole('listitem', { name: 'Task 1' })
  await task.getByRole('button', { name: 'More… Task 1' }).click()
  await task.getByRole('button', { name: 'Value', exact: true }).click()
  await form.getByRole('button', { name: 'Start 2 tasks' }).click()
  const name = task.getByLabelText('Name of value 1 of the answer')
  await expect.element(task.getByText('Give each value a name of its own.')).toBeVisible()
  await expect.element(name).toHaveAttribute('aria-invalid', 'true')
  expect(listPlans()).toEqual([])
  await name.fill('total')
  await task.getByLabelText('Kind of value 1 of the answer').selectOptions('Number')
  await task.getByRole('button', { name: 'Edit as JSON Schema' }).click()
  await expect
    .element(task.getByLabelText('JSON Schema of the answer of task 1'))
    .toHaveValue(
      JSON.stringify(
        { type: 'object', properties: { total: { type: 'number' } }, required: ['total'], additionalProperties: false },
        null,
        2,
      ),
    )
  answer = [400, { error: { code: 'invalid', message: 'No.', hints: ['The output schema of task 1 is not valid.'] } }]
  await form.getByRole('button', { name: 'Start 2 tasks' }).click()
  await expect.element(task.getByText('The output schema of task 1 is not valid.')).toBeVisible()
  expect(listPlans()[0]?.tasks.map(each => each.output_schema ?? null)).toEqual([
    { type: 'object', properties: { total: { type: 'number' } }, required: ['total'], additionalProperties: false },
    null,
  ])
})
