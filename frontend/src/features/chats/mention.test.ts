import { describe, expect, it } from 'vitest'
import type { ActorRow } from '@/api'
import { calledIn, completed, matching, mentionAt, withHandles } from './mention'

const actor = (name: string, handle: string, kind: ActorRow['kind'] = 'human'): ActorRow => ({
  id: handle,
  kind,
  name,
  handle,
  description: null,
  workspace_id: null,
  is_public: false,
  avatar: null,
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

describe('who is called by name', () => {
  const planner = actor('Trip Planner', 'trip-planner', 'agent')
  const trip = actor('Trip', 'trip', 'agent')
  const ling = actor('王佳玲', 'u-4327cf')
  const here = [trip, planner, ling, actor('all of us', 'all')]

  it('is called by handle when the text is sent, also where the name was typed', () => {
    expect(withHandles('@Trip Planner hello', here)).toBe('@trip-planner hello')
    expect(withHandles('(@trip planner, @Trip)', here)).toBe('(@trip-planner, @trip)')
    expect(withHandles('@trip-planner and @u-4327cf', here)).toBe('@trip-planner and @u-4327cf')
  })

  it('needs no spaces in Chinese', () => {
    expect(withHandles('你好@王佳玲你看', here)).toBe('你好 @u-4327cf 你看')
    expect(withHandles('@王佳玲，@Trip', here)).toBe('@u-4327cf，@trip')
  })

  it('is nobody in the middle of a word or an address', () => {
    expect(withHandles('@Tripod mail@Trip me', here)).toBe('@Tripod mail@Trip me')
  })

  it('has a handle where two have the same name', () => {
    const other = { ...trip, id: 'other', handle: 'trip-2' }
    expect(calledIn([trip, other], trip)).toBe('trip')
    expect(calledIn([trip, planner], trip)).toBe('Trip')
    expect(withHandles('@Trip hi', [trip, other])).toBe('@Trip hi')
  })
})
