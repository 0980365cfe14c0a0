import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { type ActorRow, type AgentRow, type DraftRow, type SpecContent, useDraftTrial } from '@/api'
import { setStorageOwner } from '@/lib/storage'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { answerRequests, listChanges, newQueryClient, withQueries } from '@/testing/restServer'
import { Toasts } from '@/ui/Toasts'
import { toasts } from '@/ui/toast'
import { useDraftActions } from './actions'
import { CompareDialog } from './CompareDialog'
import { useWorkshop } from './draftSession'

const content = (prompt: string) => ({ prompt, tools: [] }) as unknown as SpecContent
const me = { id: 'ann', name: 'Ann' } as ActorRow
const agent = {
  actor: { id: 'a', name: 'Scribe' },
  spec: { content: content('v1'), number: 1 },
  verbs: [],
} as unknown as AgentRow
const draft = {
  kind: 'draft',
  id: 'd',
  chat_id: 'c',
  version: 1,
  agent_id: 'a',
  base_version: 1,
  status: 'drafting',
  revision: 4,
  written: content('Stored.'),
  applied: null,
  apply_count: 0,
  created_by: 'ann',
  updated_by: 'ann',
  lock_holder_id: 'ann',
  lock_expires_at: new Date(Date.now() + 600_000).toISOString(),
} as unknown as DraftRow

const DRAFT = '/chats/c/agents/a/draft'
const typed = content('Typed.')
let requests: ReturnType<typeof answerRequests>

/** Answers every write of the typed text with an error; any other request succeeds. */
function refuseText(status: number, code: string) {
  requests = answerRequests(({ method, path, body }) => {
    const write = body as { content?: SpecContent } | null
    if (method === 'PUT' && write?.content?.prompt === typed.prompt)
      return [status, { error: { code, message: '', hints: [] } }]
    const ended = path.endsWith('/discard') ? { status: 'ended', lock_holder_id: null } : {}
    return [200, { ...draft, version: 2, revision: 5, ...ended }]
  })
}

const listWithoutRetries = () => {
  const texts = listChanges(requests).map(change => JSON.stringify(change))
  return [...new Set(texts)].map(text => JSON.parse(text) as unknown)
}

function Screen({ question }: { question: string | null }) {
  const workshop = useWorkshop('c', agent, me)
  const actions = useDraftActions({ chatId: 'c', agent, workspaceId: 'w', onSuggestion: vi.fn() }, workshop)
  return (
    <>
      <button type="button" onClick={() => workshop.edit(typed)}>
        Type
      </button>
      <button type="button" onClick={() => void actions.discard()}>
        Discard
      </button>
      <output>{`${workshop.content.prompt} ${workshop.save?.status} ${workshop.lost?.content.prompt}`}</output>
      <CompareDialog
        chatId="c"
        agent={agent}
        workshop={workshop}
        text={question}
        onClose={vi.fn()}
        onStarted={vi.fn()}
      />
      <Toasts />
    </>
  )
}

const build = (question: string | null = null) => withQueries(<Screen question={question} />)

/** Renders the draft and types a text that is not stored. */
async function type(status: string) {
  const screen = await render(build())
  await screen.getByRole('button', { name: 'Type' }).click()
  await expect.element(screen.getByRole('status').first()).toHaveTextContent(`Typed. ${status} undefined`)
  return screen
}

beforeEach(async () => {
  localStorage.clear()
  setStorageOwner('ann')
  toasts.set(null)
  await loadChat([draft])
})
afterEach(() => {
  closeChat()
  vi.restoreAllMocks()
})

const write = [`PUT ${DRAFT}`, { content: typed, revision: 4 }]

it.each([
  [413, 'too_large', 'refused', 'It is too large. Make it shorter.'],
  [503, 'internal', 'retrying', 'Part of the service is not responding. Try again in a moment.'],
  [429, 'limit_reached', 'retrying', 'Part of the service is not responding. Try again in a moment.'],
])('compares nothing while the text cannot be stored (%i)', async (code, name, status, message) => {
  refuseText(code, name)
  const screen = await type(status)
  await screen.rerender(build('Hello?'))
  await screen.getByRole('button', { name: 'Apply and compare' }).click()
  await expect.element(screen.getByRole('alert')).toHaveTextContent(message)
  expect(listWithoutRetries()).toEqual([write])
})

it.each([
  [413, 'too_large', 'refused'],
  [503, 'internal', 'retrying'],
])(
  'discards a draft whose text cannot be stored (%i), keeps the text, and restores the stored one',
  async (code, name, status) => {
    refuseText(code, name)
    const screen = await type(status)
    await screen.getByRole('button', { name: 'Discard' }).click()
    await expect.element(screen.getByText('Draft of Scribe discarded.').first()).toBeVisible()
    await expect.element(screen.getByRole('status').first()).toHaveTextContent('v1 undefined Typed.')
    await screen.getByRole('button', { name: 'Undo' }).click()
    await vi.waitFor(() =>
      expect(listWithoutRetries()).toEqual([
        write,
        [`POST ${DRAFT}/discard`, { revision: 4 }],
        [`PUT ${DRAFT}`, { revision: null, content: content('Stored.') }],
      ]),
    )
  },
)

function Saving() {
  const workshop = useWorkshop('c', agent, me)
  const actions = useDraftActions({ chatId: 'c', agent, workspaceId: 'w', onSuggestion: vi.fn() }, workshop)
  useDraftTrial(workshop.draft)
  return (
    <button type="button" onClick={() => void actions.save('Shorter.', [])}>
      Save
    </button>
  )
}

it('reads nothing of a draft while it is saved, because it has ended when the answer arrives', async () => {
  const client = newQueryClient()
  const reading = () => client.isFetching({ queryKey: ['draft', 'd'] })
  const whileSaving: number[] = []
  answerRequests(({ path }) => {
    if (path.endsWith('/trial')) return new Promise(() => undefined)
    whileSaving.push(reading())
    return [200, { number: 2 }]
  })
  const screen = await render(withQueries(<Saving />, client))
  await vi.waitFor(() => expect(reading()).toBe(1))
  await screen.getByRole('button', { name: 'Save' }).click()
  await vi.waitFor(() => expect(whileSaving).toEqual([0]))
})
