import { describe, expect, it } from 'vitest'
import type { NotificationRow } from '@/api'
import { getKind, getPath, getRightKey } from './wording'

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
  tool_server_id: 't1',
  excerpt: '',
  is_read: false,
  created_at: '2026-01-01T00:00:00Z',
  ...more,
})

describe('the path of a notification', () => {
  it.each([
    ['mention', '/w/tours/c/c1#m1'],
    ['lock_lost', '/w/tours/c/c1?workshop=a1'],
    ['draft_requested', '/w/tours/c/c1?workshop=a1'],
    ['draft_unlocked', '/w/tours/c/c1?workshop=a1'],
    ['merge_done', '/w/tours/c/c1?workshop=a1'],
    ['merge_failed', '/w/tours/suggestions?m=g1'],
    ['agent_published', '/w/tours/directory/a1'],
    ['agent_taken_down', '/w/tours/directory/a1'],
    ['model_changed', '/w/tours/settings?section=model'],
    ['schedule_paused', '/w/tours/agents/a1/schedule'],
    ['schedule_failed', '/w/tours/agents/a1/schedule'],
    ['run_failed', '/w/tours/c/c1#m1'],
    ['tools_changed', '/w/tours/settings?section=tools#t1'],
    ['suggestion_created', '/w/tours/suggestions?s=s1'],
    ['suggestion_reopened', '/w/tours/suggestions?s=s1'],
    ['grant_given', '/w/tours/agents/a1'],
  ] as const)('of type %s is that of its subject', (type, path) => {
    expect(getPath(row({ type }), 'tours')).toBe(path)
  })

  it('is null when its chat is not open to the reader', () => {
    for (const type of ['mention', 'lock_lost', 'draft_requested', 'draft_unlocked', 'merge_done'] as const)
      expect(getPath(row({ type, chat_id: null, message_id: null }), 'tours')).toBeNull()
  })
})

describe('a granted right', () => {
  it('leads to its agent or chat, and for a workspace nowhere', () => {
    expect(getPath(row({ type: 'grant_taken', agent_id: null }), 'tours')).toBe('/w/tours/c/c1')
    expect(getPath(row({ type: 'grant_given', agent_id: null, chat_id: null }), 'tours')).toBeNull()
  })

  it('has a text, unless the server is newer', () => {
    expect(getRightKey('save_agent_actor')).toBe('right.saveAgent')
    expect(getRightKey('fly_agent_actor')).toBeNull()
  })
})

describe('the text of a notification', () => {
  it('names the chat of a mention if it is known', () => {
    expect(getKind(row({}), 'Kyoto')?.key).toBe('notification.mentionIn')
    expect(getKind(row({}), '')?.key).toBe('notification.mention')
  })

  it('names the chat of a requested or unlocked draft if it is known', () => {
    expect(getKind(row({ type: 'draft_requested' }), 'Kyoto')?.key).toBe('notification.draftRequestedIn')
    expect(getKind(row({ type: 'draft_unlocked' }), 'Kyoto')?.key).toBe('notification.draftUnlockedIn')
    expect(getKind(row({ type: 'draft_unlocked' }), '')?.key).toBe('notification.draftUnlocked')
    expect(getKind(row({ type: 'lock_lost' }), 'Kyoto')?.key).toBe('notification.lockLost')
  })

  it('is null for an unknown type', () => {
    expect(getKind(row({ type: 'unknown_type' as 'mention' }), '')).toBeNull()
  })
})
