import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { ActorRow, AnyRow, BoardRow, BoardTaskRow, MessageMetadata, RunRow } from '@/api'
import { setStorageOwner } from '@/lib/storage'
import { chatState, upsertRows } from '@/realtime'
import { run as buildRun } from '@/realtime/server.testing'
import { buildChatContext, emptyPart, nothingUnread } from '@/testing/chatContext'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { answerByPath, answerRequests, listChanges, newQueryClient, withQueries } from '@/testing/restServer'
import { boardRow, boardTaskRow, type MessageChange, messageRow, systemRow, taskResult } from '@/testing/rows'
import { useBoardPlaces, useBoardsByCall, useEndedBoards, useMessages, useSubAgentRuns } from '../hooks'
import { buildItems } from '../timeline'
import { ChatContext, type ChatContextValue } from './ChatContext'
import { Timeline } from './Timeline'

const noop = () => undefined
const actors = [
  { id: 'alice', name: 'Alice', kind: 'human' },
  { id: 'bob', name: 'Bob', kind: 'human' },
  { id: 'robin', name: 'Travel lead', kind: 'agent' },
] as unknown as ActorRow[]
const findActor = (id: string | null | undefined) => actors.find(actor => actor.id === id) ?? null

/** The log of the chat `c`, as the page shows it. */
function Log({ context }: { context: ChatContextValue }) {
  const messages = useMessages('c')
  const boards = useBoardPlaces('c')
  const boardsByCall = useBoardsByCall('c')
  const subAgentRuns = useSubAgentRuns('c')
  useEndedBoards('c', messages)
  const activeBoards = new Set(boards.filter(board => !board.ended_at).map(board => board.id))
  const more = { boards, boardsByCall, activeBoards, subAgentRuns }
  const items = buildItems({ messages, unsent: [], active: [], unreadAfter: null, me: context.me, ...more })
  const common = { part: emptyPart, reading: nothingUnread, target: null, goTo: noop, ref: null }
  return (
    <ChatContext value={context}>
      <div style={{ display: 'grid', height: '760px' }}>
        <Timeline items={items} messages={messages} {...common} />
      </div>
    </ChatContext>
  )
}

let requests: ReturnType<typeof answerRequests>
/** What the server has of the board `b`, and what each request about it returns. */
let stored: { board: BoardRow; tasks: BoardTaskRow[] }

beforeEach(async () => {
  await page.viewport(1200, 800)
  stored = { board: boardRow(), tasks: [] }
  requests = answerRequests(({ path }) =>
    path.startsWith('/boards/') ? [200, stored] : [404, { error: { code: 'not_found', message: '' } }],
  )
})
afterEach(() => {
  closeChat()
  vi.restoreAllMocks()
  localStorage.clear()
  setStorageOwner(null)
})

const planCall = messageRow(2, {
  id: 'call',
  author_id: 'robin',
  run_id: 'r',
  type: 'TOOL_CALL',
  payload: { call_id: 'plan', name: 'plan_tasks', arguments: '{}', step: 1 },
})
const supervisor: RunRow = { ...buildRun('r', 1, 'waiting_board'), agent_id: 'robin', on_behalf_of: 'alice' }

async function show(board: BoardRow, tasks: readonly BoardTaskRow[], more: readonly AnyRow[] = [], me = 'alice') {
  const isOfSupervisor = board.supervisor_run_id !== null
  const anchor = isOfSupervisor ? [planCall, ...(board.ended_at ? [] : [supervisor])] : []
  await loadChat([...anchor, { ...board, task_count: Math.max(1, tasks.length) }, ...tasks, ...more])
  const context = buildChatContext({ me, isEditor: false, findActor, runPath: id => `/runs/${id}` })
  return render(withQueries(<Log context={context} />, newQueryClient()))
}

