import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyRow, Delta, ServerFrame } from '@/api/types'
import { boardRow, boardTaskRow } from '@/testing/rows'
import { addEndedRows, applyRows, type ChatState, emptyChat } from './chat'
import { type Change, draft, message, run, ServerChat, selectDurable, topic } from './server.testing'
import { applyFrame, type ChatStates, emptyState, evictOldChats, isBehind, MAX_LEFT } from './store'

const applyAll = (frames: readonly ServerFrame[], from: ChatStates = emptyState) =>
  frames.reduce((state, frame) => applyFrame(state, frame, 0), from)

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('post', 'edit', 'run', 'draft', 'participant'),
  index: fc.nat({ max: 3 }),
})

/** How a frame is delivered: it is lost, arrives twice, or arrives some positions late. */
const delivery = fc.record({ lost: fc.boolean(), twice: fc.boolean(), late: fc.nat({ max: 4 }) })

function deliver(
  frames: readonly ServerFrame[],
  deliveries: readonly { lost: boolean; twice: boolean; late: number }[],
) {
  const sent = frames.flatMap((frame, index) => {
    const { lost, twice, late } = deliveries[index % Math.max(1, deliveries.length)] ?? {
      lost: false,
      twice: false,
      late: 0,
    }
    if (lost) return []
    return twice
      ? [
          { frame, at: index },
          { frame, at: index + late },
        ]
      : [{ frame, at: index + late }]
  })
  return sent.sort((a, b) => a.at - b.at).map(({ frame }) => frame)
}

describe('the store', () => {
  it('MSG5: a snapshot and lost, repeated and late frames, after a catch-up, equal a fresh snapshot', () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 40 }),
        fc.nat(),
        fc.nat(),
        fc.array(delivery, { minLength: 1, maxLength: 12 }),
        (changes, start, middle, deliveries) => {
          const history = new ServerChat(changes)
          const from = start % (history.version + 1)
          const half = from + (middle % (history.version - from + 1))
          const first = applyAll([history.snapshot(from)])
          const early = applyAll(deliver(history.frames.slice(0, half), deliveries), first)
          const caughtUp = applyAll([history.since(early.get(topic)?.version ?? 0, half)], early)
          const later = applyAll(deliver(history.frames, deliveries), caughtUp)
          const caughtUpAgain = applyAll([history.since(later.get(topic)?.version ?? 0)], later)
          expect(selectDurable(caughtUpAgain.get(topic))).toEqual(
            selectDurable(applyAll([history.snapshot()]).get(topic)),
          )
        },
      ),
      { numRuns: 500 },
    )
  })

  it('needs no catch-up without losses', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), fc.nat(), (changes, start) => {
        const history = new ServerChat(changes)
        const state = applyAll(history.frames, applyAll([history.snapshot(start % (history.version + 1))]))
        expect(selectDurable(state.get(topic))).toEqual(selectDurable(applyAll([history.snapshot()]).get(topic)))
      }),
    )
  })

  it('applies the rows of a frame after a gap, but stays behind', () => {
    const state = applyAll([
      { ...new ServerChat([]).snapshot(), version: 3 },
      { type: 'changes', topic, after: 4, version: 5, rows: [message('m5', 5, 5, 'five')] },
    ]).get(topic)
    expect(state?.rows.message.get('m5')?.version).toBe(5)
    expect(state?.version).toBe(3)
    expect(state && isBehind(state)).toBe(true)
  })

  it('is behind when a heartbeat has a higher version, and not when it has the same', () => {
    const start = applyAll([{ ...new ServerChat([]).snapshot(), version: 3 }])
    const applyHeartbeat = (version: number) =>
      applyAll([{ type: 'heartbeat', versions: { [topic]: version } }], start).get(topic)
    expect(applyHeartbeat(3) && isBehind(applyHeartbeat(3) as never)).toBe(false)
    expect(applyHeartbeat(4) && isBehind(applyHeartbeat(4) as never)).toBe(true)
  })

  it('does not restore an ended run from a late frame', () => {
    const history = new ServerChat([
      { kind: 'run', index: 0 },
      { kind: 'run', index: 0 },
    ])
    const state = applyAll([...history.frames, ...history.frames.slice(0, 1)])
    expect(state.get(topic)?.rows.run.get('run0')?.state).toBe('completed')
  })

  it('keeps the higher revision of a draft with the same version, because an autosave increases nothing else', () => {
    const state = applyAll([
      { ...new ServerChat([]).snapshot(), version: 2, rows: [draft('d', 2, 4, 'drafting')] },
      { ...new ServerChat([]).snapshot(), snapshot: false, version: 2, rows: [draft('d', 2, 3, 'drafting')] },
    ])
    expect(state.get(topic)?.rows.draft.get('d')?.revision).toBe(4)
  })
})

