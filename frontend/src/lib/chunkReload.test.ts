import { describe, expect, it } from 'vitest'
import { claimReload, hasUnsavedInput, isMissingFile } from './chunkReload'

function createStorage() {
  const stored = new Map<string, string>()
  return {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  }
}

const MINUTE = 60_000

describe('an automatic reload', () => {
  it('happens at most once in five minutes', () => {
    const tab = createStorage()
    const at = (minute: number) => claimReload(1_000_000 + minute * MINUTE, tab)
    expect([at(0), at(0.1), at(4.9), at(5.1), at(5.2)]).toEqual([true, false, false, true, false])
  })

  it('happens after the clock was set back', () => {
    const tab = createStorage()
    expect([claimReload(10 * MINUTE, tab), claimReload(MINUTE, tab)]).toEqual([true, true])
  })

  it('does not happen without storage', () => {
    const deny = () => {
      throw new Error('denied')
    }
    expect(claimReload(0, { getItem: () => null, setItem: deny })).toBe(false)
    expect(claimReload(0, { getItem: deny, setItem: () => undefined })).toBe(false)
  })
})

/** A page with one field in it. */
const page = (value: string, isKept: boolean) =>
  ({ querySelectorAll: () => [{ value, closest: () => (isKept ? {} : null) }] }) as unknown as ParentNode

describe('the input of a page', () => {
  it.each([
    ['', false, true, false],
    ['half a thought', false, true, true],
    ['half a thought', true, true, false],
    ['half a thought', true, false, true],
  ])('%j, kept %s in a browser that keeps %s, would be lost: %s', (text, isKept, keeps, isLost) => {
    expect(hasUnsavedInput(page(text, isKept), keeps)).toBe(isLost)
  })
})

describe('a missing file', () => {
  it.each([
    'Failed to fetch dynamically imported module: https://a.example/static/assets/Palette-1.js',
    'error loading dynamically imported module: https://a.example/static/assets/Palette-1.js',
    'Importing a module script failed.',
  ])('is recognized by the message of the browser: %s', message => {
    expect(isMissingFile(new TypeError(message))).toBe(true)
  })

  it('is not any other error', () => {
    expect(isMissingFile(new TypeError('x is undefined'))).toBe(false)
    expect(isMissingFile('dynamically imported module')).toBe(false)
  })
})
