import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { ActorRow, Reaction, TextMessageRow } from '@/api'
import { chatState } from '@/realtime'
import { buildChatContext } from '@/testing/chatContext'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { answerRequests } from '@/testing/restServer'
import { messageRow } from '@/testing/rows'
import { pressedMessage } from '../longPress'
import { toggleReaction } from '../ownReactions'
import { chooseRowToReact, openChoice, openChoiceOf } from '../reactions'
import { findShownRows } from '../subAgents'
import { ChatContext } from './ChatContext'
import { Actions } from './MessageParts'
import { ReactionChoice, Reactions } from './Reactions'

const actors = [
  { id: 'watch', kind: 'agent', name: 'Fare Watch' },
  { id: 'bob', kind: 'human', name: 'Bob' },
] as unknown as ActorRow[]
const findActor = (id: string | null | undefined) => actors.find(actor => actor.id === id) ?? null

const message = (reactions: Reaction[] | null) =>
  messageRow(2, { author_id: 'bob', payload: { text: 'Friday?' }, reactions }) as TextMessageRow
const eyes = { emoji: '👀', actor_ids: ['bob', 'alice', 'watch'] }

let requests: ReturnType<typeof answerRequests>
const listSent = () => requests.map(({ method, path }) => [method, decodeURIComponent(path.split('/').at(-1) ?? '')])

beforeEach(() => {
  requests = answerRequests(() => [200, message(null)])
})
afterEach(() => {
  openChoice.set(null)
  pressedMessage.set(null)
  closeChat()
  vi.restoreAllMocks()
})

async function show(reactions: Reaction[] | null, canReact = true) {
  const row = message(reactions)
  await loadChat([row])
  return render(
    <ChatContext value={buildChatContext({ findActor, canReact })}>
      <article data-message={row.id} tabIndex={-1}>
        <Actions row={row} />
        <Reactions rows={[row]} />
      </article>
      <ReactionChoice />
    </ChatContext>,
  )
}

it('counts each emoji, names who reacted, and marks the own reactions', async () => {
  const screen = await show([eyes, { emoji: '🎉', actor_ids: ['bob'] }])
  const own = screen.getByRole('button', { name: '👀 3, You, Bob, and Fare Watch (agent)' })
  await expect.element(own).toHaveAttribute('aria-pressed', 'true')
  const other = screen.getByRole('button', { name: '🎉 1, Bob' })
  await expect.element(other).toHaveAttribute('aria-pressed', 'false')
  await other.hover()
  await expect.element(screen.getByText('Bob reacted with 🎉')).toBeVisible()
  await own.click()
  await other.click()
  await expect.poll(listSent).toEqual([
    ['DELETE', '👀'],
    ['PUT', '🎉'],
  ])
})

it('shows reactions without buttons to those who only read', async () => {
  const screen = await show([eyes], false)
  await expect.element(screen.getByRole('img', { name: /^👀 3, You, Bob/ })).toBeVisible()
  await expect.element(screen.getByRole('button', { name: 'React' })).not.toBeInTheDocument()
})

it('opens the choice at the focused message, and chooses by number', async () => {
  const screen = await show(null)
  expect(openChoiceOf(findShownRows(chatState('c'), 'm2'), 'm2')).toBe(true)
  await expect.element(screen.getByRole('button', { name: '👍' })).toHaveFocus()
  await userEvent.keyboard('{ArrowRight}')
  await expect.element(screen.getByRole('button', { name: '👀' })).toHaveFocus()
  await userEvent.keyboard('3')
  await expect.poll(listSent).toEqual([['PUT', '✅']])
  await expect.element(screen.getByRole('button', { name: '👍' })).not.toBeInTheDocument()
  await expect.poll(() => document.activeElement?.getAttribute('data-message')).toBe('m2')
})

it('takes any other emoji from the field, and no words', async () => {
  const screen = await show([eyes])
  await screen.getByRole('group', { name: 'Reactions' }).getByRole('button', { name: 'React' }).click()
  const field = screen.getByRole('textbox', { name: 'Another emoji' })
  await field.fill('ok')
  await userEvent.keyboard('{Enter}')
  await expect.element(screen.getByText('That is not an emoji.')).toBeVisible()
  await field.fill('🐈')
  await userEvent.keyboard('{Enter}')
  await expect.poll(listSent).toEqual([['PUT', '🐈']])
})

it('adds the emojis to the actions of a message that was pressed long', async () => {
  const screen = await show(null)
  pressedMessage.set(screen.container.querySelector('article'))
  await expect.poll(() => screen.container.querySelectorAll('[role=toolbar] fieldset button').length).toBe(8)
  pressedMessage.set(null)
  await expect.poll(() => screen.container.querySelectorAll('fieldset').length).toBe(0)
})

it('sends one request while another is under way', async () => {
  await Promise.all([1, 2].map(() => toggleReaction(message(null), '👍', 'alice')))
  expect(listSent()).toEqual([['PUT', '👍']])
})

it('reacts to the last text of a reply, or to the one that has reactions', () => {
  const rows = [
    messageRow(2, { run_id: 'r', payload: { text: 'Let me look' } }),
    messageRow(3, { run_id: 'r', type: 'TOOL_CALL', payload: {} }),
    messageRow(4, { run_id: 'r', payload: { text: 'Friday' } }),
  ]
  expect(chooseRowToReact(rows)?.id).toBe('m4')
  expect(chooseRowToReact([message([eyes]), ...rows.slice(1)])?.id).toBe('m2')
  expect(chooseRowToReact(rows.slice(1, 2))).toBeUndefined()
})
