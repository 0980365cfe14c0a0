import { afterEach, beforeEach, expect, it } from 'vitest'
import { setStorageOwner } from '@/lib/storage'
import { readEditDraft, writeEditDraft } from './editDraft'

const LATER = new Date(Date.now() + 3_600_000).toISOString()
const BEFORE = new Date(Date.now() - 1_000).toISOString()

beforeEach(() => {
  localStorage.clear()
  setStorageOwner('alice')
})

afterEach(() => setStorageOwner(null))

it('keeps the edited texts of each call until they are removed', () => {
  writeEditDraft('one', ['a', 'b'], LATER)
  writeEditDraft('two', ['c'], LATER)
  expect([readEditDraft('one'), readEditDraft('two'), readEditDraft('three')]).toEqual([['a', 'b'], ['c'], null])
  writeEditDraft('one', null, LATER)
  expect([readEditDraft('one'), readEditDraft('two')]).toEqual([null, ['c']])
})

it('shows them to the person who wrote them only', () => {
  writeEditDraft('one', ['a'], LATER)
  setStorageOwner('bob')
  expect(readEditDraft('one')).toBeNull()
})

it('removes those of calls whose time is over', () => {
  writeEditDraft('old', ['a'], BEFORE)
  writeEditDraft('new', ['b'], LATER)
  expect([readEditDraft('old'), readEditDraft('new')]).toEqual([null, ['b']])
  expect(localStorage).toHaveLength(1)
})