const done = (number: number, more: Partial<BoardTaskRow> = {}) =>
  boardTaskRow(number, {
    state: 'succeeded',
    attempt: 1,
    run_id: `r${number}`,
    results: [taskResult({ text: `Result ${number}`, run_id: `r${number}` })],
    cost_micro: 4_000,
    started_at: '2026-11-20T10:00:00Z',
    ended_at: '2026-11-20T10:01:00Z',
    ...more,
  })
const failure = (attempt: number) =>
  taskResult({
    attempt,
    success: false,
    text: '',
    error: 'rates.example did not answer',
    error_code: 'timeout_total',
    execution_time: 20,
  })
const failed = (number: number, more: Partial<BoardTaskRow> = {}) =>
  boardTaskRow(number, {
    state: 'failed',
    reason_code: 'timeout_total',
    attempt: 2,
    run_id: `r${number}`,
    results: [failure(1), failure(2)],
    cost_micro: 9_000,
    ended_at: '2026-11-20T10:01:00Z',
    ...more,
  })
const metadataOf = (task: BoardTaskRow): MessageMetadata => ({
  agent: { kind: 'sub', name: 'a', displayName: task.agent_name, depth: 1, path: ['alice', 'a'] },
  call_id: task.id,
  avatar: null,
})
const runOf = (task: BoardTaskRow, more: Partial<RunRow> = {}): RunRow => ({
  ...buildRun(task.run_id ?? '', 1, 'running'),
  agent_id: task.agent_id,
  on_behalf_of: 'alice',
  max_steps: 10,
  steps: 2,
  metadata: metadataOf(task),
  ...more,
})
const textOf = (task: BoardTaskRow, seq: number, text: string, more: MessageChange = {}) =>
  messageRow(seq, {
    author_id: task.agent_id,
    run_id: task.run_id,
    metadata: metadataOf(task),
    payload: { text },
    ...more,
  })
const ended = { ended_at: '2026-11-20T10:02:00Z' }

it('shows a board in place of the call that made its plan, with the stream of a task that works', async () => {
  const working = boardTaskRow(3, { state: 'running', attempt: 1, run_id: 'r3', after: [1], parameters: { days: 4 } })
  const board = boardRow({ reasoning: 'The weather decides.', cost_micro: 52_000, estimate_micro: 90_000 })
  const screen = await show(
    board,
    [done(1), failed(2), working],
    [runOf(working), textOf(working, 3, 'Day 2, dry until evening.')],
  )
  const region = screen.getByRole('region', { name: 'Board, 3 tasks' })
  await expect.element(region.getByText('1 done · 1 working · 1 failed')).toBeVisible()
  await expect.element(region.getByRole('button', { name: '$0.052 of about $0.090' })).toBeVisible()
  await expect.element(region.getByText('The weather decides.')).toBeVisible()
  // A task that is done is one line, with its result in place of its description.
  await expect.element(region.getByText('Result 1')).toBeVisible()
  expect(region.getByText('Description 1').elements()).toEqual([])
  await expect.element(region.getByText('failed twice')).toBeVisible()
  await expect.element(region.getByText('Day 2, dry until evening.')).toBeVisible()
  await expect.element(region.getByText('step 3 of 10')).toBeVisible()
  await expect.element(region.getByText('after 1')).toBeVisible()
  await expect.element(region.getByText('days 4')).toBeVisible()
  expect(
    region
      .getByRole('link', { name: 'open' })
      .elements()
      .map(link => link.getAttribute('href')),
  ).toEqual(['/runs/r1', '/runs/r1'])
  await expect.element(screen.getByText('answers when 3 is done')).toBeVisible()
  // The call itself is not shown, and the run of the task is no reply of its own.
  expect(screen.getByText('plan_tasks').elements()).toEqual([])
  expect(screen.getByRole('article').elements()).toHaveLength(1)
})

