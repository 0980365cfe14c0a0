import { expect, it } from 'vitest'
import type { Wake } from '@/api'
import { withWorking } from './wakePreview'

const wake = (agent_id: string, effect: Wake['effect']): Wake => ({ agent_id, effect, reason: null })

it('replaces the effect for agents at work, except for those that cannot answer', () => {
  const answer = [wake('robin', 'wakes'), wake('scribe', 'joins'), wake('away', 'refused')]
  const preview = withWorking(answer, ['robin', 'away'])
  expect(preview.map(row => row.effect)).toEqual(['joins', 'wakes', 'refused'])
})
