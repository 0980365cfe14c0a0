import { describe, expect, it } from 'vitest'
import type { SystemMessageRow, SystemPayload } from '@/api'
import { systemRow } from '@/testing/rows'
import { isNoise, isSameAct } from './quiet'

const row = (type: SystemMessageRow['type'], payload: Partial<SystemPayload> = {}, minute = 0) =>
  systemRow(type, payload, { created_at: `2026-11-20T10:0${minute}:00Z` })

describe('what has no line', () => {
  it('is a draft on its way, unless an agent wrote it', () => {
    expect(isNoise(row('DRAFT_STARTED', { actor_id: 'alice' }))).toBe(true)
    expect(isNoise(row('LOCK_RELEASED', { actor_id: 'alice' }))).toBe(true)
    expect(isNoise(row('DRAFT_STARTED', { via: 'Scribe' }))).toBe(false)
    expect(isNoise(row('DRAFT_APPLIED'))).toBe(false)
  })

  it('is a draft that was discarded without having been applied', () => {
    expect(isNoise(row('DRAFT_DISCARDED', { draft_apply: 0 }))).toBe(true)
    expect(isNoise(row('DRAFT_DISCARDED', { draft_apply: 2 }))).toBe(false)
    expect(isNoise(row('DRAFT_DISCARDED'))).toBe(false)
  })
})

describe('one act', () => {
  const added = (target: string, minute = 0, actor = 'alice') =>
    row('MEMBER_JOINED', { actor_id: actor, target_id: target }, minute)

  it('is to add several', () => {
    expect(isSameAct([added('bob')], added('carol', 1))).toBe(true)
    expect(isSameAct([added('bob')], added('carol', 5))).toBe(false)
    expect(isSameAct([added('bob')], added('carol', 0, 'dave'))).toBe(false)
  })

  it('is not to come by oneself, nor what says more', () => {
    expect(isSameAct([added('bob', 0, 'bob')], added('bob', 0, 'bob'))).toBe(false)
    expect(isSameAct([added('alice')], added('bob'))).toBe(false)
    const wakes = row('MEMBER_JOINED', { actor_id: 'alice', target_id: 'carol', wake_id: 'robin' })
    expect(isSameAct([added('bob')], wakes)).toBe(false)
  })

  it('is to start a chat with several, but not to add somebody later', () => {
    const started = { ...added('alice'), seq: 1 }
    expect(isSameAct([started], added('bob'))).toBe(true)
    expect(isSameAct([started, added('bob')], added('carol'))).toBe(true)
    expect(isSameAct([started, added('bob')], added('carol', 1))).toBe(false)
    expect(isSameAct([started], added('bob', 0, 'dave'))).toBe(false)
  })

  it('is to accept several suggestions for one agent', () => {
    const accepted = (target: string) => row('SUGGESTION_ACCEPTED', { actor_id: 'alice', target_id: target })
    expect(isSameAct([accepted('robin')], accepted('robin'))).toBe(true)
    expect(isSameAct([accepted('robin')], accepted('scribe'))).toBe(false)
    expect(isSameAct([row('SPEC_SAVED', { actor_id: 'alice' })], row('SPEC_SAVED', { actor_id: 'alice' }))).toBe(false)
  })
})