it('shows what each state means', async () => {
  const states: [Partial<BoardRow>, BoardTaskRow[], string][] = [
    [{ state: 'init' }, [], 'Planning'],
    [{ state: 'init', error: 'Task 3 names no agent.' }, [], 'Planning again'],
    [{ state: 'aggregating' }, [done(1), failed(2)], '1 done · 1 failed · putting the answer together'],
    [
      { pause_reason: 'person', paused_by: 'bob' },
      [done(1), boardTaskRow(2, { state: 'ready' })],
      'paused by Bob · 1 done · 1 waiting',
    ],
    [
      { state: 'failed', reason_code: 'stopped', stopped_by: 'bob', ...ended },
      [
        done(1),
        boardTaskRow(2, { state: 'cancelled', reason_code: 'stopped', attempt: 1, ...ended }),
        boardTaskRow(3, { state: 'cancelled', reason_code: 'stopped', ...ended }),
        boardTaskRow(4, { state: 'skipped', reason_code: 'join', ...ended }),
      ],
      'stopped by Bob · 1 done · 1 stopped · 1 skipped · 1 not started',
    ],
    [{ state: 'failed', reason_code: 'no_results', ...ended }, [failed(1)], 'failed · 1 failed'],
  ]
  for (const [board, tasks, text] of states) {
    const screen = await show(boardRow(board), tasks)
    await expect.element(screen.getByRole('region', { name: /^Board/ }).getByText(text, { exact: true })).toBeVisible()
    await screen.unmount()
    closeChat()
  }
})

it('folds a plan that was not valid to one line with its details', async () => {
  const board = boardRow({ state: 'failed', reason_code: 'plan_invalid', error: 'Task 3 names no agent.', ...ended })
  const screen = await show(board, [])
  const line = screen.getByRole('button', {
    name: 'Travel lead answered without its team: the plan was not valid twice',
  })
  await line.click()
  await expect.element(screen.getByText('Task 3 names no agent.')).toBeVisible()
})

it('finds a plan that was not valid in the list of boards, since no message is about it', async () => {
  const invalid = boardRow({
    state: 'failed',
    reason_code: 'plan_invalid',
    error: 'No agent.',
    task_count: 0,
    ...ended,
  })
  vi.restoreAllMocks()
  requests = answerByPath({ 'GET /chats/c/boards?limit=50': { results: [invalid], next: null } })
  await loadChat([planCall])
  const context = buildChatContext({ findActor })
  const screen = await render(withQueries(<Log context={context} />, newQueryClient()))
  await expect.element(screen.getByRole('button', { name: /the plan was not valid twice$/ })).toBeVisible()
  expect(requests).toHaveLength(1)
})

it('shows a plan by hand below its message, with the result of its only task and what is missing', async () => {
  const byHand = { planned_by: 'person', supervisor_run_id: null, call_id: null, message_id: 'm' } as const
  const board = boardRow({ ...byHand, state: 'completed', final_response: 'It is **dry**.', ...ended })
  const screen = await show(board, [done(1), failed(2)], [systemRow('TASKS_STARTED', { board_id: 'b', tasks: 2 })])
  await expect.element(screen.getByText('dry', { exact: true })).toBeVisible()
  const missing = screen.getByRole('list', { name: 'What is missing' })
  await expect.element(missing.getByText('Missing: task 2, Agent 2.')).toBeVisible()
})

it('reads the ended board of a message, which the socket does not send', async () => {
  stored = {
    board: boardRow({ supervisor_run_id: null, message_id: 'm', state: 'completed', version: 1, ...ended }),
    tasks: [done(1, { version: 1 })],
  }
  await loadChat([systemRow('TASKS_STARTED', { board_id: 'b', tasks: 1 })])
  const context = buildChatContext({ findActor })
  const screen = await render(withQueries(<Log context={context} />, newQueryClient()))
  await expect.element(screen.getByText('Result 1')).toBeVisible()
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /boards/b'])
  expect(chatState('c').rows.board_task.size).toBe(1)
})

