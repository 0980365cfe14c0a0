import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { DraftRow, SpecContent } from '@/api'
import { setStorageOwner } from '@/lib/storage'
import {
  continues,
  forgetLost,
  listLost,
  type Pending,
  readPending,
  setAside,
  takePending,
  whyLost,
  writePending,
} from './draftBackup'

const content = (prompt: string) => ({ prompt, tools: [] }) as unknown as SpecContent
const ann = { personId: 'ann', chatId: 'c', agentId: 'a' }
const bob = { ...ann, personId: 'bob' }
const pending = (change: Partial<Pending> = {}) => ({
  content: content('mine'),
  revision: 4,
  sent: null,
  draftId: 'd',
  base_version: 1,
  ...change,
})
const row = (change: Partial<DraftRow> = {}) =>
  ({ id: 'd', revision: 4, written: content('stored'), ...change }) as unknown as DraftRow
const left = (change: Partial<Pending> = {}): Pending => ({ ...pending(change), tab: 't' })

beforeEach(() => {
  setStorageOwner('ann')
  const items = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => items.set(key, value),
    removeItem: (key: string) => items.delete(key),
  })
})

describe('EDIT2: what is not stored yet', () => {
  it('is found again after the page is gone, by its writer alone', () => {
    writePending(ann, pending())
    expect(readPending(bob)).toBeNull()
    expect(takePending(ann)).toMatchObject({ content: content('mine'), revision: 4 })
    expect(readPending(ann)).toBeNull()
  })

  it('is not wiped out by another tab that has nothing to keep', () => {
    localStorage.setItem('atelier.writing.ann.c.a', JSON.stringify(left({ tab: 'another' })))
    writePending(ann, null)
    expect(readPending(ann)?.content).toEqual(content('mine'))
  })

  it('goes on where nobody has written since', () => {
    expect(continues(left(), row())).toBe(true)
    expect(continues(left(), row({ revision: 5 }))).toBe(false)
    expect(continues(left(), row({ id: 'another' }))).toBe(false)
  })

  it('goes on where only what was on its way has arrived', () => {
    const row5 = row({ revision: 5, written: content('min') as unknown as DraftRow['written'] })
    expect(continues(left({ sent: content('min') }), row5)).toBe(true)
    expect(continues(left({ sent: content('mi') }), row5)).toBe(false)
  })

  it('says why it cannot go on', () => {
    expect(whyLost(left(), null, false).code).toBe('no_draft')
    expect(whyLost(left(), row(), true).code).toBe('draft_locked')
    expect(whyLost(left(), row(), false).code).toBe('lock_expired')
  })
})

describe('EDIT2: what could not be stored', () => {
  it('stays until it is forgotten, the newest first, and each text once', () => {
    setAside(ann, { content: content('one'), code: 'draft_locked', by: 'Bob' }, 1)
    setAside(ann, { content: content('two'), code: 'no_draft', by: null }, 2)
    const all = setAside(ann, { content: content('one'), code: 'no_draft', by: null }, 2)
    expect(all.map(lost => lost.content.prompt)).toEqual(['one', 'two'])
    expect(listLost(bob)).toEqual([])
    forgetLost(ann, all[0]?.id ?? '')
    expect(listLost(ann).map(lost => lost.content.prompt)).toEqual(['two'])
  })
})
