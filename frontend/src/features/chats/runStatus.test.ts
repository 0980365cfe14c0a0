import { expect, it } from 'vitest'
import type { RunRow } from '@/api'
import type { StreamingText } from '@/realtime'
import type { RunEnd } from './reply'
import { getActiveStatus, getFailedOrStoppedStatus, getRunStatus, isBusy } from './runStatus'

const buildRun = (state: RunRow['state']) => ({ id: 'r', chat_id: 'c', state }) as RunRow
const text = { message_id: 'm' } as StreamingText
const failure: RunEnd = { kind: 'failed', code: null, by: null, note: '', payerName: '', budget: null }
const input = { chatId: 'c', runId: 'r', run: null, streaming: [], runEnd: null }

it.each([
  ['queued', 'queued'],
  ['running', 'working'],
  ['waiting_approval', 'awaiting_approval'],
  ['waiting_child', 'awaiting_child'],
  ['waiting_board', 'awaiting_child'],
  ['completed', 'idle'],
  ['failed', 'idle'],
] as const)('shows a run that is %s as %s', (state, status) => {
  expect(getRunStatus({ ...input, run: buildRun(state) }).status).toBe(status)
})

it('can be stopped while it is active, whatever the outcome of an earlier attempt', () => {
  const status = getRunStatus({ ...input, run: buildRun('running'), streaming: [text], runEnd: failure })
  expect(status.status).toBe('streaming')
  expect([isBusy(status), getActiveStatus(status), getFailedOrStoppedStatus(status)]).toEqual([true, status, null])
})

it('can be retried when it has ended without an answer, also if only its messages are loaded', () => {
  for (const run of [null, buildRun('failed')]) {
    const status = getRunStatus({ ...input, run, runEnd: failure })
    expect(status.status).toBe('failed')
    expect([isBusy(status), getActiveStatus(status), getFailedOrStoppedStatus(status)]).toEqual([false, null, status])
  }
})

it('is expected until its row arrives', () => {
  expect(getRunStatus({ ...input, isExpected: true }).status).toBe('expected')
  expect(getRunStatus({ ...input, isExpected: true, run: buildRun('completed') }).status).toBe('idle')
})
