import { expect, it } from 'vitest'
import type { WakeEffect } from '@/api'
import { adjustToActiveRuns } from './wakePreview'

const wake = (agent_id: string, effect: WakeEffect['effect']): WakeEffect => ({
  agent_id,
  effect,
  reason: null,
  unreadable: [],
  team_size: 0,
  estimate_micro: null,
})

it('replaces the effect for agents at work, except for those that cannot answer', () => {
  const answer = [
    wake('robin', 'wakes'),
    wake('scribe', 'joins'),
    wake('away', 'refused'),
    wake('quill', 'after_answer'),
  ]
  const preview = adjustToActiveRuns(answer, ['robin', 'away', 'quill'])
  expect(preview.map(row => row.effect)).toEqual(['next_step_or_after', 'wakes', 'refused', 'after_answer'])
})

it('keeps that an agent answers after its work in another chat', () => {
  expect(adjustToActiveRuns([wake('robin', 'after_other_work')], [])).toEqual([wake('robin', 'after_other_work')])
})
