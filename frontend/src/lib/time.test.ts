import { afterEach, expect, it, vi } from 'vitest'
import { formatFullTime, formatTime } from './time'

afterEach(() => {
  vi.unstubAllGlobals()
})

it('makes each format once, however many times it is shown', () => {
  let made = 0
  class Counted extends Intl.DateTimeFormat {
    constructor(...given: ConstructorParameters<typeof Intl.DateTimeFormat>) {
      super(...given)
      made += 1
    }
  }
  vi.stubGlobal('Intl', Object.assign(Object.create(Intl), { DateTimeFormat: Counted }))
  for (let minute = 10; minute < 60; minute += 1) {
    const at = `2026-11-20T10:${minute}:00`
    expect(formatTime(at)).toBe(`10:${minute}`)
    expect(formatFullTime(at)).toContain(`${minute}:00`)
  }
  expect(made).toBe(2)
})
