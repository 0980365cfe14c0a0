import { v7 } from 'uuid'

/** A fresh UUIDv7. A message's id is made here and is its idempotency key. */
export const newId = (): string => v7()

/** When an id was made (ms): the first 48 bits of a UUIDv7. Null for ids of another kind. */
export function getTimeOfId(id: string): number | null {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/i.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : null
}

/** A small stable number out of an id, to choose a colour or an icon by. */
export function hashText(id: string): number {
  let hash = 7
  for (const char of id) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) >>> 0
  return hash
}
