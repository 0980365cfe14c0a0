/** The search parameters of the directory: its query and filters. Pure functions. */
import type { DirectoryFilter, ListingCategory } from '@/api'
import { listKeys } from '@/lib/listKeys'

export const categories = listKeys<ListingCategory>({
  writing: true,
  language: true,
  research: true,
  data: true,
  coding: true,
  business: true,
  education: true,
  other: true,
})
export const scopes = listKeys<DirectoryFilter['scope']>({ all: true, used: true, yours: true })
export const sorts = listKeys<DirectoryFilter['sort']>({ use: true, new: true, name: true })

export interface DirectorySearch {
  q?: string
  category?: ListingCategory
  language?: string
  sort?: DirectoryFilter['sort']
  scope?: DirectoryFilter['scope']
}

/** A change of the search parameters; an empty or undefined one is removed. */
export type SearchChange = { [Name in keyof DirectorySearch]?: string | undefined }

/** Parses the search parameters. Unknown ones and the defaults are dropped, so that any URL opens the directory. */
export function parseDirectorySearch(raw: Record<string, unknown>): DirectorySearch {
  // The router parses a query such as `?q=42` as a number.
  const q = typeof raw['q'] === 'string' ? raw['q'].slice(0, 200) : typeof raw['q'] === 'number' ? String(raw['q']) : ''
  const language = raw['language']
  const category = categories.find(category => category === raw['category'])
  const sort = sorts.find(sort => sort === raw['sort'])
  const scope = scopes.find(scope => scope === raw['scope'])
  return {
    ...(q ? { q } : {}),
    ...(category ? { category } : {}),
    ...(typeof language === 'string' && /^[a-z]{2,3}(-[a-z0-9]{2,8})?$/.test(language) ? { language } : {}),
    ...(sort && sort !== 'use' ? { sort } : {}),
    ...(scope && scope !== 'all' ? { scope } : {}),
  }
}
