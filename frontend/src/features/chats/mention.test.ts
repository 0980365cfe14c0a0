import { describe, expect, it } from 'vitest'
import type { ActorRow } from '@/api'
import { completed, matching, mentionAt } from './mention'

const actor = (name: string, handle: string, kind: ActorRow['kind'] = 'human'): ActorRow => ({
  id: handle,
  kind,
  name,
  handle,
  description: null,
  workspace_id: null,
  is_public: false,
})

describe('mentionAt', () => {
  it('finds what is being written at the caret', () => {
    expect(mentionAt('hi @scr', 7)).toEqual({ from: 3, query: 'scr' })
    expect(mentionAt('@', 1)).toEqual({ from: 0, query: '' })
    expect(mentionAt('問@小', 3)).toBeNull()
    expect(mentionAt('，@小', 3)).toEqual({ from: 1, query: '小' })
  })

  it('is none in an address, or after a space', () => {
    expect(mentionAt('mail me@example', 15)).toBeNull()
    expect(mentionAt('@scribe hello', 13)).toBeNull()
  })
})

it('lists agents first, and what begins with the query before what contains it', () => {
  const actors = [
    actor('Oscar', 'oscar'),
    actor('Carol', 'carol'),
    actor('Scribe', 'scribe', 'agent'),
    actor('Bob', 'bob'),
  ]
  expect(matching(actors, 'c').map(each => each.name)).toEqual(['Scribe', 'Carol', 'Oscar'])
  expect(matching(actors, '').map(each => each.name)).toEqual(['Scribe', 'Bob', 'Carol', 'Oscar'])
})

it('completes with one space after the handle', () => {
  expect(completed('hi @sc you', 6, { from: 3, query: 'sc' }, 'scribe')).toEqual({ text: 'hi @scribe you', caret: 11 })
  expect(completed('@sc', 3, { from: 0, query: 'sc' }, 'scribe')).toEqual({ text: '@scribe ', caret: 8 })
})
