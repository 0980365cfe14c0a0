import axe from 'axe-core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { ActorRow, ApprovalAskedRow, ApprovalDecided } from '@/api'
import { buildChatContext } from '@/testing/chatContext'
import { answerByPath, answerRequests, withQueries } from '@/testing/restServer'
import { messageRow } from '@/testing/rows'
import { ApprovalCard } from './ApprovalCard'
import { ChatContext, type ChatContextValue } from './ChatContext'
import { ToolCallPart } from './ToolCallPart'

let requests: ReturnType<typeof answerByPath>
/** Lists the decisions that were sent. */
const listDecisions = () => requests.map(({ body }) => body)

const names: Record<string, string> = { alice: 'Alice', bob: 'Bob', scribe: 'Scribe' }
const context = buildChatContext({
  isEditor: false,
  findActor: id => (id && names[id] ? ({ id, name: names[id] } as ActorRow) : null),
})

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000 + 30_000).toISOString()
const asked = (payload: Partial<ApprovalAskedRow['payload']> = {}) =>
  messageRow(9, {
    type: 'APPROVAL_ASKED',
    payload: {
      call_id: 'call',
      tool: 'write_file',
      arguments: '{"name": "notes.md", "count": 2}',
      reason: 'others',
      question: null,
      target_id: 'scribe',
      target_name: 'Scribe',
      person_id: 'alice',
      person_name: 'Alice',
      expires_at: inHours(23),
      ...payload,
    },
  }) as ApprovalAskedRow
const choices = [
  { label: 'Night openings', description: '41% of readers' },
  { label: 'Rail pass', description: '' },
]
const question = { text: 'What leads?', choices, allow_free_answer: true }

const show = (row: ApprovalAskedRow, chat: Partial<ChatContextValue> = {}) =>
  render(
    withQueries(
      <ChatContext value={{ ...context, ...chat }}>
        <ApprovalCard row={row} />
      </ChatContext>,
    ),
  )

beforeEach(() => {
  requests = answerByPath({ 'POST /approvals/m9/decide': {} })
  sessionStorage.clear()
  localStorage.clear()
})
afterEach(() => vi.restoreAllMocks())

it('asks the person whom the run works for, and sends one decision', async () => {
  const screen = await show(asked())
  await expect.element(screen.getByText('Scribe wants to run write_file')).toBeVisible()
  await expect.element(screen.getByText('notes.md')).toBeVisible()
  await expect.element(screen.getByText('expires in 23 h 0 min')).toBeVisible()
  await expect.element(screen.getByText('You or any editor can decide')).toBeVisible()
  expect((await axe.run(screen.container, { rules: { region: { enabled: false } } })).violations).toEqual([])
  const approve = screen.getByRole('button', { name: 'Approve', exact: true })
  await approve.click()
  await approve.click({ force: true })
  await vi.waitFor(() => expect(listDecisions()).toEqual([{ decision: 'approved', note: '', answer: '' }]))
})

it('is reached before its buttons, and approved by a key of its own, also with edits', async () => {
  const screen = await show(asked())
  await expect.element(screen.getByText('notes.md')).toBeVisible()
  await userEvent.keyboard('{Control>}{Enter}{/Control}')
  await userEvent.tab()
  await expect.element(screen.getByRole('region', { name: 'Approval: write_file' })).toHaveFocus()
  await userEvent.keyboard('{Enter}')
  expect(listDecisions()).toEqual([])
  await screen.getByRole('button', { name: 'Refuse…' }).click()
  await userEvent.keyboard('{Control>}{Enter}{/Control}')
  expect(listDecisions()).toEqual([])
  await screen.getByRole('button', { name: 'Back' }).click()
  await screen.getByRole('button', { name: 'Edit' }).click()
  await screen.getByLabelText('count').fill('3')
  await userEvent.keyboard('{Control>}{Enter}{/Control}')
  const edited = { decision: 'approved', arguments: '{"name":"notes.md","count":3}', note: '', answer: '' }
  await vi.waitFor(() => expect(listDecisions()).toEqual([edited]))
})

it('has no buttons for a reader who may not decide, and has them for an editor', async () => {
  const screen = await show(asked({ person_id: 'bob', person_name: 'Bob' }))
  await expect.element(screen.getByText('Bob or an editor decides')).toBeVisible()
  await expect.element(screen.getByRole('button')).not.toBeInTheDocument()
  await screen.unmount()
  const other = await show(asked({ person_id: 'bob', person_name: 'Bob' }), { isEditor: true })
  await other.getByRole('button', { name: 'Approve for this run' }).click()
  await vi.waitFor(() => expect(listDecisions()).toEqual([{ decision: 'approved_for_run', note: '', answer: '' }]))
})

