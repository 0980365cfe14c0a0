/** Mentions in the composer: the query at the caret, the matching people and agents, and the sent text. Pure functions. */
import type { ActorRow } from '@/api'
import { isInCode, replaceOutsideCode } from '@/lib/mentions'
import { mentionPatterns } from '@/lib/serverConstants'

interface MentionQuery {
  /** The position of the `@`. */
  from: number
  query: string
}

const typed = new RegExp(`(?<!_)${mentionPatterns.beginning}([\\p{L}\\p{N}_-]{0,40})$`, 'u')

/** Finds the mention that is being typed at the caret. */
export function findMention(text: string, caret: number): MentionQuery | null {
  const query = typed.exec(text.slice(0, caret))?.[1]
  if (query === undefined) return null
  const from = caret - query.length - 1
  return isInCode(text, from) ? null : { from, query }
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
const endsWithSpaced = new RegExp(`[${mentionPatterns.spaced}]$`, 'u')
const endsWithLetter = /[\p{L}\p{N}]$/u
const startsWithLetter = /^[\p{L}\p{N}]/u
const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/**
 * Replaces mentions by name with mentions by handle, for sending. Of two names that match, the longer is used; a name that several
 * have is not replaced. Only a name that ends with a letter of a word must end where the word ends.
 */
export function replaceNamesByHandles(text: string, actors: readonly ActorRow[]): string {
  if (!/[@＠]/.test(text)) return text
  const byName = actors
    .filter(actor => actor.name && getMentionName(actors, actor) === actor.name)
    .sort((a, b) => b.name.length - a.name.length)
  if (byName.length === 0) return text
  const names = byName.map(({ name }) => escapeRegExp(name) + (endsWithSpaced.test(name) ? mentionPatterns.ending : ''))
  // All names in one pass: a handle that was written may be the name of another actor.
  const pattern = `${mentionPatterns.beginning}(?:${names.join('|')})`
  let end = 0
  return replaceOutsideCode(text, pattern, (found, start) => {
    const actor = byName.find(({ name }) => isSameName(name, found.slice(1)))
    if (!actor) return found
    const isHandle = isSameName(actor.handle, found.slice(1))
    const isAfterMention = start > 0 && start === end
    end = start + found.length
    const left =
      isAfterMention || (!isHandle && endsWithLetter.test(text.slice(Math.max(0, start - 2), start))) ? ' ' : ''
    const right = !isHandle && startsWithLetter.test(text.slice(end, end + 2)) ? ' ' : ''
    return `${left}${isHandle ? found.charAt(0) : '@'}${actor.handle}${right}`
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
