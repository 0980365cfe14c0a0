import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ServerFrame, Subscribed } from '@/api/types'
import { durable } from './server.testing'
import { apply, emptyState, type LiveState } from './store'

/** Written by the Python tests from real services: what was sent, and what a newcomer would be told at the end. */
interface Fixture {
  frames: ServerFrame[]
  snapshot: Subscribed
}

const folder = join(import.meta.dirname, '../../../tests/fixtures/frames')
const files = readdirSync(folder).filter(name => name.endsWith('.json'))

const applied = (frames: readonly ServerFrame[]) =>
  frames.reduce<LiveState>((state, frame) => apply(state, frame, 0), emptyState)

describe('MSG5: frames recorded from the services', () => {
  it('are there', () => expect(files.length).toBeGreaterThan(0))

  it.each(files)('%s results in the same state as a fresh snapshot', name => {
    const { frames, snapshot } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Fixture
    const state = applied(frames).get(snapshot.topic)
    expect(durable(state)).toEqual(durable(applied([snapshot]).get(snapshot.topic)))
  })
})
