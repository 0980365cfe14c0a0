import { v7 } from 'uuid'

/** A fresh UUIDv7. A message's id is made here and is its idempotency key. */
export const newId = (): string => v7()

/** A small stable number out of an id, to choose a colour or an icon by. */
export function hashOf(id: string): number {
  let hash = 7
  for (const char of id) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) >>> 0
  return hash
}
