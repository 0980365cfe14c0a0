import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { ActorRow, MessageRow, TextMessageRow } from '@/api'
import { chatState } from '@/realtime'
import { buildChatContext, emptyPart as part, nothingUnread as reading } from '@/testing/chatContext'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { withQueries } from '@/testing/restServer'
import { messageRow } from '@/testing/rows'
import { buildItems } from '../timeline'
import { ChatContext } from './ChatContext'
import { Timeline } from './Timeline'

const actors = [
  { id: 'robin', kind: 'agent', name: 'Robin' },
  { id: 'bob', kind: 'human', name: 'Bob' },
] as unknown as ActorRow[]
const askOtherAnswer = vi.fn()
const context = buildChatContext({
  askOtherAnswer,
  findActor: id => actors.find(actor => actor.id === id) ?? null,
  findMessage: id => chatState('c').rows.message.get(id),
})

const at = (minute: number) => `2026-11-20T10:0${minute}:00Z`
const question = (more: Partial<TextMessageRow> = {}) =>
  messageRow(1, { author_id: 'bob', created_at: at(0), payload: { text: 'We are 14.' }, ...more })
const answer = (seq: number, minute: number, more: object = {}) =>
  messageRow(seq, {
    author_id: 'robin',
    run_id: `r${seq}`,
    created_at: at(minute),
    payload: { text: `answer ${seq}`, answers: 'm1', ...more },
  })

async function show(messages: MessageRow[]) {
  await loadChat(messages)
  const items = buildItems({ messages, unsent: [], active: [], unreadAfter: null, me: 'alice' })
  return render(
    withQueries(
      <ChatContext value={context}>
        <div style={{ display: 'grid', height: '600px' }}>
          <Timeline {...{ items, messages, part, reading, target: null, goTo: vi.fn(), ref: null }} />
        </div>
      </ChatContext>,
    ),
  )
}

afterEach(() => {
  closeChat()
  vi.restoreAllMocks()
})

const stale = 'Answers the earlier text, before Bob’s edit.'

it('says that an answer is about the earlier text, and lets the agent answer again', async () => {
  const screen = await show([question({ edited_at: at(2) }), answer(2, 1)])
  await expect.element(screen.getByText(stale)).toBeVisible()
  await screen.getByRole('button', { name: 'Answer again' }).click()
  expect(askOtherAnswer).toHaveBeenCalledExactlyOnceWith('r2')
})

it('says so too of an answer that was written while the message was edited', async () => {
  const screen = await show([question({ edited_at: at(1) }), answer(2, 2, { answers_earlier_text: true })])
  await expect.element(screen.getByText(stale)).toBeVisible()
})

it('offers no other answer once there is one, and says nothing of an answer to the present text', async () => {
  const screen = await show([question({ edited_at: at(2) }), answer(2, 1), answer(3, 3)])
  await expect.element(screen.getByText(stale)).toBeVisible()
  expect(screen.getByText(stale).elements()).toHaveLength(1)
  await expect.element(screen.getByRole('button', { name: 'Answer again' })).not.toBeInTheDocument()
})
