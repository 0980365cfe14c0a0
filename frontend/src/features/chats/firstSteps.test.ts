import { describe, expect, it } from 'vitest'
import type { MessageRow } from '@/api'
import { findFirstSteps, hasFirstSteps } from './firstSteps'

const isAgent = (id: string) => id === 'scribe'

const text = (seq: number, author: string, payload: object) =>
  ({ id: `m${seq}`, seq, type: 'TEXT_MESSAGE', author_id: author, payload }) as unknown as MessageRow

const greeting = text(1, 'scribe', { text: 'Hello', greeting: true, questions: ['One?', 'Two?'] })
const question = text(2, 'alice', { text: 'One?' })
const answered = (stamp: object) => text(3, 'scribe', { text: 'It is one.', stamp: { provider: 'demo', ...stamp } })

describe('the first steps', () => {
  it('offer the questions of the greeting until somebody writes', () => {
    expect(hasFirstSteps([greeting])).toBe(true)
    expect(findFirstSteps([greeting], isAgent)).toMatchObject({ isUnanswered: true, unasked: ['One?', 'Two?'] })
    expect(findFirstSteps([greeting, question], isAgent)).toMatchObject({
      isUnanswered: false,
      unasked: ['Two?'],
      answer: null,
    })
  })

  it('offer an improvement after an answer of the first version', () => {
    const first = findFirstSteps([greeting, question, answered({ version: 1 })], isAgent)
    expect(first).toMatchObject({ answer: { id: 'm3' }, isImproved: false })
    for (const stamp of [{ draft_apply: 1 }, { version: 2 }])
      expect(findFirstSteps([greeting, question, answered(stamp)], isAgent).isImproved).toBe(true)
  })

  it('are over when another model answers', () => {
    expect(hasFirstSteps([greeting, question, answered({ provider: 'openai' })])).toBe(false)
    expect(hasFirstSteps([answered({})])).toBe(true)
    expect(hasFirstSteps([question])).toBe(false)
  })
})
