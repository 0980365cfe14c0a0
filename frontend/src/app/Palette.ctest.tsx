import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import axe from 'axe-core'
import { createContext, type ReactNode, useContext } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { useActions } from '@/lib/actions'
import { answerByPath, answerRequests, newQueryClient, page, withQueries } from '@/testing/restServer'
import { KeysDialog } from './KeysDialog'
import { Palette } from './Palette'
import { ShellContext, type ShellValue } from './ShellContext'

const createChat = vi.fn()

function Screen({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  useActions(() => ({ 'chat.create': createChat, 'agent.create': null }))
  const workspace = { id: 'w', name: 'Lighthouse', handle: 'lighthouse' }
  const shell = { workspace, me: { actor: { id: 'me', name: 'Alice', handle: 'alice' } } } as unknown as ShellValue
  return <ShellContext value={shell}>{isOpen ? <Palette onClose={onClose} /> : null}</ShellContext>
}

/** What the page of a chat shows. */
const Content = createContext<ReactNode>(null)

function buildRouter() {
  const root = createRootRoute()
  const chat = createRoute({
    getParentRoute: () => root,
    path: '/w/$workspace/c/$chat',
    component: () => useContext(Content),
  })
  const search = createRoute({ getParentRoute: () => root, path: '/w/$workspace/search' })
  const history = createMemoryHistory({ initialEntries: ['/w/lighthouse/c/Harbour'] })
  return createRouter({ routeTree: root.addChildren([chat, search]), history })
}

async function openPalette(onClose = vi.fn()) {
  const router = buildRouter()
  await router.load()
  const client = newQueryClient()
  const build = (isOpen: boolean) =>
    withQueries(
      <Content value={<Screen isOpen={isOpen} onClose={onClose} />}>
        <RouterProvider router={router} />
      </Content>,
      client,
    )
  // Opened twice: the second time, the lists are loaded, as they are in the app.
  const screen = await render(build(true))
  await expect.element(screen.getByRole('option', { name: 'Harbour' })).toBeVisible()
  await screen.rerender(build(false))
  await expect.element(screen.getByRole('option')).not.toBeInTheDocument()
  await screen.rerender(build(true))
  return { ...screen, router }
}

beforeEach(() => {
  createChat.mockReset()
  const chats = ['Harbour', 'Fares', 'Lunch'].map(title => ({ chat: { id: title, title } }))
  answerByPath({
    'GET /workspaces/w/chats': page(chats),
    'GET /workspaces/w/members': page([{ actor: { id: 'b', name: 'Zoe', handle: 'zoe' } }]),
    'GET /workspaces/w/messages?q=qqqq&limit=6': page([]),
    'GET /workspaces/w/agents': page([{ actor: { id: 'a', name: 'Scribe', handle: 'scribe' } }]),
  })
})
afterEach(() => vi.restoreAllMocks())

it('finds a chat by letters of its name, announces the selected row, and opens the chat on Enter', async () => {
  const onClose = vi.fn()
  const screen = await openPalette(onClose)
  await expect.element(screen.getByRole('status')).toHaveTextContent('Harbour')
  await userEvent.keyboard('luch')
  await expect.element(screen.getByRole('option')).toHaveTextContent('Lunch')
  await expect.element(screen.getByRole('status')).toHaveTextContent('Lunch')
  await userEvent.keyboard('{Enter}')
  expect(onClose).toHaveBeenCalledOnce()
  await vi.waitFor(() => expect(screen.router.state.location.pathname).toBe('/w/lighthouse/c/Lunch'))
})

it('groups the available actions and wraps around at the end of the list', async () => {
  const screen = await openPalette()
  await expect.element(screen.getByRole('option', { name: 'New chat' })).toBeVisible()
  await expect.element(screen.getByRole('option', { name: 'New agent' })).not.toBeInTheDocument()
  await expect.element(screen.getByRole('group', { name: 'Agents' })).toHaveTextContent('Scribe@scribe')
  await expect.element(screen.getByRole('group', { name: 'People' })).toHaveTextContent('Zoe@zoe')
  await userEvent.keyboard('{ArrowUp}')
  await expect.element(screen.getByRole('option', { name: 'API tokens' })).toHaveAttribute('aria-selected', 'true')
  await screen.getByRole('option', { name: 'New chat' }).click()
  expect(createChat).toHaveBeenCalledOnce()
})

it('shows a notice when nothing matches', async () => {
  const screen = await openPalette()
  await userEvent.keyboard('qqqq')
  await expect.element(screen.getByText('No matches')).toBeVisible()
  await expect.element(screen.getByRole('status')).toHaveTextContent('')
})

const hit = (id: string, text: string) => ({
  message_id: id,
  chat_id: 'Fares',
  chat_title: 'Fares',
  author: 'Bob',
  text,
  marks: [{ start: 4, end: 8 }],
  created_at: '2026-11-20T08:00:00Z',
})

it('finds messages below everything else, and opens one in its place', async () => {
  const screen = await openPalette()
  answerRequests(({ path }) =>
    path.startsWith('/workspaces/w/messages?')
      ? [200, page(path.includes('q=fare') ? [hit('m1', 'The fare is 4711.'), hit('m2', 'No fare today.')] : [])]
      : [404, {}],
  )
  await userEvent.keyboard('fare')
  await expect.element(screen.getByRole('group', { name: 'Messages' })).toHaveTextContent('The fare is 4711.')
  const options = screen.getByRole('option').elements()
  expect(options.map(option => option.textContent?.includes('Bob') ?? false)).toEqual([false, true, true, false])
  expect(options[0]).toHaveAttribute('aria-selected', 'true')
  expect(options[1]?.querySelector('mark')).toHaveTextContent('fare')
  await expect.element(screen.getByRole('status')).toHaveTextContent('Fares · 2 messages found')
  await userEvent.keyboard('{ArrowDown}')
  await expect.element(screen.getByRole('status')).toHaveTextContent('Bob: The fare is 4711.')
  const { violations } = await axe.run(document.body, { runOnly: ['wcag2a', 'wcag2aa', 'best-practice'] })
  expect(
    violations.map(violation => violation.id).filter(id => !['region', 'page-has-heading-one'].includes(id)),
  ).toEqual([])
  await userEvent.keyboard('{Enter}')
  await vi.waitFor(() => expect(screen.router.state.location.href).toBe('/w/lighthouse/c/Fares?find=fare#m1'))
})

it('opens the page of a search, with the words that were typed', async () => {
  const screen = await openPalette()
  answerRequests(({ path }) =>
    path.startsWith('/workspaces/w/messages?') ? [200, page([hit('m1', 'The fare is 4711.')])] : [404, {}],
  )
  await userEvent.keyboard('fare')
  await screen.getByRole('option', { name: 'All messages with “fare”' }).click()
  await vi.waitFor(() => expect(screen.router.state.location.href).toBe('/w/lighthouse/search?q=fare'))
})

it('shows one row as selected, that of the keys or of the pointer', async () => {
  const screen = await openPalette()
  const isLit = (row: number) => getComputedStyle(getRow(row)).backgroundColor !== 'rgba(0, 0, 0, 0)'
  const getRow = (row: number) => screen.getByRole('option').elements()[row] as HTMLElement
  await userEvent.hover(getRow(1))
  await vi.waitFor(() => expect([0, 1, 2].map(isLit)).toEqual([false, true, false]))
  await userEvent.keyboard('{ArrowDown}')
  await vi.waitFor(() => expect([0, 1, 2].map(isLit)).toEqual([false, false, true]))
})

it('shows no message of words that were typed before', async () => {
  const screen = await openPalette()
  const answers = new Map<string, (messages: readonly unknown[]) => void>()
  answerRequests(({ path }) => {
    const query = new URLSearchParams(path.split('?')[1]).get('q') ?? ''
    return new Promise(resolve => answers.set(query, messages => resolve([200, page(messages)])))
  })
  await userEvent.keyboard('租金')
  await expect.element(screen.getByText('Searching messages…').first()).toBeVisible()
  await vi.waitFor(() => expect(answers.has('租金')).toBe(true))
  await userEvent.keyboard('多少')
  await vi.waitFor(() => expect(answers.has('租金多少')).toBe(true))
  answers.get('租金多少')?.([hit('m2', '租金多少？')])
  answers.get('租金')?.([hit('m1', '租金四千。')])
  await expect.element(screen.getByRole('option').first()).toHaveTextContent('租金多少？')
  await userEvent.keyboard('呢')
  await vi.waitFor(() => expect(answers.has('租金多少呢')).toBe(true))
  await expect.element(screen.getByRole('option')).not.toBeInTheDocument()
  answers.get('租金多少呢')?.([])
  await expect.element(screen.getByText('No matches')).toBeVisible()
})

it('says why messages could not be searched', async () => {
  const screen = await openPalette()
  answerRequests(() => [503, { error: { code: 'unavailable', message: 'Not now.' } }])
  await userEvent.keyboard('qqqq')
  await expect.element(screen.getByText(/^Messages could not be searched: /)).toBeVisible()
})

it('passes axe', async () => {
  const screen = await openPalette()
  await expect.element(screen.getByRole('combobox', { name: 'Command palette' })).toHaveFocus()
  const { violations } = await axe.run(document.body, { runOnly: ['wcag2a', 'wcag2aa', 'best-practice'] })
  expect(
    violations.map(violation => violation.id).filter(id => !['region', 'page-has-heading-one'].includes(id)),
  ).toEqual([])
})

it('lists every key in the keys dialog, with the keys of one row together', async () => {
  const screen = await render(<KeysDialog onClose={() => undefined} />)
  const rows = screen.getByRole('dialog').element().querySelectorAll('dl > div')
  const listKeys = (row: Element) => [...row.querySelectorAll('dt kbd')].map(key => key.textContent).join(' | ')
  const texts = [...rows].map(row => `${listKeys(row)} ${row.querySelector('dd')?.textContent}`)
  expect(texts).toContain('Ctrl K Command palette')
  expect(texts).toContain('Alt ↑ | Alt ↓ Previous, next chat')
  expect(texts).toContain('G C | G S | G D | G F Go to chats, to suggestions, to the directory, to the search')
  expect(texts).toContain('← | → | R | S On a task of a board: fold, unfold, run again, stop')
  expect(texts).toContain('E Edit your message')
  expect(texts).toContain('Del Delete the message')
  expect(texts).toContain('C | ⇧ C Copy the message, as Markdown')
  expect(texts).toContain('+ React to the message')
  expect(texts).toHaveLength(35)
})
