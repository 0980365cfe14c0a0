import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createReadCursor, INTERVAL_MS } from './readCursor'

function createTestCursor(isOpen = true) {
  const sent: number[] = []
  const saved: number[] = []
  const cursor = createReadCursor(
    5,
    seq => {
      if (isOpen) sent.push(seq)
      return isOpen
    },
    async seq => void saved.push(seq),
  )
  return { cursor, sent, saved }
}

describe('the read cursor', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('is sent at once and then at most every two seconds', () => {
    const { cursor, sent, saved } = createTestCursor()
    for (let seq = 1; seq <= 40; seq++) cursor.moveTo(seq)
    expect(sent).toEqual([6])
    vi.advanceTimersByTime(INTERVAL_MS)
    expect(sent).toEqual([6, 40])
    vi.advanceTimersByTime(10 * INTERVAL_MS)
    expect(sent).toEqual([6, 40])
    cursor.moveTo(41)
    expect(sent).toEqual([6, 40, 41])
    expect(saved).toEqual([])
  })

  it('is saved over HTTP while disconnected', () => {
    const { cursor, saved } = createTestCursor(false)
    cursor.moveTo(9)
    expect(saved).toEqual([9])
  })

  it('is saved again if that failed, also after a long time, until the chat is left', async () => {
    const saved: number[] = []
    const fail: (() => void)[] = []
    const cursor = createReadCursor(
      5,
      () => false,
      seq => new Promise((_, reject) => void (saved.push(seq) && fail.push(() => reject(new Error('no network'))))),
    )
    cursor.moveTo(9)
    await vi.advanceTimersByTimeAsync(5 * INTERVAL_MS)
    fail.at(-1)?.()
    await vi.advanceTimersByTimeAsync(INTERVAL_MS)
    expect(saved).toEqual([9, 9])
    cursor.leave()
    fail.at(-1)?.()
    await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS)
    expect(saved).toEqual([9, 9])
  })

  it('is saved on leaving if it has not been sent', () => {
    const { cursor, sent, saved } = createTestCursor()
    cursor.moveTo(6)
    expect(cursor.leave()).toBe(6)
    expect(saved).toEqual([])
    cursor.moveTo(7)
    cursor.moveTo(8)
    expect(cursor.leave()).toBe(8)
    expect([sent, saved]).toEqual([[6, 7], [8]])
    vi.advanceTimersByTime(10 * INTERVAL_MS)
    expect(sent).toEqual([6, 7])
  })

  it('is saved when the page closes, also if it was sent', () => {
    const { cursor, sent, saved } = createTestCursor()
    cursor.close()
    expect(saved).toEqual([])
    cursor.moveTo(6)
    cursor.moveTo(7)
    cursor.close()
    expect([sent, saved]).toEqual([[6], [7]])
  })

  it('never moves back', () => {
    const { cursor, sent } = createTestCursor()
    cursor.moveTo(3)
    cursor.moveTo(5)
    expect(sent).toEqual([])
  })
})
