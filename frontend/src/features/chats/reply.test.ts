import { describe, expect, it } from 'vitest'
import type { LiveText } from '@/realtime'
import { messageRow } from '@/testing/rows'
import { replyOf, summarizeArguments } from './reply'

const row = (id: string, type: string, payload: object) =>
  messageRow(1, { id, author_id: 'robin', type, payload, run_id: 'r' })
const call = row('call', 'TOOL_CALL', {
  call_id: 'call_1',
  name: 'current_time',
  arguments: '{"place":"Tokyo"}',
  step: 1,
})

describe('replyOf', () => {
  it('shows a result with its call', () => {
    const response = row('response', 'TOOL_RESPONSE', {
      tool_call_id: 'call_1',
      name: 'current_time',
      status: 'ok',
      text: '09:00',
    })
    expect(replyOf([call, response], []).parts).toMatchObject([
      { kind: 'tool', name: 'current_time', response: { text: '09:00' } },
    ])
  })

  it('keeps the key of a part from its first delta to its durable row, so that it is not remounted', () => {
    const id = '0190a8f0-0000-7000-8000-000000000001'
    const liveText = (part: LiveText['part'], rowId: string, callId: string | null): LiveText => ({
      message_id: id,
      row_id: rowId,
      run_id: 'r',
      agent_id: 'robin',
      attempt: 1,
      part,
      index: 0,
      call_id: callId,
      name: 'current_time',
      text: '',
      end: 0,
    })
    const live = replyOf([], [liveText('text', id, null), liveText('arguments', call.id, 'call_1')]).parts.map(
      part => part.key,
    )
    const durable = replyOf([row(id, 'TEXT_MESSAGE', { text: '' }), call], []).parts.map(part => part.key)
    expect(live).toEqual(durable)
  })

  it('keeps each part the same until its row or its answer changes', () => {
    const first = replyOf([call, row('t', 'TEXT_MESSAGE', { text: 'x' })], []).parts
    const rows = [call, row('t', 'TEXT_MESSAGE', { text: 'x' })]
    const second = replyOf(rows, []).parts
    expect(second[0]).toBe(first[0])
    const answer = row('response', 'TOOL_RESPONSE', { tool_call_id: 'call_1', status: 'ok', text: '09:00' })
    const third = replyOf([...rows, answer], []).parts
    expect(third[0]).not.toBe(second[0])
    expect(third[1]).toBe(second[1])
  })

  it('takes the last stamp, and how the run ended', () => {
    const stamp = { spec_id: 's', draft_apply: 3, draft_by: 'Bob' }
    const reply = replyOf([row('t', 'TEXT_MESSAGE', { text: 'x', stamp }), row('f', 'RUN_FAILED', { code: 'cut' })], [])
    expect(reply.stamp).toEqual(stamp)
    expect(reply.runEnd).toEqual({ kind: 'failed', code: 'cut', by: null, note: '' })
  })
})

it('says the arguments in short, and nothing while they are not whole', () => {
  expect(summarizeArguments('{"place":"Tokyo","days":2}')).toBe('Tokyo, 2')
  expect(summarizeArguments('{"place":"Tok')).toBe('')
})