it('approves with edited arguments', async () => {
  const screen = await show(asked())
  await screen.getByRole('button', { name: 'Edit' }).click()
  await screen.getByLabelText('count').fill('many')
  const invalid = screen.getByRole('button', { name: 'Approve with 1 edit' })
  await expect.element(invalid).toHaveAttribute('aria-disabled', 'true')
  await screen.getByLabelText('count').fill('3')
  await expect.element(screen.getByText('2', { exact: true })).toBeVisible()
  await invalid.click()
  const edited = { decision: 'approved', arguments: '{"name":"notes.md","count":3}', note: '', answer: '' }
  await vi.waitFor(() => expect(listDecisions()).toEqual([edited]))
})

it('keeps the focus in the card while its forms open and close', async () => {
  const screen = await show(asked())
  await screen.getByRole('button', { name: 'Edit' }).click()
  await expect.element(screen.getByLabelText('name')).toHaveFocus()
  await screen.getByRole('button', { name: 'Cancel' }).click()
  await expect.element(screen.getByRole('button', { name: 'Edit' })).toHaveFocus()
  await screen.getByRole('button', { name: 'Refuse…' }).click()
  await screen.getByRole('button', { name: 'Back' }).click()
  await expect.element(screen.getByRole('button', { name: 'Refuse…' })).toHaveFocus()
})

it('refuses with a note to the agent', async () => {
  const screen = await show(asked())
  await screen.getByRole('button', { name: 'Refuse…' }).click()
  await screen.getByRole('button', { name: 'Not now' }).click()
  await screen.getByRole('button', { name: 'Refuse', exact: true }).click()
  await vi.waitFor(() => expect(listDecisions()).toEqual([{ decision: 'refused', note: 'Not now', answer: '' }]))
})

it('shows what the model wrote as data, with its hidden characters', async () => {
  const args = JSON.stringify({ name: '**Approved**\u202egnp.exe', 'te\u200bxt': '<b>x</b>' })
  const screen = await show(asked({ arguments: args, tool: 'write\u2066_file' }))
  await expect.element(screen.getByText('**Approved**⟨U+202E⟩gnp.exe')).toBeVisible()
  await expect.element(screen.getByText('te⟨U+200B⟩xt')).toBeVisible()
  await expect.element(screen.getByText('<b>x</b>')).toBeVisible()
  await expect.element(screen.getByText('write⟨U+2066⟩_file')).toBeVisible()
})

it('has no time left when it expires', async () => {
  const screen = await show(asked({ expires_at: '2020-01-01T00:00:00Z' }))
  await expect.element(screen.getByText('expires in 0 min')).toBeVisible()
})

it('can be decided again after an error', async () => {
  const sent = answerRequests(() => [sent.length === 1 ? 500 : 200, {}])
  const screen = await show(asked())
  const approve = screen.getByRole('button', { name: 'Approve', exact: true })
  await approve.click()
  await expect.element(approve).not.toHaveAttribute('aria-disabled')
  await approve.click()
  await vi.waitFor(() => expect(sent).toHaveLength(2))
})

it('answers a question by its number or by own words', async () => {
  const screen = await show(asked({ question, reason: null }))
  await expect.element(screen.getByText('Scribe asks you. The run waits for your answer.')).toBeVisible()
  await userEvent.keyboard('3')
  await userEvent.keyboard('2')
  await vi.waitFor(() => expect(listDecisions()).toEqual([{ decision: 'answered', choice: 1, note: '', answer: '' }]))
  await screen.unmount()
  const other = await show(asked({ question, reason: null }))
  await other.getByRole('textbox', { name: 'Your answer' }).fill('1 of both')
  await other.getByRole('button', { name: 'Answer', exact: true }).click()
  await vi.waitFor(() =>
    expect(listDecisions().at(-1)).toEqual({ decision: 'answered', answer: '1 of both', note: '' }),
  )
})

it('shows the question of another person without a way to answer it', async () => {
  const screen = await show(asked({ question, reason: null, person_id: 'bob', person_name: 'Bob' }))
  await expect.element(screen.getByText('Scribe asks Bob. The run waits for the answer.')).toBeVisible()
  await expect.element(screen.getByRole('button', { name: /Rail pass/ })).toBeDisabled()
  await expect.element(screen.getByRole('textbox')).not.toBeInTheDocument()
  await userEvent.keyboard('2')
  expect(requests).toEqual([])
})

