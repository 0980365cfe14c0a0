import { describe, expect, it } from 'vitest'
import type { BudgetRefusal, BudgetRow } from '@/api'
import { getRefusedAmounts, isStillUsedUp, parseTokens } from './budgets'

const refusal: BudgetRefusal = {
  budget_id: 'b',
  scope: 'workspace',
  period: 'day',
  subject_id: 'w',
  subject_name: '',
  limit_micro: 1_000,
  spent_micro: 950,
  needed_micro: 100,
  revision: 1,
  ends_at: '2026-11-21T00:00:00Z',
  time_zone: 'UTC',
}
const row: BudgetRow = {
  id: 'b',
  scope: 'workspace',
  period: 'day',
  subject_id: null,
  subject_name: '',
  limit_micro: 1_000,
  spent_micro: 950,
  reserved_micro: 0,
  limit_tokens: null,
  spent_tokens: 0,
  reserved_tokens: 0,
  refuses_unpriced: true,
  ends_at: '2026-11-21T00:00:00Z',
  by_operator: false,
  revision: 1,
}

it.each([
  ['2000000', 2_000_000],
  ['2,000,000', 2_000_000],
  [' 0 ', 0],
  ['1.5', null],
  ['2,00', null],
  ['-1', null],
  ['', null],
])('reads %j as a number of tokens', (text, tokens) => expect(parseTokens(text)).toBe(tokens))

describe('a budget that has refused a call', () => {
  it('refuses it again until it is raised by enough', () => {
    expect(isStillUsedUp(refusal, null)).toBe(true)
    expect(isStillUsedUp(refusal, row)).toBe(true)
    expect(isStillUsedUp(refusal, { ...row, limit_micro: 1_049 })).toBe(true)
    expect(isStillUsedUp(refusal, { ...row, limit_micro: 1_050 })).toBe(false)
  })

  it('refuses it again if more was spent meanwhile', () => {
    expect(isStillUsedUp(refusal, { ...row, limit_micro: 2_000, spent_micro: 1_950 })).toBe(true)
  })

  it('is not used up by what another person has spent', () => {
    const each = { ...row, scope: 'person', limit_micro: 2_000, spent_micro: 1_990 } as const
    expect(isStillUsedUp({ ...refusal, scope: 'person' }, each)).toBe(false)
    expect(isStillUsedUp({ ...refusal, scope: 'person' }, { ...each, subject_id: 'alice' })).toBe(true)
  })

  it('of a person has no amounts, and refuses until the budget was changed or is known to have enough left', () => {
    const ofPerson = { ...refusal, scope: 'person', limit_micro: null, spent_micro: null, revision: 1 } as const
    const each = { ...row, scope: 'person', spent_micro: 10 } as const
    expect(isStillUsedUp(ofPerson, null)).toBe(true)
    expect(isStillUsedUp(ofPerson, each)).toBe(true)
    expect(isStillUsedUp(ofPerson, { ...each, revision: 2 })).toBe(false)
    const own = { ...each, subject_id: 'alice' }
    expect(isStillUsedUp(ofPerson, { ...own, spent_micro: 950, revision: 2 })).toBe(true)
    expect(isStillUsedUp(ofPerson, { ...own, spent_micro: 900 })).toBe(false)
  })

  it('of one run is another one for a retry', () => {
    const ofRun = { ...refusal, scope: 'run_tree', period: 'run', ends_at: null } as const
    expect(isStillUsedUp(ofRun, { ...row, scope: 'run_tree' })).toBe(false)
    expect(isStillUsedUp({ ...ofRun, needed_micro: 1_001 }, { ...row, scope: 'run_tree' })).toBe(true)
  })

  it('in tokens is compared in tokens', () => {
    const { limit_micro: _, spent_micro: __, needed_micro: ___, ...rest } = refusal
    const inTokens = { ...rest, limit_tokens: 5_000, spent_tokens: 4_500, needed_tokens: 1_000, left_tokens: 400 }
    const present = { ...row, limit_micro: null, limit_tokens: 5_000, spent_tokens: 4_500 }
    expect(isStillUsedUp(inTokens, present)).toBe(true)
    expect(isStillUsedUp(inTokens, { ...present, limit_tokens: 5_500 })).toBe(false)
    expect(getRefusedAmounts(inTokens)).toEqual({
      unit: 'tokens',
      limit: 5_000,
      spent: 4_500,
      left: 400,
      needed: 1_000,
    })
    expect(getRefusedAmounts(refusal).left).toBe(50)
  })

  it('of nothing refuses a call whose cost is not known', () => {
    expect(isStillUsedUp({ ...refusal, needed_micro: 0, spent_micro: 1_000 }, null)).toBe(true)
  })
})
