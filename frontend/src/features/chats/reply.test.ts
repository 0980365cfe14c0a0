import { describe, expect, it } from 'vitest'
import type { StreamingText } from '@/realtime'
import { messageRow } from '@/testing/rows'
import { buildReply, summarizeArguments } from './reply'

const row = (id: string, type: string, payload: object) =>
  messageRow(1, { id, author_id: 'robin', type, payload, run_id: 'r' })
const call = row('call', 'TOOL_CALL', {
  call_id: 'call_1',
  name: 'current_time',
  arguments: '{"place":"Tokyo"}',
  step: 1,
})

describe('buildReply', () => {
  it('shows a result with its call', () => {
    const response = row('response', 'TOOL_RESPONSE', {
      tool_call_id: 'call_1',
      name: 'current_time',
      status: 'ok',
      text: '09:00',
    })
    expect(buildReply([call, response], []).parts).toMatchObject([
      { kind: 'tool', name: 'current_time', response: { text: '09:00' } },
    ])
  })

  it('keeps the key of a part from its first delta to its durable row, so that it is not remounted', () => {
    const id = '0190a8f0-0000-7000-8000-000000000001'
    const buildText = (part: StreamingText['part'], rowId: string, callId: string | null): StreamingText => ({
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
    const streaming = buildReply(
      [],
      [buildText('text', id, null), buildText('arguments', call.id, 'call_1')],
    ).parts.map(part => part.key)
    const durable = buildReply([row(id, 'TEXT_MESSAGE', { text: '' }), call], []).parts.map(part => part.key)
    expect(streaming).toEqual(durable)
  })

  it('keeps the same part object until its row or response changes', () => {
    const first = buildReply([call, row('t', 'TEXT_MESSAGE', { text: 'x' })], []).parts
    const rows = [call, row('t', 'TEXT_MESSAGE', { text: 'x' })]
    const second = buildReply(rows, []).parts
    expect(second[0]).toBe(first[0])
    const answer = row('response', 'TOOL_RESPONSE', { tool_call_id: 'call_1', status: 'ok', text: '09:00' })
    const third = buildReply([...rows, answer], []).parts
    expect(third[0]).not.toBe(second[0])
    expect(third[1]).toBe(second[1])
  })

  it('has the last stamp and the end of the run', () => {
    const stamp = { spec_id: 's', draft_apply: 3, draft_by: 'Bob' }
    const reply = buildReply(
      [row('t', 'TEXT_MESSAGE', { text: 'x', stamp }), row('f', 'RUN_FAILED', { code: 'cut' })],
      [],
    )
    expect(reply.stamp).toEqual(stamp)
    expect(reply.runEnd).toEqual({ kind: 'failed', code: 'cut', by: null, note: '', payerName: '', budget: null })
  })
})

it('summarizes arguments, and nothing while the JSON is incomplete', () => {
  expect(summarizeArguments('{"place":"Tokyo","days":2}')).toBe('Tokyo, 2')
  expect(summarizeArguments('{"place":"Tok')).toBe('')
})
