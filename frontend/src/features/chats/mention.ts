/** The mention list of the composer: what is being typed at the caret, and who matches. Pure. */
import type { ActorRow } from '@/api'

export interface Typing {
  /** Where the `@` stands. */
  from: number
  query: string
}

/** The mention that is being written at the caret, if one is. */
export function mentionAt(text: string, caret: number): Typing | null {
  const match = /(^|[^\p{L}\p{N}_@/])@([\p{L}\p{N}_-]{0,40})$/u.exec(text.slice(0, caret))
  if (!match) return null
  const query = match[2] ?? ''
  return { from: caret - query.length - 1, query }
}

/** Agents first, then people; those whose name or handle begins with the query before those that contain it. */
export function matching(actors: readonly ActorRow[], query: string): ActorRow[] {
  const low = query.toLowerCase()
  const rank = ({ name, handle }: ActorRow) => {
    if (handle.startsWith(low) || name.toLowerCase().startsWith(low)) return 0
    return name.toLowerCase().includes(low) || handle.includes(low) ? 1 : 2
  }
  const order = (actor: ActorRow) => (actor.kind === 'agent' ? 0 : 10) + rank(actor)
  return actors.filter(actor => rank(actor) < 2).sort((a, b) => order(a) - order(b) || a.name.localeCompare(b.name))
}

/** The text and the caret after the mention is completed. */
export function completed(
  text: string,
  caret: number,
  typing: Typing,
  handle: string,
): { text: string; caret: number } {
  const after = text.slice(caret)
  const inserted = `@${handle}${after.startsWith(' ') ? '' : ' '}`
  const end = typing.from + inserted.length + (after.startsWith(' ') ? 1 : 0)
  return { text: text.slice(0, typing.from) + inserted + after, caret: end }
}
