import { expect, it } from 'vitest'
import { run as runRow } from '@/realtime/server.testing'
import { canStop } from './stopRights'

it('lets the person it works for, the person who triggered it, and editors stop a run', () => {
  const run = { ...runRow('run', 1, 'running'), on_behalf_of: 'bob', triggered_by: 'alice' }
  expect(['bob', 'alice', 'carol'].map(me => canStop(run, me, false))).toEqual([true, true, false])
  expect(canStop(run, 'carol', true)).toBe(true)
  expect(canStop({ ...run, on_behalf_of: null, triggered_by: null }, 'carol', false)).toBe(false)
})