describe('tables without changes in a frame', () => {
  const history = new ServerChat([
    { kind: 'post', index: 0 },
    { kind: 'participant', index: 0 },
    { kind: 'draft', index: 0 },
    { kind: 'run', index: 0 },
  ])
  const before = applyAll([history.snapshot()])
  const select = (chat = emptyChat) => {
    const { log, streaming, writing, typing } = chat
    return { ...chat.rows, log, streaming, writing, typing }
  }
  const listChangedTables = (frame: ServerFrame) => {
    const [was, is] = [select(before.get(topic)), select(applyAll([frame], before).get(topic))]
    return Object.keys(was).filter(name => was[name as keyof typeof was] !== is[name as keyof typeof is])
  }
  const changes = (...rows: AnyRow[]): ServerFrame => ({ type: 'changes', topic, after: 4, version: 5, rows })

  it('stay the same objects', () => {
    expect(listChangedTables(changes(run('run0', 5, 'queued')))).toEqual(['run'])
    expect(listChangedTables(changes(message('m5', 5, 5, 'five')))).toEqual(['message', 'log'])
    expect(listChangedTables(changes(message('post1', 1, 1, 'text')))).toEqual([])
    // Each response has all streaming texts.
    expect(listChangedTables(history.snapshot())).toEqual(['streaming'])
    expect(listChangedTables({ ...history.snapshot(), snapshot: false })).toEqual(['streaming'])
  })

  it('keep the log sorted, whatever the order of arrival', () => {
    const log = (state: ChatStates) => state.get(topic)?.log.map(row => `${row.seq} ${row.version}`)
    const state = applyAll(
      [changes(message('c', 7, 7, ''), message('b', 6, 6, '')), changes(message('b', 8, 6, ''))],
      before,
    )
    expect(log(state)).toEqual(['1 1', '6 8', '7 7'])
    const again = applyAll([{ ...new ServerChat([]).snapshot(), version: 7, rows: [message('c', 7, 7, '')] }], state)
    expect(log(again)).toEqual(['6 8', '7 7'])
  })
})

const delta = (offset: number, text: string, more: Partial<Delta> = {}): Delta => ({
  type: 'delta',
  topic,
  message_id: 'm',
  row_id: 'm',
  run_id: 'r',
  agent_id: 'robin',
  attempt: 1,
  part: 'text',
  index: 0,
  call_id: null,
  name: null,
  offset,
  text,
  ...more,
})

const listTexts = (state: ChatStates) =>
  state
    .get(topic)
    ?.streaming.get('r')
    ?.map(text => text.text)

