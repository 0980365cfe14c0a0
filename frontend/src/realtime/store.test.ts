import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyRow, Delta, ServerFrame } from '@/api/types'
import { type Change, draft, durable, message, run, ServerChat, topic } from './server.testing'
import { apply, emptyState, evictOldChats, isBehind, type LiveState, MAX_LEFT } from './store'

const applied = (frames: readonly ServerFrame[], from: LiveState = emptyState) =>
  frames.reduce((state, frame) => apply(state, frame, 0), from)

const change: fc.Arbitrary<Change> = fc.record({
  what: fc.constantFrom('post', 'edit', 'run', 'draft', 'participant'),
  which: fc.nat({ max: 3 }),
})

/** What happens to each frame on its way: it is lost, comes twice, or comes some places late. */
const fate = fc.record({ lost: fc.boolean(), twice: fc.boolean(), late: fc.nat({ max: 4 }) })

function delivered(frames: readonly ServerFrame[], fates: readonly { lost: boolean; twice: boolean; late: number }[]) {
  const sent = frames.flatMap((frame, index) => {
    const { lost, twice, late } = fates[index % Math.max(1, fates.length)] ?? { lost: false, twice: false, late: 0 }
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
  it('MSG5: a snapshot and frames, lost, doubled and delayed, then a repair, equal a fresh snapshot', () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 40 }),
        fc.nat(),
        fc.nat(),
        fc.array(fate, { minLength: 1, maxLength: 12 }),
        (changes, start, middle, fates) => {
          const history = new ServerChat(changes)
          const from = start % (history.version + 1)
          const half = from + (middle % (history.version - from + 1))
          const first = applied([history.snapshot(from)])
          const early = applied(delivered(history.frames.slice(0, half), fates), first)
          const caughtUp = applied([history.since(early.get(topic)?.version ?? 0, half)], early)
          const later = applied(delivered(history.frames, fates), caughtUp)
          const repaired = applied([history.since(later.get(topic)?.version ?? 0)], later)
          expect(durable(repaired.get(topic))).toEqual(durable(applied([history.snapshot()]).get(topic)))
        },
      ),
      { numRuns: 500 },
    )
  })

  it('without any loss needs no repair at all', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), fc.nat(), (changes, start) => {
        const history = new ServerChat(changes)
        const state = applied(history.frames, applied([history.snapshot(start % (history.version + 1))]))
        expect(durable(state.get(topic))).toEqual(durable(applied([history.snapshot()]).get(topic)))
      }),
    )
  })

  it('uses the rows of a frame after a gap, but does not count itself whole', () => {
    const state = applied([
      { ...new ServerChat([]).snapshot(), version: 3 },
      { type: 'changes', topic, after: 4, version: 5, rows: [message('m5', 5, 5, 'five')] },
    ]).get(topic)
    expect(state?.messages.get('m5')?.version).toBe(5)
    expect(state?.version).toBe(3)
    expect(state && isBehind(state)).toBe(true)
  })

  it('is behind when the heartbeat names a higher version, and not when it names its own', () => {
    const start = applied([{ ...new ServerChat([]).snapshot(), version: 3 }])
    const beaten = (version: number) =>
      applied([{ type: 'heartbeat', versions: { [topic]: version } }], start).get(topic)
    expect(beaten(3) && isBehind(beaten(3) as never)).toBe(false)
    expect(beaten(4) && isBehind(beaten(4) as never)).toBe(true)
  })

  it('does not let a late frame bring back a run that has ended', () => {
    const history = new ServerChat([
      { what: 'run', which: 0 },
      { what: 'run', which: 0 },
    ])
    const state = applied([...history.frames, ...history.frames.slice(0, 1)])
    expect(state.get(topic)?.runs.get('run0')?.state).toBe('completed')
  })

  it('takes the higher revision of a draft of the same version: an autosave raises nothing else', () => {
    const state = applied([
      { ...new ServerChat([]).snapshot(), version: 2, rows: [draft('d', 2, 4, 'drafting')] },
      { ...new ServerChat([]).snapshot(), snapshot: false, version: 2, rows: [draft('d', 2, 3, 'drafting')] },
    ])
    expect(state.get(topic)?.drafts.get('d')?.revision).toBe(4)
  })
})

