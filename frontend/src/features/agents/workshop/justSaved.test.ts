import { describe, expect, it } from 'vitest'
import type { DraftRow } from '@/api'
import { findJustSavedDraft } from './justSaved'

const draft = (row: Partial<DraftRow>) => ({ id: 'd', agent_id: 'scribe', base_version: 2, ...row }) as DraftRow
const saved = draft({ status: 'ended', outcome: 'saved' })

describe('the draft that was just saved', () => {
  it('is found until its version is loaded', () => {
    expect(findJustSavedDraft([saved], 'scribe', 2)).toBe(saved)
    expect(findJustSavedDraft([saved], 'scribe', 3)).toBeNull()
  })

  it('is the newest of the agent', () => {
    const older = draft({ id: 'older', status: 'ended', outcome: 'saved', base_version: 1 })
    expect(findJustSavedDraft([older, saved], 'scribe', 2)).toBe(saved)
    expect(findJustSavedDraft([saved], 'another', 2)).toBeNull()
  })

  it.each(['discarded', 'suggested', null] as const)('is not found when its outcome is %s', outcome => {
    expect(findJustSavedDraft([draft({ outcome })], 'scribe', 2)).toBeNull()
  })
})
