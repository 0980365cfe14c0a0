import { describe, expect, it } from 'vitest'
import type { SubAgentResult } from '@/api'
import { type MessageChange, messageRow } from '@/testing/rows'
import { getCost } from './cost'

const row = (seq: number, more: MessageChange = {}) => messageRow(seq, { author_id: 'robin', run_id: 'x', ...more })

describe('the cost of a run', () => {
  const stamp = { input_tokens: 10, output_tokens: 5, cost_micro: 7 }
  const rows = [
    row(1, { payload: { text: '', stamp } }),
    row(2, { type: 'TOOL_CALL', payload: { stamp } }),
    row(3, { type: 'TOOL_CALL', payload: { stamp } }),
    row(4, { type: 'TOOL_RESPONSE' }),
    row(5, { payload: { text: '', stamp } }),
  ]
  it('counts each step once, however many rows it has', () => {
    expect(getCost(rows)).toEqual({ tokens: 30, cost: 14 })
  })
  it('is that of the result of a sub-agent if rows are missing', () => {
    const result: SubAgentResult = {
      kind: 'sub_agent',
      run_id: 'x',
      agent_id: 'one',
      name: 'One',
      state: 'completed',
      summary: '',
      steps: 2,
      cost_micro: 99,
    }
    expect(getCost(rows, result)).toEqual({ tokens: 30, cost: 99 })
  })
  it('is null when the price is unknown', () => {
    const unpriced = row(1, { payload: { text: '', stamp: { input_tokens: 1, output_tokens: 1 } } })
    expect(getCost([unpriced])).toEqual({ tokens: 2, cost: null })
  })
})