describe('a streaming text', () => {
  const start = applyAll([{ ...new ServerChat([]).snapshot(), version: 1, rows: [run('r', 1, 'running')] }])

  it('grows by deltas, and a repeated or overlapping delta adds nothing twice', () => {
    const state = applyAll([delta(0, 'Hel'), delta(3, 'lo 👋'), delta(3, 'lo 👋'), delta(6, '👋 you')], start)
    expect(listTexts(state)).toEqual(['Hello 👋 you'])
  })

  it('shows where a delta is missing', () => {
    expect(listTexts(applyAll([delta(0, 'Hel'), delta(9, 'there')], start))).toEqual(['Hel…there'])
  })

  it('is replaced by a higher attempt and ignores a lower one', () => {
    const state = applyAll(
      [delta(0, 'old'), delta(0, 'new', { attempt: 2, message_id: 'n', row_id: 'n' }), delta(3, 'er')],
      start,
    )
    expect(listTexts(state)).toEqual(['new'])
  })

  it('is replaced by the durable row, and is not restored by a late delta', () => {
    const row: ServerFrame = { type: 'changes', topic, after: 1, version: 2, rows: [message('m', 2, 2, 'Hello')] }
    expect(listTexts(applyAll([delta(0, 'Hel'), row, delta(3, 'lo')], start))).toBeUndefined()
  })

  it('is removed by any row of its step', () => {
    const thought = delta(0, 'Hmm', { part: 'thinking', row_id: 'thought' })
    const row: ServerFrame = { type: 'changes', topic, after: 1, version: 2, rows: [message('m', 2, 2, 'Hello')] }
    expect(listTexts(applyAll([thought, delta(0, ' '), row], start))).toBeUndefined()
  })

  it('ends with its run', () => {
    const row: ServerFrame = { type: 'changes', topic, after: 1, version: 2, rows: [run('r', 2, 'stopped')] }
    expect(listTexts(applyAll([delta(0, 'Hel'), row, delta(3, 'lo')], start))).toBeUndefined()
  })

  it('continues the partials of a snapshot', () => {
    const { type: _, topic: __, offset: ___, ...partial } = delta(0, 'Hello wo')
    const joined = applyAll([
      { ...new ServerChat([]).snapshot(), version: 1, rows: [run('r', 1, 'running')], partials: [partial] },
    ])
    expect(listTexts(applyAll([delta(5, ' wor'), delta(9, 'ld')], joined))).toEqual(['Hello world'])
  })
})

describe('a chat without access', () => {
  it('is closed when the server denies access, and opens with the next snapshot', () => {
    const opened = applyAll([new ServerChat([]).snapshot()])
    const closed = (frame: ServerFrame) => applyAll([frame], opened).get(topic)?.closed
    expect(closed({ type: 'error', topic, code: 'not_found', message: '' })).toBe(true)
    expect(closed({ type: 'error', topic, code: 'limit_reached', message: '' })).toBe(false)
    expect(closed({ type: 'access', topic, allowed: false })).toBe(true)
    expect(
      applyAll([{ type: 'access', topic, allowed: false }, new ServerChat([]).snapshot()], opened).get(topic)?.closed,
    ).toBe(false)
  })
})

describe('chats that were left', () => {
  const topics = Array.from({ length: MAX_LEFT + 3 }, (_, number) => `chat:${number}`)
  const state = topics.reduce<ChatStates>(
    (all, topic) => applyFrame(all, { type: 'access', topic, allowed: true }, 0),
    applyFrame(emptyState, { type: 'access', topic: 'chat:open', allowed: true }, 0),
  )

  it('are dropped if they were left longest ago', () => {
    const [kept, left] = evictOldChats(state, topics)
    expect([...kept.keys()]).toEqual(['chat:open', ...topics.slice(3)])
    expect(left).toEqual(topics.slice(3))
  })

  it('are all kept below the limit', () => {
    expect(evictOldChats(state, topics.slice(0, MAX_LEFT))[0]).toBe(state)
  })
})

describe('ended boards', () => {
  const ended = { state: 'completed', ended_at: '2026-11-20T10:02:00Z' } as const
  const board = boardRow({ version: 2, ...ended })
  const task = boardTaskRow(1, { version: 2, state: 'succeeded', ended_at: ended.ended_at })
  const snapshot = { ...new ServerChat([]).snapshot(), version: 9 }
  const idsOf = (chat: ChatState) => [...chat.rows.board.keys(), ...chat.rows.board_task.keys()]

  it('are added by REST although the state has passed their versions, and stay after a reconnect', () => {
    const opened = applyAll([snapshot]).get(topic) ?? emptyChat
    expect(idsOf(applyRows(opened, [board, task]))).toEqual([])
    const read = addEndedRows(opened, [board, task])
    expect(idsOf(read)).toEqual(['b', 't1'])
    expect(idsOf(applyAll([snapshot], new Map([[topic, read]])).get(topic) ?? emptyChat)).toEqual(['b', 't1'])
  })

  it('are read again if they ended while the socket was closed', () => {
    const open = { ...snapshot, rows: [boardRow({ version: 2 }), boardTaskRow(1, { version: 2 })] }
    // It is read when its message is met.
    expect([...(applyAll([open, snapshot]).get(topic) ?? emptyChat).rows.board.keys()]).toEqual([])
  })
})
