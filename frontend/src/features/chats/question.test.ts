import { describe, expect, it } from 'vitest'
import type { MessageRow } from '@/api'
import { findQuestion, findQuestionBefore } from './question'

const row = (seq: number, author: string, more: Partial<MessageRow> = {}): MessageRow =>
  ({
    id: `m${seq}`,
    seq,
    author_id: author,
    run_id: null,
    reply_to: null,
    type: 'TEXT_MESSAGE',
    ...more,
  }) as MessageRow
const isAgent = (id: string) => id.startsWith('agent')

describe('the question that is sent again', () => {
  const hello = row(1, 'agent-scribe')
  const first = row(2, 'alice')
  const answer = row(3, 'agent-scribe', { run_id: 'one' })
  const second = row(4, 'bob')
  const started = row(5, 'agent-scribe', { run_id: 'two', type: 'TOOL_CALL' })
  const between = row(6, 'alice')
  const finished = row(7, 'agent-scribe', { run_id: 'two' })

  it('is the last message of a person before the run of the answer', () => {
    const messages = [hello, first, answer, second, started, between, finished]
    expect(findQuestionBefore(messages, answer, isAgent)).toBe(first)
    expect(findQuestionBefore(messages, finished, isAgent)).toBe(second)
  })

  it('is the message that the answer quotes', () => {
    const quoting = row(5, 'agent-scribe', { run_id: 'two', reply_to: first.id })
    expect(findQuestionBefore([hello, first, answer, second, quoting], quoting, isAgent)).toBe(first)
  })

  it('is not a message of an agent', () => {
    const other = row(5, 'agent-robin', { run_id: 'three' })
    const last = row(6, 'agent-scribe', { run_id: 'four' })
    expect(findQuestionBefore([hello, first, answer, other, last], last, isAgent)).toBe(first)
  })

  it('is the question of the given agent, and a greeting has none', () => {
    const robins = row(5, 'agent-robin', { run_id: 'three' })
    const messages = [hello, first, answer, second, robins]
    expect(findQuestion(messages, 'agent-scribe', isAgent)).toEqual({ question: first, answer })
    expect(findQuestion(messages, 'agent-robin', isAgent)).toEqual({ question: second, answer: robins })
    expect(findQuestion([hello, first], 'agent-scribe', isAgent)).toBeNull()
  })

  it('replies to the text of the last answer, or to a call if the answer has no text', () => {
    const called = row(8, 'agent-scribe', { run_id: 'two', type: 'TOOL_CALL' })
    expect(findQuestion([second, started, finished, called], 'agent-scribe', isAgent)?.answer).toBe(finished)
    expect(findQuestion([second, started], 'agent-scribe', isAgent)?.answer).toBe(started)
  })
})