describe('what a frame does not name', () => {
  const history = new ServerChat([
    { what: 'post', which: 0 },
    { what: 'participant', which: 0 },
    { what: 'draft', which: 0 },
    { what: 'run', which: 0 },
  ])
  const before = applied([history.snapshot()])
  const tables = ['messages', 'log', 'participants', 'drafts', 'runs', 'live', 'writing', 'typing'] as const
  const changedBy = (frame: ServerFrame) => {
    const [was, is] = [before.get(topic), applied([frame], before).get(topic)]
    return tables.filter(name => was?.[name] !== is?.[name])
  }
  const changes = (...rows: AnyRow[]): ServerFrame => ({ type: 'changes', topic, after: 4, version: 5, rows })

  it('stays the same object', () => {
    expect(changedBy(changes(run('run0', 5, 'queued')))).toEqual(['runs'])
    expect(changedBy(changes(message('m5', 5, 5, 'five')))).toEqual(['messages', 'log'])
    expect(changedBy(changes(message('post1', 1, 1, 'said')))).toEqual([])
    // Each answer has all that streams.
    expect(changedBy(history.snapshot())).toEqual(['live'])
    expect(changedBy({ ...history.snapshot(), snapshot: false })).toEqual(['live'])
  })

  it('keeps each row in the log by its place, whatever comes in which order', () => {
    const log = (state: LiveState) => state.get(topic)?.log.map(row => `${row.seq} ${row.version}`)
    const state = applied(
      [changes(message('c', 7, 7, ''), message('b', 6, 6, '')), changes(message('b', 8, 6, ''))],
      before,
    )
    expect(log(state)).toEqual(['1 1', '6 8', '7 7'])
    const again = applied([{ ...new ServerChat([]).snapshot(), version: 7, rows: [message('c', 7, 7, '')] }], state)
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

const textOf = (state: LiveState) =>
  state
    .get(topic)
    ?.live.get('r')
    ?.map(text => text.text)

describe('live text', () => {
  const start = applied([{ ...new ServerChat([]).snapshot(), version: 1, rows: [run('r', 1, 'running')] }])

  it('grows by deltas, and a delta that comes twice or overlaps adds nothing twice', () => {
    const state = applied([delta(0, 'Hel'), delta(3, 'lo 👋'), delta(3, 'lo 👋'), delta(6, '👋 you')], start)
    expect(textOf(state)).toEqual(['Hello 👋 you'])
  })

  it('shows where a delta is missing', () => {
    expect(textOf(applied([delta(0, 'Hel'), delta(9, 'there')], start))).toEqual(['Hel…there'])
  })

  it('is replaced by a higher attempt and deaf to a lower one', () => {
    const state = applied(
      [delta(0, 'old'), delta(0, 'new', { attempt: 2, message_id: 'n', row_id: 'n' }), delta(3, 'er')],
      start,
    )
    expect(textOf(state)).toEqual(['new'])
  })

  it('is replaced by the durable row, and a late delta does not bring it back', () => {
    const row: ServerFrame = { type: 'changes', topic, after: 1, version: 2, rows: [message('m', 2, 2, 'Hello')] }
    expect(textOf(applied([delta(0, 'Hel'), row, delta(3, 'lo')], start))).toBeUndefined()
  })

  it('gives way to any row of its step', () => {
    const thought = delta(0, 'Hmm', { part: 'thinking', row_id: 'thought' })
    const row: ServerFrame = { type: 'changes', topic, after: 1, version: 2, rows: [message('m', 2, 2, 'Hello')] }
    expect(textOf(applied([thought, delta(0, ' '), row], start))).toBeUndefined()
  })

  it('ends with its run', () => {
    const row: ServerFrame = { type: 'changes', topic, after: 1, version: 2, rows: [run('r', 2, 'stopped')] }
    expect(textOf(applied([delta(0, 'Hel'), row, delta(3, 'lo')], start))).toBeUndefined()
  })

  it('continues the partials of a snapshot', () => {
    const { type: _, topic: __, offset: ___, ...partial } = delta(0, 'Hello wo')
    const joined = applied([
      { ...new ServerChat([]).snapshot(), version: 1, rows: [run('r', 1, 'running')], partials: [partial] },
    ])
    expect(textOf(applied([delta(5, ' wor'), delta(9, 'ld')], joined))).toEqual(['Hello world'])
  })
})

describe('a chat that may not be followed', () => {
  it('is closed when the server refuses or withdraws it, and opens with the next answer', () => {
    const opened = applied([new ServerChat([]).snapshot()])
    const closed = (frame: ServerFrame) => applied([frame], opened).get(topic)?.closed
    expect(closed({ type: 'error', topic, code: 'not_found', message: '' })).toBe(true)
    expect(closed({ type: 'error', topic, code: 'limit_reached', message: '' })).toBe(false)
    expect(closed({ type: 'access', topic, allowed: false })).toBe(true)
    expect(
      applied([{ type: 'access', topic, allowed: false }, new ServerChat([]).snapshot()], opened).get(topic)?.closed,
    ).toBe(false)
  })
})

describe('chats that were left', () => {
  const topics = Array.from({ length: MAX_LEFT + 3 }, (_, number) => `chat:${number}`)
  const state = topics.reduce<LiveState>(
    (all, each) => apply(all, { type: 'access', topic: each, allowed: true }, 0),
    apply(emptyState, { type: 'access', topic: 'chat:open', allowed: true }, 0),
  )

  it('are forgotten when they were left longest ago', () => {
    const [kept, left] = evictOldChats(state, topics)
    expect([...kept.keys()]).toEqual(['chat:open', ...topics.slice(3)])
    expect(left).toEqual(topics.slice(3))
  })

  it('are all kept while they are few', () => {
    expect(evictOldChats(state, topics.slice(0, MAX_LEFT))[0]).toBe(state)
  })
})
