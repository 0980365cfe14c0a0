import { afterEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { ActorRow, MessageRow, Reaction } from '@/api'
import { chatState } from '@/realtime'
import { buildChatContext } from '@/testing/chatContext'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { answerRequests } from '@/testing/restServer'
import { messageRow } from '@/testing/rows'
import { pressedMessage } from '../longPress'
import { chooseRowToReact, openChoice, openChoiceOf, toggleReaction } from '../reactions'
import { ChatContext } from './ChatContext'
import { Actions } from './MessageParts'
import { Reactions } from './Reactions'

const actors = [
  { id: 'watch', kind: 'agent', name: 'Fare Watch' },
  { id: 'bob', kind: 'human', name: 'Bob' },
] as unknown as ActorRow[]
const findActor = (id: string | null | undefined) => actors.find(actor => actor.id === id) ?? null

const message = (reactions: Reaction[] | null, more: Partial<MessageRow> = {}) =>
  messageRow(2, { author_id: 'bob', payload: { text: 'Friday?' }, reactions, ...(more as object) }) as Extract<
    MessageRow,
    { type: 'TEXT_MESSAGE' }
  >
const eyes = { emoji: '👀', actor_ids: ['bob', 'alice', 'watch'] }

afterEach(() => {
  closeChat()
  openChoice.set(null)
  pressedMessage.set(null)
  vi.restoreAllMocks()
})

const build = (row: ReturnType<typeof message>, toggle: ((row: MessageRow, emoji: string) => void) | null) => (
  <ChatContext value={buildChatContext({ findActor, toggleReaction: toggle })}>
    <article data-message={row.id} tabIndex={-1}>
      <Actions row={row} />
      <Reactions rows={[row]} />
    </article>
  </ChatContext>
)

it('counts each emoji, names who reacted, and marks the own reactions', async () => {
  const toggle = vi.fn()
  const screen = await render(build(message([eyes, { emoji: '🎉', actor_ids: ['bob'] }]), toggle))
  const own = screen.getByRole('button', { name: '👀 3, You, Bob, and Fare Watch (agent)' })
  await expect.element(own).toHaveAttribute('aria-pressed', 'true')
  const other = screen.getByRole('button', { name: '🎉 1, Bob' })
  await expect.element(other).toHaveAttribute('aria-pressed', 'false')
  await other.hover()
  await expect.element(screen.getByText('Bob reacted with 🎉')).toBeVisible()
  await own.click()
  expect(toggle.mock.calls.map(([row, emoji]) => [row.id, emoji])).toEqual([['m2', '👀']])
})

it('shows reactions without buttons to those who only read', async () => {
  const screen = await render(build(message([eyes]), null))
  await expect.element(screen.getByRole('img', { name: /^👀 3, You, Bob/ })).toBeVisible()
  await expect.element(screen.getByRole('button', { name: 'React' })).not.toBeInTheDocument()
})

it('opens the choice by the key of the focused message, and chooses by number', async () => {
  const toggle = vi.fn()
  await loadChat([message(null)])
  const screen = await render(build(message(null), toggle))
  expect(openChoiceOf(chatState('c'), 'm2')).toBe(true)
  await expect.element(screen.getByRole('button', { name: '👍' })).toHaveFocus()
  await userEvent.keyboard('{ArrowRight}')
  await expect.element(screen.getByRole('button', { name: '👀' })).toHaveFocus()
  await userEvent.keyboard('3')
  expect(toggle.mock.calls.map(([, emoji]) => emoji)).toEqual(['✅'])
  await expect.element(screen.getByRole('button', { name: '👍' })).not.toBeInTheDocument()
  await vi.waitFor(() => expect(document.activeElement?.getAttribute('data-message')).toBe('m2'))
})

it('takes any other emoji from the field, and no words', async () => {
  const toggle = vi.fn()
  const screen = await render(build(message([eyes]), toggle))
  await screen.getByRole('group', { name: 'Reactions' }).getByRole('button', { name: 'React' }).click()
  const field = screen.getByRole('textbox', { name: 'Another emoji' })
  await field.fill('ok')
  await userEvent.keyboard('{Enter}')
  await expect.element(screen.getByText('That is not an emoji.')).toBeVisible()
  await field.fill('🐈')
  await userEvent.keyboard('{Enter}')
  expect(toggle.mock.calls.map(([, emoji]) => emoji)).toEqual(['🐈'])
})

it('adds the emojis to the actions of a message that was pressed long', async () => {
  const screen = await render(build(message(null), vi.fn()))
  pressedMessage.set('m2')
  await expect.poll(() => screen.container.querySelectorAll('fieldset button').length).toBe(8)
  pressedMessage.set('m1')
  await expect.poll(() => screen.container.querySelectorAll('fieldset button').length).toBe(0)
})

it('removes a reaction the second time, and sends one request while another is under way', async () => {
  const requests = answerRequests(() => [200, message(null)])
  await Promise.all([1, 2].map(() => toggleReaction(message(null), '👍', 'alice')))
  await toggleReaction(message([{ emoji: '👍', actor_ids: ['alice'] }]), '👍', 'alice')
  const path = `/chats/c/messages/m2/reactions/${encodeURIComponent('👍')}`
  expect(requests.map(({ method, path }) => [method, path])).toEqual([
    ['PUT', path],
    ['DELETE', path],
  ])
})

it('reacts to the last text of a reply, or to the one that has reactions', () => {
  const rows = [
    messageRow(2, { run_id: 'r', payload: { text: 'Let me look' } }),
    messageRow(3, { run_id: 'r', type: 'TOOL_CALL', payload: {} }),
    messageRow(4, { run_id: 'r', payload: { text: 'Friday' } }),
  ]
  expect(chooseRowToReact(rows)?.id).toBe('m4')
  expect(chooseRowToReact([{ ...messageRow(2), reactions: [eyes] }, ...rows.slice(1)])?.id).toBe('m2')
  expect(chooseRowToReact(rows.slice(1, 2))).toBeUndefined()
})
