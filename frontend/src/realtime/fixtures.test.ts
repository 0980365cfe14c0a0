import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { MessageRow, ServerFrame, Subscribed } from '@/api/types'
import type { ChatState } from './chat'
import { selectDurable } from './server.testing'
import { applyFrame, type ChatStates, emptyState } from './store'

/**
 * Recorded from the services by the Python tests: the frames that were sent, and a fresh snapshot after them. A newcomer gets a
 * snapshot in the middle, after some of the frames.
 */
interface Fixture {
  frames: ServerFrame[]
  snapshot: Subscribed
  newcomer_after: number
  newcomer_snapshot: Subscribed
}

const folder = join(import.meta.dirname, '../../../tests/fixtures/frames')
const files = readdirSync(folder).filter(name => name.endsWith('.json'))

const readFixture = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Fixture
const applyAll = (frames: readonly ServerFrame[]) =>
  frames.reduce<ChatStates>((state, frame) => applyFrame(state, frame, 0), emptyState)

/** The durable state, with the messages from a `seq` on. */
function selectFrom(firstSeq: number, chat: ChatState | undefined) {
  const { messages, log, ...rows } = selectDurable(chat)
  const isLoaded = (row: MessageRow) => row.seq >= firstSeq
  return { ...rows, messages: messages.filter(isLoaded), log: log?.filter(isLoaded) }
}

describe('MSG5: frames recorded from the services', () => {
  it('exist', () => expect(files.length).toBeGreaterThan(0))

  it.each(files)('%s results in the same state as a fresh snapshot', name => {
    const { frames, snapshot } = readFixture(name)
    const state = applyAll(frames).get(snapshot.topic)
    expect(selectDurable(state)).toEqual(selectDurable(applyAll([snapshot]).get(snapshot.topic)))
  })

  it.each(files)('%s results in the same rows for a newcomer in the middle', name => {
    const { frames, snapshot, newcomer_after, newcomer_snapshot } = readFixture(name)
    const newcomer = applyAll([newcomer_snapshot, ...frames.slice(newcomer_after)]).get(snapshot.topic)
    const firstSeq = newcomer?.firstLoadedSeq ?? 0
    expect(selectFrom(firstSeq, newcomer)).toEqual(selectFrom(firstSeq, applyAll(frames).get(snapshot.topic)))
  })

  it('have a tree of sub-agents that a newcomer joins', () => {
    const { newcomer_snapshot, snapshot } = readFixture('sub-agents.json')
    const runs = [...(applyAll([newcomer_snapshot]).get(snapshot.topic)?.rows.run.values() ?? [])]
    expect(runs.filter(run => run.parent_id).map(run => run.state)).toEqual(['running', 'queued'])
  })
})
