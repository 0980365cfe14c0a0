import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { Me } from '@/api'
import { setLanguage } from '@/lib/language'
import { answerRequests, page, withQueries } from '@/testing/restServer'
import { NotificationList } from './NotificationList'

const workspaces = [
  { id: 'here', name: 'Lighthouse', handle: 'lighthouse' },
  { id: 'there', name: 'Harbor', handle: 'harbor' },
]
const me = { workspaces } as unknown as Me

/** The invitation to a chat without a title, which the server names after the others in it. */
const invitation = (workspaceId: string) => ({
  id: workspaceId,
  type: 'chat_invitation',
  workspace_id: workspaceId,
  actor_name: 'Alice',
  agent_name: '',
  chat_id: `chat-${workspaceId}`,
  excerpt: 'Alice · Robin',
  is_read: false,
  created_at: '2026-11-20T10:00:00Z',
})

const showList = (isDirect = false, rows = [invitation('here'), invitation('there')]) => {
  const chat = { id: 'chat-here', title: 'Alice · Robin', is_direct: isDirect }
  answerRequests(({ path }) => {
    if (path.includes('/count')) return [200, { unread: 2 }]
    if (path.includes('/chats')) return [200, page([{ chat, participants: [], unread: 0 }])]
    return [200, page(rows)]
  })
  const trigger = <button type="button">Open</button>
  const props = { me, trigger, open: true, onOpenChange: vi.fn(), onGo: vi.fn() }
  return render(withQueries(<NotificationList {...props} workspaceId="here" />))
}

afterEach(async () => {
  vi.restoreAllMocks()
  await setLanguage('en')
})

it.each([
  ['en', 'Alice added you to #Alice · Robin', 'Alice added you to a chat'],
  ['zh-hant', 'Alice把你加入了#Alice · Robin', 'Alice把你加入了聊天室'],
  ['zh-hans', 'Alice把你加入了#Alice · Robin', 'Alice把你加入了聊天室'],
] as const)('names a chat without a title after the others in it, once (%s)', async (language, here, there) => {
  await setLanguage(language)
  const screen = await showList()
  const items = screen.getByRole('listitem')
  await expect.element(items.first()).toHaveTextContent(/Robin/)
  const [first = '', second = ''] = items.elements().map(item => item.textContent.replace(/\s/g, ''))
  expect(first.startsWith(here.replace(/\s/g, ''))).toBe(true)
  expect(first.match(/Robin/g)).toHaveLength(1)
  // The chats of another workspace are not loaded.
  expect(second.startsWith(`${there}Alice·Robin`.replace(/\s/g, ''))).toBe(true)
})

it('names a direct chat by the name of the other', async () => {
  const screen = await showList(true)
  await expect.element(screen.getByText('Alice added you to Alice · Robin')).toBeVisible()
})

it('shows no code of a merge that was done line by line', async () => {
  const merge = { ...invitation('here'), type: 'merge_done', agent_name: 'Scribe', excerpt: 'demo_model' }
  const screen = await showList(false, [merge])
  await expect.element(screen.getByText(/Scribe/)).toBeVisible()
  await expect.element(screen.getByText('demo_model')).not.toBeInTheDocument()
})
