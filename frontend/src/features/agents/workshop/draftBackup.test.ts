import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { DraftRow, SpecContent } from '@/api'
import { setStorageOwner } from '@/lib/storage'
import {
  canResume,
  dropLostText,
  explainLoss,
  keepLostText,
  listLostTexts,
  type PendingEdits,
  readPendingEdits,
  storePendingEdits,
  takePendingEdits,
} from './draftBackup'

const content = (prompt: string) => ({ prompt, tools: [] }) as unknown as SpecContent
const ann = { personId: 'ann', chatId: 'c', agentId: 'a' }
const bob = { ...ann, personId: 'bob' }
const buildPendingInput = (change: Partial<PendingEdits> = {}) => ({
  content: content('mine'),
  revision: 4,
  sent: null,
  draftId: 'd',
  base_version: 1,
  ...change,
})
const row = (change: Partial<DraftRow> = {}) =>
  ({ id: 'd', revision: 4, written: content('stored'), ...change }) as unknown as DraftRow
const buildPending = (change: Partial<PendingEdits> = {}): PendingEdits => ({ ...buildPendingInput(change), tab: 't' })

beforeEach(() => {
  setStorageOwner('ann')
  const items = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => items.set(key, value),
    removeItem: (key: string) => items.delete(key),
  })
})

describe('EDIT2: unsaved edits', () => {
  it('are found by their writer only after the page was closed', () => {
    storePendingEdits(ann, buildPendingInput())
    expect(readPendingEdits(bob)).toBeNull()
    expect(takePendingEdits(ann)).toMatchObject({ content: content('mine'), revision: 4 })
    expect(readPendingEdits(ann)).toBeNull()
  })

  it('are not deleted by another tab without unsaved edits', () => {
    localStorage.setItem('atelier.writing.ann.c.a', JSON.stringify(buildPending({ tab: 'another' })))
    storePendingEdits(ann, null)
    expect(readPendingEdits(ann)?.content).toEqual(content('mine'))
  })

  it('can be resumed when the draft is unchanged', () => {
    expect(canResume(buildPending(), row())).toBe(true)
    expect(canResume(buildPending(), row({ revision: 5 }))).toBe(false)
    expect(canResume(buildPending(), row({ id: 'another' }))).toBe(false)
  })

  it('can be resumed when only the text in flight was stored', () => {
    const row5 = row({ revision: 5, written: content('min') as unknown as DraftRow['written'] })
    expect(canResume(buildPending({ sent: content('min') }), row5)).toBe(true)
    expect(canResume(buildPending({ sent: content('mi') }), row5)).toBe(false)
  })

  it('have a code that says why they cannot be resumed', () => {
    expect(explainLoss(buildPending(), null, false).code).toBe('no_draft')
    expect(explainLoss(buildPending(), row(), true).code).toBe('draft_locked')
    expect(explainLoss(buildPending(), row(), false).code).toBe('lock_expired')
  })
})

describe('EDIT2: lost texts', () => {
  it('are kept once each, newest first, until they are dropped', () => {
    keepLostText(ann, { content: content('one'), code: 'draft_locked', by: 'Bob' }, 1)
    keepLostText(ann, { content: content('two'), code: 'no_draft', by: null }, 2)
    const all = keepLostText(ann, { content: content('one'), code: 'no_draft', by: null }, 2)
    expect(all.map(lost => lost.content.prompt)).toEqual(['one', 'two'])
    expect(listLostTexts(bob)).toEqual([])
    dropLostText(ann, all[0]?.id ?? '')
    expect(listLostTexts(ann).map(lost => lost.content.prompt)).toEqual(['two'])
  })
})
