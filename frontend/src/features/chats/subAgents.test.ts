import { describe, expect, it } from 'vitest'
import type { MessageMetadata, MessageRow, RunRow } from '@/api'
import { run as buildRun } from '@/realtime/server.testing'
import { boardRow, type MessageChange, messageRow, systemRow } from '@/testing/rows'
import { getEnd, readTask, type SubAgent } from './subAgents'
import { buildItems, GrowingItems, type Item } from './timeline'

const metadata = (callId: string, ...path: string[]): MessageMetadata => ({
  agent: { kind: 'sub', name: path.at(-1) ?? '', displayName: path.at(-1) ?? '', depth: path.length - 1, path },
  call_id: callId,
  avatar: null,
})

const row = (seq: number, runId: string, more: MessageChange = {}) =>
  messageRow(seq, {
    run_id: runId,
    author_id: 'robin',
    payload: { text: `${seq}` },
    created_at: new Date(Date.UTC(2026, 10, 20, 10, 0, seq)).toISOString(),
    ...more,
  })
const call = (seq: number, runId: string, callId: string, more: MessageChange = {}) =>
  row(seq, runId, {
    type: 'TOOL_CALL',
    payload: { call_id: callId, name: 'delegate', arguments: '{}', step: 1 },
    ...more,
  })
const result = (seq: number, runId: string, callId: string, childId: string, more: MessageChange = {}) =>
  row(seq, runId, {
    type: 'TOOL_RESPONSE',
    payload: {
      tool_call_id: callId,
      name: 'delegate',
      status: 'ok',
      text: '',
      data: { kind: 'sub_agent', run_id: childId, agent_id: 'x', name: 'X', state: 'completed', summary: 'S' },
    },
    ...more,
  })
const activeRun = (id: string, parent: string | null, more: Partial<RunRow> = {}): RunRow => ({
  ...buildRun(id, 1, 'running'),
  parent_id: parent,
  ...more,
})

const one = { metadata: metadata('a', 'robin', 'one'), author_id: 'one' }
const two = { metadata: metadata('b', 'robin', 'two'), author_id: 'two' }
const deep = { metadata: metadata('a', 'robin', 'two', 'deep'), author_id: 'deep' }

/** A reply with two sub-agents, of which the second has one of its own. The call ids of both callers are the same. */
const tree = [
  messageRow(1),
  call(2, 'r', 'a'),
  call(3, 'r', 'b'),
  row(4, 'r1', one),
  call(5, 'r2', 'a', two),
  row(6, 'r3', deep),
  result(7, 'r2', 'a', 'r3', two),
  row(8, 'r2', two),
  result(9, 'r', 'a', 'r1'),
  result(10, 'r', 'b', 'r2'),
  row(11, 'r'),
]

const formatSubAgent = ({ runId, rows, subAgents }: SubAgent): string =>
  `${runId}:${rows.map(each => each.seq).join(',')}${subAgents.length > 0 ? `(${subAgents.map(formatSubAgent).join(' ')})` : ''}`

function formatItem(item: Item): string {
  if (item.kind === 'reply')
    return [`${item.runId}:${item.rows.map(each => each.seq).join(',')}`, ...item.subAgents.map(formatSubAgent)].join(
      ' ',
    )
  if (item.kind === 'subAgent') return `alone ${formatSubAgent(item.subAgent)}`
  return item.kind === 'message' ? `${item.row.seq}` : item.kind
}

const input = (messages: readonly MessageRow[], runs: readonly RunRow[] = []) => ({
  messages,
  unsent: [],
  active: runs,
  subAgentRuns: runs.filter(run => run.parent_id),
  unreadAfter: null,
  me: 'alice',
})
const format = (messages: readonly MessageRow[], runs: readonly RunRow[] = []) =>
  buildItems(input(messages, runs))
    .filter(item => item.kind !== 'day')
    .map(formatItem)

