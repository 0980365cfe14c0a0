import { describe, expect, it } from 'vitest'
import { type MessageChange, messageRow } from '@/testing/rows'
import { findUnread, isUnread } from './reading'

const row = (seq: number, more: MessageChange = {}) => messageRow(seq, { author_id: 'bob', ...more })

describe('a new message', () => {
  it('is a text or a file of another author, not a comparison or another system message', () => {
    expect(isUnread(row(1), 'alice')).toBe(true)
    expect(isUnread(row(1), 'bob')).toBe(false)
    expect(isUnread(row(1, { type: 'SPEC_SAVED' }), 'alice')).toBe(false)
    expect(isUnread(row(1, { type: 'TOOL_CALL' }), 'alice')).toBe(false)
    expect(isUnread(row(1, { type: 'COMPARISON', author_id: null }), 'alice')).toBe(false)
  })

  it('is not what is left of a deleted message', () => {
    expect(isUnread(row(1, { deleted_at: '2026-11-20T10:01:00Z' }), 'alice')).toBe(false)
  })

  it('is not what a sub-agent writes', () => {
    const agent = { kind: 'sub' as const, name: 'reader', displayName: 'Reader', depth: 1, path: ['robin', 'reader'] }
    expect(isUnread(row(1, { metadata: { agent, call_id: 'a', avatar: null } }), 'alice')).toBe(false)
  })
})

describe('the new messages when a chat is opened', () => {
  it('come after the last read message, also if this page has read further', () => {
    expect(findUnread({ last_read_seq: 5, unread: 3 }, [], 'alice')).toEqual({ after: 5, count: 3 })
    expect(findUnread({ last_read_seq: 5, unread: 3 }, [], 'alice', 9)).toEqual({ after: 9, count: 3 })
    expect(findUnread({ last_read_seq: 5, unread: 0 }, [], 'alice')).toEqual({ after: null, count: 0 })
  })

  it('come after the reader was added', () => {
    const joined = row(4, { type: 'MEMBER_JOINED', payload: { actor_id: 'bob', target_id: 'alice' } })
    const unread = { last_read_seq: 0, unread: 9 }
    expect(findUnread(unread, [row(3), joined, row(5)], 'alice')).toEqual({ after: 4, count: 9 })
    const came = row(4, { type: 'MEMBER_JOINED', payload: { actor_id: 'alice', target_id: 'alice' } })
    expect(findUnread(unread, [row(3), came, row(5)], 'alice')).toEqual({ after: null, count: 9 })
    expect(findUnread(unread, [row(3)], 'alice')).toEqual({ after: null, count: 9 })
  })
})