it.each([
  ['approved', 'ok', { actor_id: 'alice' }, 'Approved by you'],
  ['approved', 'ok', { actor_id: 'bob', arguments: '{"count": 3}' }, 'Approved by Bob, edited'],
  ['refused', 'rejected', { actor_id: 'bob' }, 'Refused by Bob'],
  ['answered', 'ok', { actor_id: 'bob' }, 'Answered by Bob'],
  ['expired', 'rejected', {}, 'Expired'],
] as const)('becomes one line when it is %s', async (decision, status, more, text) => {
  const decided: ApprovalDecided = {
    call_id: 'call',
    decision,
    actor_id: null,
    actor_name: '',
    note: '',
    arguments: null,
    ...more,
  } as ApprovalDecided
  const response = { tool_call_id: 'call', name: 'write_file', status, text: 'x', data: null }
  const screen = await render(
    <ChatContext value={context}>
      <ToolCallPart
        part={{
          kind: 'tool',
          key: 'k',
          callId: 'call',
          name: 'write_file',
          args: '{}',
          isStreaming: false,
          response,
          decision: decided,
        }}
      />
    </ChatContext>,
  )
  await expect.element(screen.getByText(text, { exact: true })).toBeVisible()
  await expect.element(screen.getByRole('button', { name: 'Approve', exact: true })).not.toBeInTheDocument()
})

const chatTarget = {
  type: 'chat',
  chat_id: 'c2',
  title: 'Support',
  member: '',
  workspace_id: 'w1',
  workspace_name: 'Guides',
  readers: [
    { actor_id: 'paul', name: 'Paul', is_new: true },
    { actor_id: 'alice', name: 'Alice', is_new: false },
  ],
  is_hidden: false,
} as const

it('says where a call goes and who reads it, and is not approved before that is read', async () => {
  let release: () => void = () => {}
  const isReleased = new Promise<void>(resolve => {
    release = resolve
  })
  answerRequests(async () => {
    await isReleased
    return [200, { target: chatTarget }]
  })
  const screen = await show(asked({ tool: 'send_message', has_target: true }))
  const approve = screen.getByRole('button', { name: 'Approve', exact: true })
  await expect.element(approve).toHaveAttribute('aria-disabled', 'true')
  release()
  const target = screen.getByRole('region', { name: 'Where it goes' })
  await expect.element(target).toHaveTextContent('Writes into “Support” in the workspace Guides')
  await expect.element(target).toHaveTextContent('Read by Paul and Alice.')
  await expect.element(target).toHaveTextContent("Paul doesn't read this chat.")
  await expect.element(approve).not.toHaveAttribute('aria-disabled', 'true')
})

it('offers only a refusal while the chat that the call writes into is hidden', async () => {
  const hidden = { ...chatTarget, title: '', readers: [], is_hidden: true }
  requests = answerByPath({ 'GET /approvals/m9': { target: hidden } })
  const screen = await show(asked({ tool: 'send_message', has_target: true }))
  await expect.element(screen.getByText("You can't approve it, because you aren't in the chat")).toBeVisible()
  await expect.element(screen.getByRole('button', { name: 'Refuse…' })).toBeVisible()
  await expect.element(screen.getByRole('button', { name: 'Approve', exact: true })).not.toBeInTheDocument()
  await expect.element(screen.getByRole('button', { name: 'Edit' })).not.toBeInTheDocument()
})

it('says which server is called, and that a call which leaves the chat needs its own approval', async () => {
  const server = {
    type: 'server',
    server: 'Bank',
    host: 'bank.example',
    method: 'POST',
    path: '/payments',
    effect: 'write',
  }
  requests = answerByPath({ 'GET /approvals/m9': { target: server } })
  const screen = await show(
    asked({
      tool: 'pay',
      has_target: true,
      reason: 'outside',
      read_texts: 'outside',
      asked_again: 'texts',
      can_approve_for_run: false,
    }),
  )
  const target = screen.getByRole('region', { name: 'Where it goes' })
  await expect.element(target).toHaveTextContent('Calls Bank bank.examplePOST /paymentsIt can change something there.')
  await expect.element(screen.getByText('since then the run has read text from outside')).toBeVisible()
  await expect.element(screen.getByText('each call that leaves this chat needs its own approval')).toBeVisible()
  await expect.element(screen.getByRole('button', { name: 'Approve for this run' })).not.toBeInTheDocument()
})
