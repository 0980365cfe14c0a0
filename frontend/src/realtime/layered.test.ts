import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { LayeredMap } from './layered'

it('behaves like a map, and copies are independent of later writes', () => {
  const write = fc.tuple(fc.integer({ min: 0, max: 400 }).map(String), fc.nat())
  fc.assert(
    fc.property(fc.array(fc.array(write, { maxLength: 120 }), { maxLength: 8 }), copies => {
      let plain = new Map([['first', 1]])
      let layered: ReadonlyMap<string, number> = plain
      const before: [ReadonlyMap<string, number>, Map<string, number>][] = []
      for (const writes of copies) {
        before.push([layered, plain])
        plain = new Map(plain)
        const copy = LayeredMap.copyOf(layered)
        for (const [key, value] of writes) {
          plain.set(key, value)
          copy.set(key, value)
        }
        layered = copy
      }
      for (const [map, expected] of [...before, [layered, plain] as const]) {
        expect(map.size).toBe(expected.size)
        expect(new Map(map)).toEqual(expected)
        expect(new Set(map.keys())).toEqual(new Set(expected.keys()))
        for (const key of expected.keys()) expect([map.has(key), map.get(key)]).toEqual([true, expected.get(key)])
        expect([map.has('none'), map.get('none')]).toEqual([false, undefined])
      }
    }),
  )
})

it('does not read the base map when it is copied', () => {
  const below = new Map(Array.from({ length: 10 }, (_, at) => [String(at), at]))
  let read = 0
  below.entries = below[Symbol.iterator] = () => {
    read += 1
    return Map.prototype.entries.call(below) as MapIterator<[string, number]>
  }
  let map: ReadonlyMap<string, number> = below
  for (let at = 0; at < 100; at += 1) map = LayeredMap.copyOf(map).set(`new ${at}`, at)
  expect([map.size, read]).toEqual([110, 0])
})
