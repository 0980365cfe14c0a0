import { expect, it } from 'vitest'
import { findNextEnd, getMuteEnd, isMuted } from './muted'

const now = new Date('2026-11-20T23:30:00')
const at = (iso: string) => new Date(iso).toISOString()

it.each([
  [{ is_muted: false, muted_until: null }, false],
  [{ is_muted: true, muted_until: null }, true],
  [{ is_muted: true, muted_until: at('2026-11-20T23:31:00') }, true],
  [{ is_muted: true, muted_until: at('2026-11-20T23:30:00') }, false],
])('a chat is muted until its time has passed: %o', (row, expected) => {
  expect(isMuted(row, now.getTime())).toBe(expected)
})

it.each([
  ['hour', at('2026-11-21T00:30:00')],
  ['tomorrow', at('2026-11-21T08:00:00')],
  ['forGood', null],
] as const)('a chat muted for "%s" in the evening', (span, end) => {
  expect(getMuteEnd(span, now)).toBe(end)
})

it('the next end is the earliest one that is not over', () => {
  const rows = ['2026-11-20T23:00:00', '2026-11-21T09:00:00', '2026-11-21T08:00:00'].map(time => ({
    is_muted: true,
    muted_until: at(time),
  }))
  expect(findNextEnd(rows, now.getTime())).toBe(Date.parse(at('2026-11-21T08:00:00')))
  expect(findNextEnd([{ is_muted: true, muted_until: null }], now.getTime())).toBeNull()
})
