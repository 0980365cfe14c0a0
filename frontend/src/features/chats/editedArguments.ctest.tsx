import { afterEach, beforeEach, expect, it } from 'vitest'
import { setStorageOwner } from '@/lib/storage'
import { readEditedArguments, storeEditedArguments } from './editedArguments'

const LATER = new Date(Date.now() + 3_600_000).toISOString()
const BEFORE = new Date(Date.now() - 1_000).toISOString()

beforeEach(() => {
  localStorage.clear()
  setStorageOwner('alice')
})

afterEach(() => setStorageOwner(null))

it('keeps the edited texts of each call until they are removed', () => {
  storeEditedArguments('one', ['a', 'b'], LATER)
  storeEditedArguments('two', ['c'], LATER)
  expect([readEditedArguments('one'), readEditedArguments('two'), readEditedArguments('three')]).toEqual([
    ['a', 'b'],
    ['c'],
    null,
  ])
  storeEditedArguments('one', null, LATER)
  expect([readEditedArguments('one'), readEditedArguments('two')]).toEqual([null, ['c']])
})

it('shows them to the person who wrote them only', () => {
  storeEditedArguments('one', ['a'], LATER)
  setStorageOwner('bob')
  expect(readEditedArguments('one')).toBeNull()
})

it('removes those of calls whose time is over', () => {
  storeEditedArguments('old', ['a'], BEFORE)
  storeEditedArguments('new', ['b'], LATER)
  expect([readEditedArguments('old'), readEditedArguments('new')]).toEqual([null, ['b']])
  expect(localStorage).toHaveLength(1)
})
