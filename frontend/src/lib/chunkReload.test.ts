import { describe, expect, it } from 'vitest'
import { claimReload, hasUnsavedInput, isMissingFile } from './chunkReload'

function memory() {
  const stored = new Map<string, string>()
  return {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  }
}

const MINUTE = 60_000

describe('a reload by itself', () => {
  it('happens once in a while, so that it never goes round in circles', () => {
    const tab = memory()
    const at = (minute: number) => claimReload(1_000_000 + minute * MINUTE, tab)
    expect([at(0), at(0.1), at(4.9), at(5.1), at(5.2)]).toEqual([true, false, false, true, false])
  })

  it('happens when the clock was set back', () => {
    const tab = memory()
    expect([claimReload(10 * MINUTE, tab), claimReload(MINUTE, tab)]).toEqual([true, true])
  })

  it('does not happen where nothing is remembered', () => {
    const closed = () => {
      throw new Error('denied')
    }
    expect(claimReload(0, { getItem: () => null, setItem: closed })).toBe(false)
    expect(claimReload(0, { getItem: closed, setItem: () => undefined })).toBe(false)
  })
})

/** A page with one field in it. */
const page = (value: string, isKept: boolean) =>
  ({ querySelectorAll: () => [{ value, closest: () => (isKept ? {} : null) }] }) as unknown as ParentNode

describe('what is written on a page', () => {
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
  ])('is known by what the browser says: %s', said => {
    expect(isMissingFile(new TypeError(said))).toBe(true)
  })

  it('is no other failure', () => {
    expect(isMissingFile(new TypeError('x is undefined'))).toBe(false)
    expect(isMissingFile('dynamically imported module')).toBe(false)
  })
})