describe('the sub-agents of a reply', () => {
  it('are nested below the calls of their callers and are no messages of their own', () => {
    expect(format(tree)).toEqual(['1', 'r:2,3,9,10,11 r1:4 r2:5,7,8(r3:6)'])
  })

  it('have the same places at every moment of the log, with and without the rows of their runs', () => {
    const runs = [
      activeRun('r', null),
      activeRun('r1', 'r', one),
      activeRun('r2', 'r', two),
      activeRun('r3', 'r2', deep),
    ]
    const growing = new GrowingItems(3)
    for (let length = 6; length <= tree.length; length += 1) {
      const messages = tree.slice(0, length)
      const whole = format(messages)
      expect(whole[1]).toContain('r1:4')
      expect(whole).toHaveLength(2)
      expect(format(messages, runs)).toEqual(whole)
      expect(
        growing
          .update(input(messages))
          .filter(item => item.kind !== 'day')
          .map(formatItem),
      ).toEqual(whole)
    }
  })

  it('are shown before their first row while they are active', () => {
    const runs = [activeRun('r', null), activeRun('r1', 'r', one)]
    expect(format(tree.slice(0, 3), runs)).toEqual(['1', 'r:2,3 r1:'])
    expect(format(tree.slice(0, 3), [activeRun('r', null), activeRun('r1', 'r', { ...one, state: 'failed' })])).toEqual(
      ['1', 'r:2,3'],
    )
  })

  it('lose no row at the boundary of a page, and get their places when the page before is loaded', () => {
    for (let start = 1; start < tree.length; start += 1) {
      const seqs = format(tree.slice(start))
        .join(' ')
        .match(/\b\d+(?=[,( )]|$)/g)
      expect(seqs?.map(Number).sort((a, b) => a - b)).toEqual(tree.slice(start).map(each => each.seq))
    }
    // Only the call is missing: the answer to it names the run.
    expect(format(tree.slice(3))).toEqual(['r:9,10,11 r1:4 r2:5,7,8(r3:6)'])
    // Neither call nor answer is loaded, and the run is known only while it is active.
    expect(format(tree.slice(3, 6))).toEqual(['alone r1:4', 'alone r2:5(r3:6)'])
    const runs = [activeRun('r', null), activeRun('r1', 'r', one), activeRun('r2', 'r', two)]
    expect(format(tree.slice(3, 6), runs)).toEqual(['r: r1:4 r2:5(r3:6)'])
  })

  it('are in the part of a divided reply that has their call', () => {
    const at = (seconds: number) => new Date(Date.UTC(2026, 10, 20, 10, 0, seconds)).toISOString()
    const divided = [
      messageRow(1, { created_at: at(1) }),
      call(2, 'r', 'a'),
      row(3, 'r1', one),
      messageRow(4, { author_id: 'bob', created_at: at(4) }),
      result(5, 'r', 'a', 'r1'),
      call(6, 'r', 'b'),
      row(7, 'r2', two),
    ]
    expect(format(divided)).toEqual(['1', 'r:2,5 r1:3', '4', 'r:6 r2:7'])
  })

  it('are the same objects when nothing of them changes', () => {
    const growing = new GrowingItems()
    const find = (items: readonly Item[]) => items.flatMap(item => (item.kind === 'reply' ? item.subAgents : []))
    const before = find(growing.update(input(tree.slice(0, 7))))
    const after = find(growing.update(input(tree)))
    expect(before[0]).toBe(after[0])
    expect(before[1]).not.toBe(after[1])
    expect(before[1]?.subAgents[0]).toBe(after[1]?.subAgents[0])
  })
})

describe('the end and the cost of a sub-agent', () => {
  const subAgent = (...rows: MessageRow[]): SubAgent => ({
    runId: '0190a8f0-0000-7000-8000-000000000001',
    agentId: 'one',
    metadata: one.metadata,
    rows,
    subAgents: [],
  })

  it('are read from its rows until its caller has its result', () => {
    expect(getEnd(subAgent(row(1, 'x', { payload: { text: 'It\n is 42.' } })), null)).toMatchObject({
      state: 'completed',
      summary: 'It is 42.',
    })
    const stopped = row(2, 'x', { type: 'RUN_STOPPED', payload: { actor_id: 'bob' } })
    expect(getEnd(subAgent(stopped), null)).toMatchObject({ state: 'stopped', by: 'bob' })
    const failed = row(2, 'x', { type: 'RUN_FAILED', payload: { code: 'step_limit' } })
    expect(getEnd(subAgent(failed), null)).toMatchObject({ state: 'failed', code: 'step_limit' })
  })
})

