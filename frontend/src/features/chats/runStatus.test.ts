import { expect, it } from 'vitest'
import type { RunRow } from '@/api'
import type { LiveText } from '@/realtime'
import type { RunEnd } from './reply'
import { activeOf, finishedOf, isBusy, runStatusOf } from './runStatus'

const runIn = (state: RunRow['state']) => ({ id: 'r', chat_id: 'c', state }) as RunRow
const text = { message_id: 'm' } as LiveText
const failure: RunEnd = { kind: 'failed', code: null, by: null, note: '' }
const facts = { chatId: 'c', runId: 'r', run: null, live: [], runEnd: null }

it.each([
  ['queued', 'queued'],
  ['running', 'working'],
  ['waiting_approval', 'awaiting_approval'],
  ['waiting_child', 'awaiting_child'],
  ['completed', 'idle'],
  ['failed', 'idle'],
] as const)('shows a run that is %s as %s', (state, status) => {
  expect(runStatusOf({ ...facts, run: runIn(state) }).status).toBe(status)
})

it('can be stopped as long as it is active, whatever an earlier attempt ended with', () => {
  const status = runStatusOf({ ...facts, run: runIn('running'), live: [text], runEnd: failure })
  expect(status.status).toBe('streaming')
  expect([isBusy(status), activeOf(status), finishedOf(status)]).toEqual([true, status, null])
})

it('can be retried when it has ended without an answer, also when only the log is here', () => {
  for (const run of [null, runIn('failed')]) {
    const status = runStatusOf({ ...facts, run, runEnd: failure })
    expect(status.status).toBe('failed')
    expect([isBusy(status), activeOf(status), finishedOf(status)]).toEqual([false, null, status])
  }
})

it('is expected until its row is here', () => {
  expect(runStatusOf({ ...facts, isExpected: true }).status).toBe('expected')
  expect(runStatusOf({ ...facts, isExpected: true, run: runIn('completed') }).status).toBe('idle')
})
