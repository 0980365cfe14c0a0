import { expect, it } from 'vitest'
import { formatBytes } from './bytes'

it('names a size in the largest unit that fits', () => {
  expect(formatBytes(412)).toBe('412 bytes')
  expect(formatBytes(1)).toBe('1 byte')
  expect(formatBytes(1_234)).toBe('1.2 kB')
  expect(formatBytes(52_428_800)).toBe('52 MB')
  expect(formatBytes(3_000_000_000)).toBe('3 GB')
  expect(formatBytes(0)).toBe('0 bytes')
})
