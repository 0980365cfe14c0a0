import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ServerFrame, Subscribed } from '@/api/types'
import { selectDurable } from './server.testing'
import { applyFrame, type ChatStates, emptyState } from './store'

/** Recorded from the services by the Python tests: the frames that were sent, and a fresh snapshot after them. */
interface Fixture {
  frames: ServerFrame[]
  snapshot: Subscribed
}

const folder = join(import.meta.dirname, '../../../tests/fixtures/frames')
const files = readdirSync(folder).filter(name => name.endsWith('.json'))

const applyAll = (frames: readonly ServerFrame[]) =>
  frames.reduce<ChatStates>((state, frame) => applyFrame(state, frame, 0), emptyState)

describe('MSG5: frames recorded from the services', () => {
  it('exist', () => expect(files.length).toBeGreaterThan(0))

  it.each(files)('%s results in the same state as a fresh snapshot', name => {
    const { frames, snapshot } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Fixture
    const state = applyAll(frames).get(snapshot.topic)
    expect(selectDurable(state)).toEqual(selectDurable(applyAll([snapshot]).get(snapshot.topic)))
  })
})