it('shows a result that follows a schema as a table of its values, and in one line while it is folded', async () => {
  stored = {
    board: boardRow({ supervisor_run_id: null, message_id: 'm', state: 'completed', version: 1, ...ended }),
    tasks: [done(1, { version: 1 })],
  }
  const text = '{"total": 12.5, "note": "Dry days", "days": [19, 20]}'
  stored.tasks = [done(1, { results: [taskResult({ text, follows_schema: true, run_id: 'r1' })] })]
  await loadChat([systemRow('TASKS_STARTED', { board_id: 'b', tasks: 1 })])
  const screen = await render(withQueries(<Log context={buildChatContext({ findActor })} />, newQueryClient()))
  const line = screen.getByRole('button', { name: /total: 12.5 · note: Dry days · days: \[19,20\]/ })
  await line.click()
  const table = screen.getByRole('table', { name: 'Values of the result' })
  await expect.element(table.getByRole('row', { name: 'total 12.5' })).toBeVisible()
  await expect.element(table.getByRole('row', { name: 'note Dry days' })).toBeVisible()
  await expect.element(table.getByRole('row', { name: /^days \[\s*19,\s*20\s*\]$/ })).toBeVisible()
  upsertRows('c', [{ ...stored.board, version: 2, final_response: text }])
  await expect.element(table.nth(1).getByRole('row', { name: 'total 12.5' })).toBeVisible() // below the board
})

it('looks for the board of a task in the list, if no loaded message names it', async () => {
  const id = '01a22468-dfc1-719e-9f1a-0942a87087f3'
  const task = done(1, { id, version: 1 })
  const during = { created_at: '2026-11-20T10:00:30Z' }
  const board = boardRow({ supervisor_run_id: null, message_id: 'm', state: 'completed', ...ended })
  vi.restoreAllMocks()
  const other = boardRow({ id: 'other', created_at: '2026-11-20T11:00:00Z', ended_at: '2026-11-20T12:00:00Z' })
  requests = answerByPath({
    'GET /chats/c/boards?limit=50': { results: [other, board], next: null },
    'GET /boards/b': { board, tasks: [task] },
  })
  await loadChat([textOf(task, 3, 'It is dry.', during)])
  const context = buildChatContext({ findActor })
  const screen = await render(withQueries(<Log context={context} />, newQueryClient()))
  await expect.element(screen.getByRole('region', { name: 'Board, 1 task' })).toBeVisible()
  expect(requests.map(({ path }) => path)).toEqual(['/chats/c/boards?limit=50', '/boards/b'])
})

it('is folded to its head once it was seen with its answer at an earlier visit', async () => {
  setStorageOwner('alice')
  const under = await show(boardRow(), [done(1), boardTaskRow(2)])
  await expect.element(under.getByText('Result 1')).toBeVisible()
  await under.unmount()
  closeChat()
  const answered = boardRow({ state: 'completed', ...ended })
  const first = await show(answered, [done(1), failed(2)])
  await expect.element(first.getByText('Result 1')).toBeVisible()
  await first.unmount()
  closeChat()
  const next = await show(answered, [done(1), failed(2)])
  const head = next.getByRole('button', { name: '2 tasks' })
  await expect.element(head).toHaveAttribute('aria-expanded', 'false')
  await expect.element(next.getByText('1 done · 1 failed')).toBeVisible()
  expect(next.getByText('Result 1').elements()).toEqual([])
  await head.click()
  await expect.element(next.getByText('Result 1')).toBeVisible()
})

