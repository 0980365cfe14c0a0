import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { buildChatContext } from '@/testing/chatContext'
import { answerRequests } from '@/testing/restServer'
import { shownAnswers } from '../otherAnswers'
import { ChatContext } from './ChatContext'
import { OtherAnswers } from './OtherAnswers'

afterEach(() => {
  shownAnswers.set(new Map())
  vi.restoreAllMocks()
})

interface Shown {
  isUnused?: boolean
  isComplete?: boolean
  askOtherAnswer?: ((runId: string) => void) | null
}

/** Shows what is below the second one of three answers. */
const show = ({ isUnused = true, isComplete = true, askOtherAnswer = vi.fn() }: Shown = {}) =>
  render(
    <ChatContext value={buildChatContext({ chatId: 'c', askOtherAnswer })}>
      <OtherAnswers answers={['r1', 'r2', 'r3']} runId="r2" isUnused={isUnused} isComplete={isComplete} />
    </ChatContext>,
  )

it('shows the previous and the next answer', async () => {
  const screen = await show()
  await expect.element(screen.getByRole('status')).toHaveTextContent('2 of 3')
  await screen.getByRole('button', { name: 'Previous answer' }).click()
  expect(shownAnswers.get().get('r1')).toEqual({ runId: 'r1', count: 3 })
  await screen.getByRole('button', { name: 'Next answer' }).click()
  expect(shownAnswers.get().get('r1')).toEqual({ runId: 'r3', count: 3 })
})

it('puts a complete answer into use that is not', async () => {
  const requests = answerRequests(() => [409, { error: { code: 'invalid', message: 'There is no other answer.' } }])
  const screen = await show()
  await expect.element(screen.getByText('not in use')).toBeVisible()
  await screen.getByRole('button', { name: 'Use this one' }).click()
  await vi.waitFor(() => expect(requests).toHaveLength(1))
  expect(requests[0]).toMatchObject({ method: 'PUT', path: '/runs/r2/chosen' })
})

it.each<[string, Shown]>([
  ['an answer that is in use', { isUnused: false }],
  ['an answer that is being written or has failed', { isComplete: false }],
  ['a reader who may not choose', { askOtherAnswer: null }],
])('offers no choice for %s', async (_, shown) => {
  const screen = await show(shown)
  await expect.element(screen.getByRole('status')).toBeVisible()
  await expect.element(screen.getByRole('button', { name: 'Use this one' })).not.toBeInTheDocument()
})
