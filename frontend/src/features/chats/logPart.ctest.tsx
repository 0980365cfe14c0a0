import { afterEach, expect, it, vi } from 'vitest'
import { renderHook } from 'vitest-browser-react'
import type { MessagePage } from '@/api'
import { chatState } from '@/realtime'
import { closeChat, loadChat } from '@/testing/chatSocket'
import { answerRequests } from '@/testing/restServer'
import { messageRow } from '@/testing/rows'
import { useLogPart } from './logPart'

const rows = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => messageRow(from + index, { author_id: 'bob' }))
const build = (from: number, to: number): MessagePage => ({
  results: rows(from, to),
  other_answers: [],
  before: from,
  after: to,
})

/** Answers the next request with this page, when it was sent and the returned function was called. */
function answerLater(page: MessagePage) {
  let answer: () => void = () => undefined
  const isAnswered = new Promise<void>(resolve => {
    answer = resolve
  })
  answerRequests(async () => {
    await isAnswered
    return [200, page]
  })
  return answer
}

afterEach(() => {
  vi.restoreAllMocks()
  closeChat()
})

it.each(['loadOlder', 'loadNewer'] as const)(
  'leaves out a page of %s that comes after "Jump to newest"',
  async load => {
    await loadChat(rows(101, 150), [], true)
    const { result, act } = await renderHook(() => useLogPart('c'))
    await act(() => result.current.open(build(41, 60)))
    expect(result.current.range).toMatchObject({ from: 41, to: 60 })
    const answer = answerLater(load === 'loadOlder' ? build(21, 40) : build(61, 80))
    const loading = result.current[load]()
    await act(() => result.current.toNewest())
    answer()
    await act(() => loading)
    expect(result.current.range).toBeNull()
  },
)

it('leaves out a page of older messages that comes after a reconnection has replaced the newest part', async () => {
  await loadChat(rows(101, 150), [], true)
  const { result, act } = await renderHook(() => useLogPart('c'))
  const answer = answerLater(build(81, 100))
  const loading = result.current.loadOlder()
  closeChat()
  await loadChat(rows(901, 950), [], true)
  answer()
  await act(() => loading)
  expect(chatState('c').firstLoadedSeq).toBe(901)
  expect(chatState('c').log.at(0)?.seq).toBe(901)
})

it('adds a page of older messages', async () => {
  await loadChat(rows(101, 150), [], true)
  const { result, act } = await renderHook(() => useLogPart('c'))
  const answer = answerLater(build(81, 100))
  const loading = result.current.loadOlder()
  answer()
  await act(() => loading)
  expect(result.current).toMatchObject({ range: null, from: 81 })
})
