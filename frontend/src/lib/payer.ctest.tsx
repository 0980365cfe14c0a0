import { describe, expect, it } from 'vitest'
import { describePayment } from './payer'

describe('describePayment', () => {
  it('names the person whose own key paid, and says why', () => {
    expect(describePayment({ paidBy: 'person', reason: 'llm_profile', name: 'Alice' })).toBe(
      "Paid by Alice's own key, because Alice asked, and members may use their own models here.",
    )
  })

  it('says why another key paid', () => {
    expect(describePayment({ paidBy: 'workspace', reason: 'other_model', name: '' })).toBe(
      "Paid by the workspace's key, because the version names another model than the own one.",
    )
  })

  it('says only who paid for an answer without a reason, and nothing if that is not known', () => {
    expect(describePayment({ paidBy: 'demo', reason: null, name: '' })).toBe('Free of charge with the demo model')
    expect(describePayment({ paidBy: null, reason: null, name: '' })).toBe('')
  })
})
