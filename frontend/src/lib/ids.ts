import { v7 } from 'uuid'

/** Generates a UUIDv7. The client generates the ids of the messages that it sends; they serve as idempotency keys. */
export const newId = (): string => v7()

/** Returns the time at which an id was generated, in ms: the first 48 bits of a UUIDv7. Null for other ids. */
export function getTimeOfId(id: string): number | null {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/i.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : null
}

/** Returns a stable number for a text, such as an id, to choose a colour by. */
export function hashText(id: string): number {
  let hash = 7
  for (const char of id) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) >>> 0
  return hash
}
