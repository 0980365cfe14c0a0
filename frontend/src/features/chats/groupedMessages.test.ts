import { describe, expect, it } from 'vitest'
import type { SystemMessageRow, SystemPayload } from '@/api'
import { systemRow } from '@/testing/rows'
import { isHiddenMessage, isSameAction } from './groupedMessages'

const row = (type: SystemMessageRow['type'], payload: Partial<SystemPayload> = {}, minute = 0) =>
  systemRow(type, payload, { created_at: `2026-11-20T10:0${minute}:00Z` })

describe('a hidden system message', () => {
  it('is a step of a draft, unless an agent wrote it', () => {
    expect(isHiddenMessage(row('DRAFT_STARTED', { actor_id: 'alice' }))).toBe(true)
    expect(isHiddenMessage(row('LOCK_RELEASED', { actor_id: 'alice' }))).toBe(true)
    expect(isHiddenMessage(row('DRAFT_STARTED', { via: 'Scribe' }))).toBe(false)
    expect(isHiddenMessage(row('DRAFT_APPLIED'))).toBe(false)
  })

  it('is the discarding of a draft that was never applied and had changes of one person alone', () => {
    expect(isHiddenMessage(row('DRAFT_DISCARDED', { draft_apply: 0, authors: ['Bob'] }))).toBe(false)
    expect(isHiddenMessage(row('DRAFT_DISCARDED', { draft_apply: 0 }))).toBe(true)
    expect(isHiddenMessage(row('DRAFT_DISCARDED', { draft_apply: 2 }))).toBe(false)
    expect(isHiddenMessage(row('DRAFT_DISCARDED'))).toBe(false)
  })
})

describe('messages of one action', () => {
  const added = (target: string, minute = 0, actor = 'alice') =>
    row('MEMBER_JOINED', { actor_id: actor, target_id: target }, minute)

  it('are several additions by one person', () => {
    expect(isSameAction([added('bob')], added('carol', 1))).toBe(true)
    expect(isSameAction([added('bob')], added('carol', 5))).toBe(false)
    expect(isSameAction([added('bob')], added('carol', 0, 'dave'))).toBe(false)
  })

  it('do not include joining by oneself or messages with more details', () => {
    expect(isSameAction([added('bob', 0, 'bob')], added('bob', 0, 'bob'))).toBe(false)
    expect(isSameAction([added('alice')], added('bob'))).toBe(false)
    const wakes = row('MEMBER_JOINED', { actor_id: 'alice', target_id: 'carol', mention_only_id: 'robin' })
    expect(isSameAction([added('bob')], wakes)).toBe(false)
  })

  it('are the additions at the start of a chat, but not later ones', () => {
    const started = { ...added('alice'), seq: 1 }
    expect(isSameAction([started], added('bob'))).toBe(true)
    expect(isSameAction([started, added('bob')], added('carol'))).toBe(true)
    expect(isSameAction([started, added('bob')], added('carol', 1))).toBe(false)
    expect(isSameAction([started], added('bob', 0, 'dave'))).toBe(false)
  })

  it('are several acceptances for one agent', () => {
    const accepted = (target: string) => row('SUGGESTION_ACCEPTED', { actor_id: 'alice', target_id: target })
    expect(isSameAction([accepted('robin')], accepted('robin'))).toBe(true)
    expect(isSameAction([accepted('robin')], accepted('scribe'))).toBe(false)
    expect(isSameAction([row('SPEC_SAVED', { actor_id: 'alice' })], row('SPEC_SAVED', { actor_id: 'alice' }))).toBe(
      false,
    )
  })
})
