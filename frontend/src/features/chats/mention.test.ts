import { describe, expect, it } from 'vitest'
import type { ActorRow } from '@/api'
import { listMentions } from '@/lib/mentions'
import table from '../../../../tests/fixtures/mentions.json'
import { filterByName, findMention, getMentionName, insertMention, replaceNamesByHandles } from './mention'

const actor = (name: string, handle: string, kind: ActorRow['kind'] = 'human'): ActorRow => ({
  id: handle,
  kind,
  name,
  handle,
  description: null,
  workspace_id: null,
  is_public: false,
  is_taken_down: false,
  avatar: null,
})

describe('findMention', () => {
  it('finds the query at the caret', () => {
    expect(findMention('hi @scr', 7)).toEqual({ from: 3, query: 'scr' })
    expect(findMention('@', 1)).toEqual({ from: 0, query: '' })
    expect(findMention('問@小', 3)).toEqual({ from: 1, query: '小' })
    expect(findMention('你好@', 3)).toEqual({ from: 2, query: '' })
    expect(findMention('你好＠小', 4)).toEqual({ from: 2, query: '小' })
    expect(findMention('，@小', 3)).toEqual({ from: 1, query: '小' })
  })

  it('finds nothing in an email or a URL or after a space', () => {
    for (const text of ['a@', 'é@', '1@', 'a_@', '_@', '/@', '`@`', '```\n@'])
      expect(findMention(text, text.indexOf('@') + 1), text).toBeNull()
    expect(findMention('mail me@example', 15)).toBeNull()
    expect(findMention('@scribe hello', 13)).toBeNull()
  })
})

it('lists agents first, and names that start with the query before those that contain it', () => {
  const actors = [
    actor('Oscar', 'oscar'),
    actor('Carol', 'carol'),
    actor('Scribe', 'scribe', 'agent'),
    actor('Bob', 'bob'),
  ]
  expect(filterByName(actors, 'c').map(actor => actor.name)).toEqual(['Scribe', 'Carol', 'Oscar'])
  expect(filterByName(actors, '').map(actor => actor.name)).toEqual(['Scribe', 'Bob', 'Carol', 'Oscar'])
})

it('completes the handle with one space after it', () => {
  expect(insertMention('hi @sc you', 6, { from: 3, query: 'sc' }, 'scribe')).toEqual({
    text: 'hi @scribe you',
    caret: 11,
  })
  expect(insertMention('@sc', 3, { from: 0, query: 'sc' }, 'scribe')).toEqual({ text: '@scribe ', caret: 8 })
})

/** The table with which the server and the reader are tested, too. Its positions count characters. */
describe('the shared table of mentions', () => {
  const actors = table.participants.map(({ name, handle }) => actor(name, handle))
  const handles = new Set(actors.map(({ handle }) => handle))

  it.each(table.cases)('$id', ({ typed, sent = typed, mentions }) => {
    expect(replaceNamesByHandles(typed, actors)).toBe(sent)
    const count = (end: number) => [...sent.slice(0, end)].length
    const found = listMentions(sent).filter(({ handle }) => handles.has(handle))
    expect(found.map(({ handle, start, end }) => [handle, count(start), count(end)])).toEqual(mentions)
  })
})

describe('a mention by name', () => {
  const planner = actor('Trip Planner', 'trip-planner', 'agent')
  const trip = actor('Trip', 'trip', 'agent')
  const ling = actor('王佳玲', 'u-4327cf')
  const inChat = [trip, planner, ling, actor('all of us', 'all')]

  it('is replaced by the handle in the sent text', () => {
    expect(replaceNamesByHandles('@Trip Planner hello', inChat)).toBe('@trip-planner hello')
    expect(replaceNamesByHandles('(@trip planner, @Trip)', inChat)).toBe('(@trip-planner, @trip)')
    expect(replaceNamesByHandles('@trip-planner and @u-4327cf', inChat)).toBe('@trip-planner and @u-4327cf')
  })

  it('needs no spaces in Chinese', () => {
    expect(replaceNamesByHandles('你好@王佳玲你看', inChat)).toBe('你好 @u-4327cf 你看')
    expect(replaceNamesByHandles('@王佳玲，@Trip', inChat)).toBe('@u-4327cf，@trip')
  })

  it('is replaced once, also if the handle of one is the name of another', () => {
    const renamed = { ...planner, handle: 'trip' }
    const other = { ...trip, handle: 'trip-2' }
    expect(replaceNamesByHandles('@Trip Planner hi', [renamed, other])).toBe('@trip hi')
    expect(replaceNamesByHandles('@王佳玲@Trip', inChat)).toBe('@u-4327cf @trip')
    expect(replaceNamesByHandles('@Trip', [])).toBe('@Trip')
  })

  it('is not found in the middle of a word, an email or a URL', () => {
    expect(replaceNamesByHandles('@Tripod mail@Trip me', inChat)).toBe('@Tripod mail@Trip me')
  })

  it('is completed to the handle when two have the same name', () => {
    const other = { ...trip, id: 'other', handle: 'trip-2' }
    expect(getMentionName([trip, other], trip)).toBe('trip')
    expect(getMentionName([trip, planner], trip)).toBe('Trip')
    expect(replaceNamesByHandles('@Trip hi', [trip, other])).toBe('@Trip hi')
  })
})
