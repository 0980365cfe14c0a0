import { expect, it } from 'vitest'
import { parseDirectorySearch } from './search'

it.each([
  [{}, {}],
  [
    { q: '翻譯', category: 'language', language: 'zh-hant', sort: 'new', scope: 'yours' },
    { q: '翻譯', category: 'language', language: 'zh-hant', sort: 'new', scope: 'yours' },
  ],
  [{ q: 2026 }, { q: '2026' }],
  [{ q: '', sort: 'use', scope: 'all' }, {}],
  [{ q: { a: 1 }, category: 'cats', language: 'English!', sort: 'price', scope: 3 }, {}],
])('%j opens the directory with %j', (raw, search) => {
  expect(parseDirectorySearch(raw)).toEqual(search)
})

it('cuts a query that the server would refuse', () => {
  expect(parseDirectorySearch({ q: 'a'.repeat(300) }).q).toHaveLength(200)
})
