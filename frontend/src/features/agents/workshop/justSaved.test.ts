import { describe, expect, it } from 'vitest'
import type { DraftRow } from '@/api'
import { justSaved } from './justSaved'

const draft = (row: Partial<DraftRow>) => ({ id: 'd', agent_id: 'scribe', base_version: 2, ...row }) as DraftRow
const saved = draft({ status: 'ended', outcome: 'saved' })

describe('a draft that was saved', () => {
  it('is shown until the version that it became is here', () => {
    expect(justSaved([saved], 'scribe', 2)).toBe(saved)
    expect(justSaved([saved], 'scribe', 3)).toBeNull()
  })

  it('is the newest of its agent', () => {
    const older = draft({ id: 'older', status: 'ended', outcome: 'saved', base_version: 1 })
    expect(justSaved([older, saved], 'scribe', 2)).toBe(saved)
    expect(justSaved([saved], 'another', 2)).toBeNull()
  })

  it.each(['discarded', 'suggested', null] as const)('is none when it is %s', outcome => {
    expect(justSaved([draft({ outcome })], 'scribe', 2)).toBeNull()
  })
})
