import { describe, expect, it } from 'vitest'
import type { NotificationRow } from '@/api'
import { kindOf, pathOf } from './wording'

const row = (more: Partial<NotificationRow>): NotificationRow => ({
  id: 'n1',
  type: 'mention',
  workspace_id: 'w1',
  actor_name: 'Ann',
  agent_name: 'Scribe',
  chat_id: 'c1',
  agent_id: 'a1',
  message_id: 'm1',
  suggestion_id: 's1',
  merge_id: 'g1',
  excerpt: '',
  is_read: false,
  created_at: '2026-01-01T00:00:00Z',
  ...more,
})

describe('a notification leads', () => {
  it.each([
    ['mention', '/w/tours/c/c1#m1'],
    ['lock_lost', '/w/tours/c/c1?workshop=a1'],
    ['draft_requested', '/w/tours/c/c1?workshop=a1'],
    ['draft_unlocked', '/w/tours/c/c1?workshop=a1'],
    ['merge_done', '/w/tours/c/c1?workshop=a1'],
    ['merge_failed', '/w/tours/suggestions?m=g1'],
    ['model_changed', '/w/tours/settings?section=model'],
    ['suggestion_created', '/w/tours/suggestions?s=s1'],
    ['suggestion_reopened', '/w/tours/suggestions?s=s1'],
  ] as const)('%s to where it happened', (type, path) => {
    expect(pathOf(row({ type }), 'tours')).toBe(path)
  })

  it('nowhere when its chat is closed to the reader', () => {
    for (const type of ['mention', 'lock_lost', 'draft_requested', 'draft_unlocked', 'merge_done'] as const)
      expect(pathOf(row({ type, chat_id: null, message_id: null }), 'tours')).toBeNull()
  })
})

describe('a notification says', () => {
  it('in which chat somebody was mentioned, when that is known', () => {
    expect(kindOf(row({}), 'Kyoto')?.key).toBe('note.mentionIn')
    expect(kindOf(row({}), '')?.key).toBe('note.mention')
  })

  it('of which chat a draft is asked for or free, when that is known', () => {
    expect(kindOf(row({ type: 'draft_requested' }), 'Kyoto')?.key).toBe('note.draftAskedIn')
    expect(kindOf(row({ type: 'draft_unlocked' }), 'Kyoto')?.key).toBe('note.draftFreeIn')
    expect(kindOf(row({ type: 'draft_unlocked' }), '')?.key).toBe('note.draftFree')
    expect(kindOf(row({ type: 'lock_lost' }), 'Kyoto')?.key).toBe('note.lockLost')
  })

  it('nothing that it does not know', () => {
    expect(kindOf(row({ type: 'from_tomorrow' as 'mention' }), '')).toBeNull()
  })
})
