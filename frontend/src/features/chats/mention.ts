/** The mention list of the composer: what is being typed at the caret, and who matches. Pure. */
import type { ActorRow } from '@/api'

interface Typing {
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

/** How somebody is called in the composer: by name, or by handle where two here have the same name. */
export function calledIn(actors: readonly ActorRow[], actor: ActorRow): string {
  const isShared = actors.some(other => other.id !== actor.id && isSameName(other.name, actor.name))
  return isShared || !actor.name ? actor.handle : actor.name
}

const isSameName = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
/** Chinese, Japanese and Korean names need no space after them. */
const isUnspaced = (name: string) =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]$/u.test(name)
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/**
 * The text as it is sent: who is called by name is called by handle, which is what counts. Of two names that fit the longer is
 * meant; a name that several bear says nobody.
 */
export function withHandles(text: string, actors: readonly ActorRow[]): string {
  if (!text.includes('@')) return text
  const byName = actors
    .filter(actor => actor.name && calledIn(actors, actor) === actor.name)
    .sort((a, b) => b.name.length - a.name.length)
  return byName.reduce((done, { name, handle }) => {
    const end = isUnspaced(name) ? '' : '(?![\\p{L}\\p{N}_-])'
    const called = new RegExp(`(^|[^a-zA-Z0-9_@/.-])@${escaped(name)}${end}(?=(.?))`, 'giu')
    return done.replace(called, (_, before: string, next: string) => {
      const isWord = (char: string) => /[\p{L}\p{N}_-]/u.test(char)
      return `${before}${before && isWord(before) ? ' ' : ''}@${handle}${next && isWord(next) ? ' ' : ''}`
    })
  }, text)
}

/** The text and the caret after the mention is completed. */
export function completed(text: string, caret: number, typing: Typing, name: string): { text: string; caret: number } {
  const after = text.slice(caret)
  const inserted = `@${name}${after.startsWith(' ') ? '' : ' '}`
  const end = typing.from + inserted.length + (after.startsWith(' ') ? 1 : 0)
  return { text: text.slice(0, typing.from) + inserted + after, caret: end }
}
