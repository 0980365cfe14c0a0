import axe from 'axe-core'
import { beforeEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { useActions } from '@/lib/actions'
import { KeysDialog } from './KeysDialog'
import { Palette } from './Palette'
import { ShellContext, type ShellValue } from './ShellContext'

const navigate = vi.hoisted(() => vi.fn())
vi.mock('@tanstack/react-router', async original => ({
  ...(await original<object>()),
  useNavigate: () => navigate,
  useParams: () => ({}),
}))
vi.mock('@/api', async original => ({
  ...(await original<object>()),
  useChats: () => ({ data: ['Harbour', 'Fares', 'Lunch'].map(title => ({ chat: { id: title, title } })) }),
  useAgents: () => ({ data: [{ actor: { id: 'a', name: 'Scribe', handle: 'scribe' } }] }),
}))

const createChat = vi.fn()

function Screen({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  useActions(() => ({ 'chat.create': createChat, 'agent.create': null }))
  const shell = { workspace: { id: 'w', name: 'Lighthouse', handle: 'lighthouse' } } as unknown as ShellValue
  return <ShellContext value={shell}>{isOpen ? <Palette onClose={onClose} /> : null}</ShellContext>
}

async function openPalette(onClose = vi.fn()) {
  const screen = await render(<Screen isOpen={false} onClose={onClose} />)
  await screen.rerender(<Screen isOpen onClose={onClose} />)
  return screen
}

beforeEach(() => {
  navigate.mockReset()
  createChat.mockReset()
})

it('finds a chat by letters of its name, announces the selected row, and opens the chat on Enter', async () => {
  const onClose = vi.fn()
  const screen = await openPalette(onClose)
  await expect.element(screen.getByRole('status')).toHaveTextContent('Harbour')
  await userEvent.keyboard('lnch')
  await expect.element(screen.getByRole('option')).toHaveTextContent('Lunch')
  await expect.element(screen.getByRole('status')).toHaveTextContent('Lunch')
  await userEvent.keyboard('{Enter}')
  expect(onClose).toHaveBeenCalledOnce()
  expect(navigate.mock.calls).toMatchObject([[{ params: { workspace: 'lighthouse', chat: 'Lunch' } }]])
})

it('groups the available actions and wraps around at the end of the list', async () => {
  const screen = await openPalette()
  await expect.element(screen.getByRole('option', { name: 'New chat' })).toBeVisible()
  await expect.element(screen.getByRole('option', { name: 'New agent' })).not.toBeInTheDocument()
  await expect.element(screen.getByRole('group', { name: 'Agents' })).toHaveTextContent('Scribe@scribe')
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
  const texts = [...rows].map(row => `${row.querySelector('dt')?.textContent} ${row.querySelector('dd')?.textContent}`)
  expect(texts).toContain('Ctrl K Command palette')
  expect(texts).toContain('Alt ↑ ↓ Previous, next chat')
  expect(texts).toContain('G C  G S  G D Go to chats, to suggestions, to the directory')
  expect(texts).toHaveLength(20)
})
