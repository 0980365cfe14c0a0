import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readStored, removeUnowned, setStorageOwner, writeStored } from './storage'

describe('FAIR6: data stored in the browser', () => {
  let items: Record<string, string>
  beforeEach(() => {
    items = {}
    vi.stubGlobal(
      'localStorage',
      new Proxy(items, {
        get: (target, name) =>
          ({
            getItem: (key: string) => target[key] ?? null,
            setItem: (key: string, value: string) => {
              target[key] = value
            },
            removeItem: (key: string) => {
              delete target[key]
            },
          })[String(name)] ?? target[String(name)],
      }),
    )
  })
  afterEach(() => {
    setStorageOwner(null)
    vi.unstubAllGlobals()
  })

  it('is found by its owner only', () => {
    setStorageOwner('alice')
    writeStored('atelier.text.chat', { text: 'half a sentence' })
    setStorageOwner('bob')
    expect(readStored('atelier.text.chat', null)).toBeNull()
    writeStored('atelier.text.chat', null)
    setStorageOwner('alice')
    expect(readStored('atelier.text.chat', null)).toEqual({ text: 'half a sentence' })
  })

  it('is neither written nor read before the owner is set', () => {
    items['atelier.unsent'] = '[1]'
    items['atelier.unsent@alice'] = '[1]'
    writeStored('atelier.unsent', [2])
    expect(readStored('atelier.unsent', [])).toEqual([])
    expect(items).toEqual({ 'atelier.unsent': '[1]', 'atelier.unsent@alice': '[1]' })
  })

  it('is removed if it has no owner', () => {
    Object.assign(items, {
      'atelier.unsent': '[1]',
      'atelier.text.chat': '{}',
      'atelier.text.chat@alice': '{}',
      'atelier.theme': 'dark',
    })
    removeUnowned()
    expect(Object.keys(items)).toEqual(['atelier.text.chat@alice', 'atelier.theme'])
  })
})