describe('readTask', () => {
  it('reads the task with its facts and files', () => {
    const args = {
      name: 'reader',
      task: 'Read it',
      context: { url: 'https://example.org', years: [2025, 2026], note: null },
      options: { max_steps: 3, file_ids: ['A1', 'b2', 'a1'] },
    }
    expect(readTask(JSON.stringify(args))).toEqual({
      text: 'Read it',
      context: 'url: https://example.org\nyears: [2025,2026]\nnote: null',
      fileIds: ['a1', 'b2'],
    })
  })

  it('reads a task alone', () => {
    const task = { text: 'Read it', context: '', fileIds: [] }
    expect(readTask('{"task": "Read it"}')).toEqual(task)
    expect(readTask('{"task": "Read it", "context": null, "options": null}')).toEqual(task)
    expect(readTask('{"task": "Read it", "context": {}, "options": {"file_ids": "a"}}')).toEqual(task)
  })

  it.each(['', '{"task": "Rea', '[]', 'null', '{}', '{"task": 1}'])('reads no task from %j', args => {
    expect(readTask(args)).toBeNull()
  })
})

describe('boards', () => {
  const taskOf = (id: string) => ({ metadata: metadata(id, 'alice', 'weather'), author_id: 'weather' })
  const board = boardRow({ id: 'b', supervisor_run_id: 'r', call_id: 'plan' })
  const byHand = { ...board, supervisor_run_id: null, call_id: null, message_id: 'm' }
  const boardsByCall = new Map([['t1', 'b']])
  const started = systemRow('TASKS_STARTED', { board_id: 'b' }, { seq: 1, created_at: '2026-11-20T10:00:01Z' })
  const show = (messages: readonly MessageRow[], more: Partial<Parameters<typeof buildItems>[0]> = {}) =>
    buildItems({ messages, unsent: [], active: [], unreadAfter: null, me: 'alice', boardsByCall, ...more }).flatMap(
      item => {
        if (item.kind === 'day') return []
        const boards = 'boards' in item ? item.boards : []
        return [
          `${item.kind} ${boards.map(({ id, runs }) => `${id}: ${runs.map(run => run.runId).join()}`).join()}`.trim(),
        ]
      },
    )

  it('are shown in the reply of their supervisor, with the runs of their tasks', () => {
    const messages = [messageRow(1), call(2, 'r', 'plan'), row(3, 'r1', taskOf('t1')), row(4, 'r')]
    expect(show(messages, { boards: [board] })).toEqual(['message', 'reply b: r1'])
  })

  it('are shown at their message, with the answer of an agent that is not in the chat', () => {
    const messages = [started, row(2, 'r1', taskOf('t1')), row(3, 'r2', taskOf('b'))]
    const calls = new Map([...boardsByCall, ['b', 'b']])
    expect(show(messages, { boards: [byHand], boardsByCall: calls })).toEqual(['system b: r1,r2'])
  })

  it('are shown alone while their message is not loaded, if they have loaded runs or have not ended', () => {
    expect(show([row(2, 'r1', taskOf('t1'))], { boards: [byHand] })).toEqual(['board b: r1'])
    expect(show([messageRow(1)], { boards: [byHand], activeBoards: new Set(['b']) })).toContain('board b:')
    expect(show([messageRow(1)], { boards: [byHand] })).toEqual(['message'])
  })

  it('are not shown as sub-agents while they are not known', () => {
    const unknown = row(2, 'r1', taskOf('01a22468-dfc1-719e-9f1a-0942a87087f3'))
    expect(show([messageRow(1), unknown])).toEqual(['message'])
    expect(show([messageRow(1), row(2, 'r1', taskOf('call_1'))])).toEqual(['message', 'subAgent'])
  })

  it('have the run of a task that has no message yet, which is no reply', () => {
    const run = activeRun('r1', null, { metadata: taskOf('t1').metadata })
    const items = show([started], { boards: [byHand], active: [run], subAgentRuns: [run] })
    expect(items).toEqual(['system b: r1'])
  })

  it('are the same objects while none of their rows changes', () => {
    const items = new GrowingItems()
    const input = { unsent: [], active: [], unreadAfter: null, me: 'alice', boards: [byHand], boardsByCall }
    const messages = [started, row(2, 'r1', taskOf('t1'))]
    const before = items.update({ ...input, messages })
    const after = items.update({ ...input, messages: [...messages, messageRow(3)] })
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after[1]).toBe(before[1])
  })
})
