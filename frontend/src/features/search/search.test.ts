import { expect, it } from 'vitest'
import type { ActorRow, ChatRow } from '@/api'
import { buildFilter, readTypedFilters } from './filters'
import { changeSearch, parseMessageSearch } from './search'

const known = {
  me: 'alice',
  actors: [
    { id: 'b', name: 'Bob Builder', handle: 'bob' },
    { id: 't', name: 'Trip Planner', handle: 'trip-planner' },
    { id: 'w', name: '王偉', handle: 'wei' },
  ] as ActorRow[],
  chats: [
    { id: 'k', title: 'Kyoto autumn group' },
    { id: 'f', title: 'Fare alerts' },
  ] as ChatRow[],
}
const read = (text: string, isEnded = true) => readTypedFilters(text, known, isEnded)

it('takes typed filters out of the text', () => {
  expect(read('pricing from:bob')).toEqual({ text: 'pricing', change: { author: 'b', kind: undefined } })
  expect(read('in:"fare alerts" pricing has:file')).toEqual({ text: 'pricing', change: { chat: 'f', file: true } })
  expect(read('in:kyoto 價格 from:王偉').change).toEqual({ chat: 'k', author: 'w', kind: undefined })
  expect(read('from:@trip-planner x').change.author).toBe('t')
  expect(read('from:me x').change.author).toBe('alice')
  expect(read('x before:2026-05-01 after:2026-02-28').change).toEqual({ ends: '2026-04-30', starts: '2026-03-01' })
})

it('leaves filters that name nothing known, and one that is still being typed', () => {
  for (const text of ['from:nobody x', 'before:may x', 'has:fun x', 'in: x', 'a from:', 'https://from:bob'])
    expect(read(text)).toEqual({ text, change: {} })
  expect(read('pricing from:bo', false)).toEqual({ text: 'pricing from:bo', change: {} })
  expect(read('from:bob pricing', false).text).toBe('pricing')
})

it('drops search parameters that it does not know', () => {
  const raw = { q: 4711, kind: 'robot', starts: 'yesterday', ends: '2026-02-30x', file: 'yes', order: 'best', x: 1 }
  expect(parseMessageSearch(raw)).toEqual({ q: '4711' })
  const all = {
    q: 'tea',
    chat: 'c',
    author: 'a',
    kind: 'agent',
    starts: '2026-01-01',
    file: true,
    order: 'newest',
  } as const
  expect(parseMessageSearch(all)).toEqual(all)
  expect(changeSearch(all, { chat: undefined, file: undefined }).chat).toBeUndefined()
})

it('sends no query without a word', () => {
  expect(buildFilter({ q: ' a ' }).q).toBe('')
  expect(buildFilter({ q: '貓', file: true })).toEqual({ q: '貓', has_file: true, order: 'best' })
})
