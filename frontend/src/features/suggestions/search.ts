/** The search parameters of the suggestions screen: the filter, and the open suggestion or merge. Pure functions. */
import type { SuggestionState } from '@/api'

export const states = [
  'pending',
  'accepted',
  'unused',
  'rejected',
  'withdrawn',
] as const satisfies readonly SuggestionState[]

export interface SuggestionSearch {
  /** `pending` by default. */
  state?: SuggestionState
  agent?: string
  author?: string
  /** The id of the open suggestion. */
  s?: string
  /** The id of the open merge, instead of a suggestion. */
  m?: string
}

const names = ['agent', 'author', 's', 'm'] as const

/** Parses the search parameters. Unknown ones are dropped, so that any URL opens the screen. */
export function parseSuggestionSearch(raw: Record<string, unknown>): SuggestionSearch {
  const state = states.find(state => state === raw['state'])
  const rest = names.map(name => [name, raw[name]] as const).filter(([, value]) => typeof value === 'string' && value)
  return { ...(state ? { state } : {}), ...Object.fromEntries(rest) }
}

/** Returns the search parameters after a change; undefined removes a parameter. */
export function changeSearch(
  search: SuggestionSearch,
  change: { [Name in keyof SuggestionSearch]?: string | undefined },
): SuggestionSearch {
  return parseSuggestionSearch({ ...search, ...change })
}