describe('equal calls', () => {
  /** A task whose run waits with a call of `hold_rooms`. */
  const waiting = (number: number, args: string): [BoardTaskRow, AnyRow[]] => {
    const task = boardTaskRow(number, { state: 'running', attempt: 1, run_id: `r${number}` })
    const of = { author_id: task.agent_id, run_id: task.run_id, metadata: metadataOf(task) }
    const call = { call_id: `call ${number}`, arguments: args }
    const asked = {
      ...call,
      tool: 'hold_rooms',
      reason: 'policy',
      target_id: task.agent_id,
      target_name: task.agent_name,
      person_id: 'alice',
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    }
    return [
      task,
      [
        runOf(task, { state: 'waiting_approval' }),
        messageRow(number * 2 + 1, { ...of, type: 'TOOL_CALL', payload: { ...call, name: 'hold_rooms', step: 1 } }),
        messageRow(number * 2 + 2, { ...of, type: 'APPROVAL_ASKED', payload: asked }),
      ],
    ]
  }
  const build = () => [waiting(1, '{"rooms":3}'), waiting(2, '{"rooms":3}'), waiting(3, '{"rooms":4}')] as const
  /** Shows them, with the card of each call. */
  const showThem = async (me: string) => {
    const all = build()
    const screen = await show(
      boardRow(),
      all.map(([task]) => task),
      all.flatMap(([, rows]) => rows),
      me,
    )
    await expect.poll(() => screen.getByRole('region', { name: 'Approval: hold_rooms' }).elements()).toHaveLength(3)
    return screen
  }

  it('are approved together, once', async () => {
    const screen = await showThem('alice')
    const card = screen.getByRole('region', { name: 'Equal calls: hold_rooms' })
    await expect.element(card.getByText('Tasks 1 and 2 want to run hold_rooms')).toBeVisible()
    await expect.element(card.getByText('3', { exact: true })).toBeVisible()
    const approve = card.getByRole('button', { name: 'Approve all 2' })
    await approve.click()
    await approve.click({ force: true })
    await expect.element(approve).toHaveAttribute('aria-busy', 'true')
    expect(listChanges(requests)).toEqual([['POST /boards/b/approvals/m4/decide', { decision: 'approved', note: '' }]])
  })

  it('are refused together with a note, again after a refusal of the server', async () => {
    vi.restoreAllMocks()
    let status = 409
    requests = answerRequests(() => [status, { error: { code: 'approval_decided', message: '' } }])
    const screen = await showThem('alice')
    const card = screen.getByRole('region', { name: 'Equal calls: hold_rooms' })
    await card.getByRole('button', { name: 'Refuse all 2…' }).click()
    await card.getByRole('button', { name: 'Not now' }).click()
    const refuse = card.getByRole('button', { name: 'Refuse all 2' })
    await refuse.click()
    await vi.waitFor(() => expect(listChanges(requests)).toHaveLength(1))
    await expect.element(refuse).not.toHaveAttribute('aria-busy')
    status = 200
    await refuse.click()
    await vi.waitFor(() => expect(listChanges(requests)).toHaveLength(2))
    const refusal = ['POST /boards/b/approvals/m4/decide', { decision: 'refused', note: 'Not now' }]
    expect(listChanges(requests)).toEqual([refusal, refusal])
  })

  it('are offered only to those who may decide', async () => {
    const screen = await showThem('bob')
    expect(screen.getByRole('region', { name: 'Equal calls: hold_rooms' }).elements()).toEqual([])
  })
})

