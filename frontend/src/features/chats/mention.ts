/** Mentions in the composer: the query at the caret, the matching people and agents, and the sent text. Pure functions. */
import type { ActorRow } from '@/api'

interface MentionQuery {
  /** The position of the `@`. */
  from: number
  query: string
}

/** Finds the mention that is being typed at the caret. */
export function findMention(text: string, caret: number): MentionQuery | null {
  const match = /(^|[^\p{L}\p{N}_@/])@([\p{L}\p{N}_-]{0,40})$/u.exec(text.slice(0, caret))
  if (!match) return null
  const query = match[2] ?? ''
  return { from: caret - query.length - 1, query }
}

/** Filters by name or handle: agents before people, and names that start with the query before those that contain it. */
export function filterByName(actors: readonly ActorRow[], query: string): ActorRow[] {
  const needle = query.toLowerCase()
  const rank = ({ name, handle }: ActorRow) => {
    if (handle.startsWith(needle) || name.toLowerCase().startsWith(needle)) return 0
    return name.toLowerCase().includes(needle) || handle.includes(needle) ? 1 : 2
  }
  const order = (actor: ActorRow) => (actor.kind === 'agent' ? 0 : 10) + rank(actor)
  return actors.filter(actor => rank(actor) < 2).sort((a, b) => order(a) - order(b) || a.name.localeCompare(b.name))
}

/** Returns the text of a mention in the composer: the name, or the handle if two have the same name. */
export function getMentionName(actors: readonly ActorRow[], actor: ActorRow): string {
  const isShared = actors.some(other => other.id !== actor.id && isSameName(other.name, actor.name))
  return isShared || !actor.name ? actor.handle : actor.name
}

const isSameName = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
/** Chinese, Japanese and Korean names need no space after them. */
const isUnspaced = (name: string) =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]$/u.test(name)
const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/**
 * Replaces mentions by name with mentions by handle, for sending. Of two names that match, the longer is used; a name that several
 * have is not replaced.
 */
export function replaceNamesByHandles(text: string, actors: readonly ActorRow[]): string {
  if (!text.includes('@')) return text
  const byName = actors
    .filter(actor => actor.name && getMentionName(actors, actor) === actor.name)
    .sort((a, b) => b.name.length - a.name.length)
  if (byName.length === 0) return text
  const names = byName.map(({ name }) => `(${escapeRegExp(name)})${isUnspaced(name) ? '' : '(?![\\p{L}\\p{N}_-])'}`)
  // All names in one pass: a handle that was written may be the name of another actor.
  const pattern = new RegExp(`(?<![a-zA-Z0-9_@/.-])@(?:${names.join('|')})`, 'giu')
  const startsWithWord = /^[\p{L}\p{N}_-]/u
  const endsWithWord = /[\p{L}\p{N}_-]$/u
  return text.replace(pattern, (match: string, ...groups: unknown[]) => {
    const actor = byName[groups.findIndex(name => name !== undefined)]
    const start = Number(groups[byName.length])
    const before = endsWithWord.test(text.slice(Math.max(0, start - 2), start)) ? ' ' : ''
    return `${before}@${actor?.handle}${startsWithWord.test(text.slice(start + match.length)) ? ' ' : ''}`
  })
}

/** Returns the text and the caret after the mention is completed. */
export function insertMention(
  text: string,
  caret: number,
  mention: MentionQuery,
  name: string,
): { text: string; caret: number } {
  const after = text.slice(caret)
  const inserted = `@${name}${after.startsWith(' ') ? '' : ' '}`
  const end = mention.from + inserted.length + (after.startsWith(' ') ? 1 : 0)
  return { text: text.slice(0, mention.from) + inserted + after, caret: end }
}
