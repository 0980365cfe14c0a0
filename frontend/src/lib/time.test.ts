import { afterEach, expect, it, vi } from 'vitest'
import { formatFullTime, formatTime } from './time'

afterEach(() => {
  vi.unstubAllGlobals()
})

it('creates each format once for many times', () => {
  let created = 0
  class CountedFormat extends Intl.DateTimeFormat {
    constructor(...args: ConstructorParameters<typeof Intl.DateTimeFormat>) {
      super(...args)
      created += 1
    }
  }
  vi.stubGlobal('Intl', Object.assign(Object.create(Intl), { DateTimeFormat: CountedFormat }))
  for (let minute = 10; minute < 60; minute += 1) {
    const at = `2026-11-20T10:${minute}:00`
    expect(formatTime(at)).toBe(`10:${minute}`)
    expect(formatFullTime(at)).toContain(`${minute}:00`)
  }
  expect(created).toBe(2)
})
