/** A large map that is copied often, with few changes per copy. */

/** Number of changed entries above which a copy merges them with the base map. */
const MAX_ABOVE = 256

/** A map with changed entries above a base map, which several copies share and none modifies. */
export class LayeredMap<V> implements ReadonlyMap<string, V> {
  /** The number of keys of `above` that `below` does not have. */
  private added = 0

  private constructor(
    private readonly below: ReadonlyMap<string, V>,
    private readonly above: Map<string, V>,
  ) {}

  /** Returns a copy that can be modified. The original must not be modified any more. */
  static copyOf<V>(map: ReadonlyMap<string, V>): LayeredMap<V> {
    if (!(map instanceof LayeredMap)) return new LayeredMap(map, new Map())
    if (map.above.size >= MAX_ABOVE) return new LayeredMap<V>(new Map<string, V>(map), new Map())
    const copy = new LayeredMap<V>(map.below, new Map(map.above))
    copy.added = map.added
    return copy
  }

  get size(): number {
    return this.below.size + this.added
  }

  has(key: string): boolean {
    return this.above.has(key) || this.below.has(key)
  }

  get(key: string): V | undefined {
    return this.above.get(key) ?? this.below.get(key)
  }

  set(key: string, value: V): this {
    if (!this.has(key)) this.added += 1
    this.above.set(key, value)
    return this
  }

  *entries(): MapIterator<[string, V]> {
    for (const [key, value] of this.below) if (!this.above.has(key)) yield [key, value]
    yield* this.above
  }

  *keys(): MapIterator<string> {
    for (const [key] of this.entries()) yield key
  }

  *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries()
  }

  forEach(callback: (value: V, key: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [key, value] of this.entries()) callback(value, key, this)
  }
}
