/** What the address of the screen says: which suggestions are listed, and which one or which merge is open. Pure. */
import type { SuggestionState } from '@/api'

export const states = [
  'pending',
  'accepted',
  'unused',
  'rejected',
  'withdrawn',
] as const satisfies readonly SuggestionState[]

export interface SuggestionSearch {
  /** PendingEdits by default. */
  state?: SuggestionState
  agent?: string
  author?: string
  /** The suggestion that is open. */
  s?: string
  /** The merge that is open, instead of a suggestion. */
  m?: string
}

const names = ['agent', 'author', 's', 'm'] as const

/** Drops what is not known, so that an old or odd address still opens the screen. */
export function parseSuggestionSearch(raw: Record<string, unknown>): SuggestionSearch {
  const state = states.find(each => each === raw['state'])
  const rest = names.map(name => [name, raw[name]] as const).filter(([, value]) => typeof value === 'string' && value)
  return { ...(state ? { state } : {}), ...Object.fromEntries(rest) }
}

/** The address after a change; what is undefined goes away. */
export function changeSearch(
  search: SuggestionSearch,
  change: { [Name in keyof SuggestionSearch]?: string | undefined },
): SuggestionSearch {
  return parseSuggestionSearch({ ...search, ...change })
}
