import { describe, expect, it } from 'vitest'
import type { StreamingText } from '@/realtime'
import { messageRow, systemRow } from '@/testing/rows'
import { buildReply, isTriedAgain, summarizeArguments } from './reply'

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

describe('a run that ended without an answer', () => {
  const end = (seq: number, runId: string, target_id = 'robin') =>
    systemRow('RUN_FAILED', { target_id, message_id: 'question' }, { id: `m${seq}`, seq, run_id: runId })
  const answer = (seq: number, runId: string, author_id = 'robin', answers = 'question') =>
    messageRow(seq, { author_id, run_id: runId, payload: { text: 'x', answers } })
  const failed = end(3, 'r1')

  it('was tried again if a later run of its agent has answered the same message or failed as well', () => {
    expect(isTriedAgain([failed, answer(5, 'r2')], failed)).toBe(true)
    expect(isTriedAgain([failed, end(5, 'r2')], failed)).toBe(true)
  })

  it.each([
    ['nothing came after it', [answer(1, 'r0'), answer(2, 'r1'), failed]],
    ['another agent answered', [failed, answer(4, 'r2', 'scribe'), end(5, 'r3', 'scribe')]],
    ['another message was answered', [failed, answer(4, 'r2', 'robin', 'other')]],
  ])('was not tried again if %s', (_, log) => {
    expect(isTriedAgain(log, failed)).toBe(false)
  })
})

it('summarizes arguments, and nothing while the JSON is incomplete', () => {
  expect(summarizeArguments('{"place":"Tokyo","days":2}')).toBe('Tokyo, 2')
  expect(summarizeArguments('{"place":"Tok')).toBe('')
})