describe('actions', () => {
  it('pause, stop and retry send one request each, and show what it returns', async () => {
    const tasks = [failed(1), boardTaskRow(2, { state: 'ready' })]
    stored = { board: boardRow({ task_count: 2 }), tasks }
    const screen = await show(boardRow(), tasks)
    await screen.getByRole('button', { name: 'Try again' }).click()
    await vi.waitFor(() => expect(listChanges(requests)).toHaveLength(1))
    stored.board = { ...stored.board, version: 2, pause_reason: 'person', paused_by: 'alice' }
    await screen.getByRole('button', { name: 'Pause the board' }).click()
    await expect.element(screen.getByText('paused by Alice · 1 failed · 1 waiting')).toBeVisible()
    await screen.getByRole('button', { name: 'Continue the board' }).click()
    await vi.waitFor(() => expect(listChanges(requests)).toHaveLength(3))
    expect(listChanges(requests)).toEqual([
      ['POST /boards/b/tasks/1/retry', { description: null, parameters: null }],
      ['POST /boards/b/pause', null],
      ['POST /boards/b/resume', { limit_micro: null }],
    ])
  })

  it('are disabled with the reason for those who may not', async () => {
    const screen = await show(boardRow(), [failed(1), boardTaskRow(2, { state: 'ready' })], [], 'bob')
    for (const name of ['Pause the board', 'Stop the board', 'Try again', 'Change and run again…']) {
      const button = screen.getByRole('button', { name })
      await expect.element(button).toHaveAttribute('aria-disabled', 'true')
      const reason = 'Only Alice, for whom this is done, and editors can do this.'
      await expect.element(button).toHaveAttribute('aria-description', reason)
    }
    ;(screen.getByRole('button', { name: 'Stop the board' }).element() as HTMLElement).click()
    expect(listChanges(requests)).toEqual([])
  })

  it('of a board at its limit raise it, or answer with what there is', async () => {
    const board = boardRow({ pause_reason: 'budget', limit_micro: 100_000, cost_micro: 100_000 })
    stored = { board: { ...board, version: 2, task_count: 2 }, tasks: [] }
    const screen = await show(board, [done(1), boardTaskRow(2, { state: 'ready' })])
    await expect.element(screen.getByText('Paused: this board’s limit of $0.100 is used.')).toBeVisible()
    await screen.getByRole('button', { name: 'Allow $0.050 more' }).click()
    await screen.getByRole('button', { name: 'Answer with what there is' }).click()
    await vi.waitFor(() => expect(listChanges(requests)).toHaveLength(2))
    expect(listChanges(requests)).toEqual([
      ['POST /boards/b/resume', { limit_micro: 150_000 }],
      ['POST /boards/b/answer', null],
    ])
  })

  it('run an ended board again from a task with another description', async () => {
    const board = boardRow({ state: 'completed', ...ended })
    const screen = await show(board, [done(1), failed(2, { parameters: { people: 6 } }), done(3)])
    stored = { board: { ...board, version: 2 }, tasks: [] }
    await screen.getByRole('button', { name: 'Run 2 again…' }).click()
    const dialog = screen.getByRole('dialog', { name: 'Run task 2 again: Agent 2' })
    await expect.element(dialog.getByText(/reuses 1, 3 of the board/)).toBeVisible()
    await userEvent.fill(dialog.getByLabelText('Description').element(), 'At yesterday’s rate')
    await userEvent.fill(dialog.getByLabelText('Value of people').element(), '7')
    await dialog.getByRole('button', { name: 'Run 2 again' }).click()
    await vi.waitFor(() => expect(dialog.elements()).toEqual([]))
    const change = { number: 2, description: 'At yesterday’s rate', parameters: { people: 7 } }
    expect(listChanges(requests)).toEqual([['POST /boards/b/fork', { id: expect.any(String), ...change }]])
  })
})

describe('keys of a task', () => {
  it('fold, move and open the form', async () => {
    const screen = await show(boardRow({ state: 'completed', ...ended }), [done(1), failed(2), done(3)])
    const toggles = screen.container.getElementsByTagName('button')
    const find = (name: string) => [...toggles].find(each => each.textContent?.includes(name)) as HTMLElement
    const isOpen = () => [1, 2, 3].map(n => find(`Agent ${n}`).getAttribute('aria-expanded'))
    await expect.element(screen.getByText('Result 1')).toBeVisible()
    find('Agent 1').focus()
    await userEvent.keyboard('{ArrowRight}')
    expect(isOpen()).toEqual(['true', 'false', 'false'])
    await userEvent.keyboard('{Shift>}{ArrowRight}{/Shift}')
    expect(isOpen()).toEqual(['true', 'true', 'true'])
    await userEvent.keyboard('{Shift>}{ArrowLeft}{/Shift}{ArrowDown}')
    expect(isOpen()).toEqual(['false', 'false', 'false'])
    expect(document.activeElement).toBe(find('Agent 2'))
    await userEvent.keyboard('r')
    await expect.element(screen.getByRole('dialog', { name: 'Run task 2 again: Agent 2' })).toBeVisible()
  })
})
