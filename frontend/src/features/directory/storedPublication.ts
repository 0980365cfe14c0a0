/** What a person has entered in the form that publishes an agent. It is kept in this browser until the agent is published. */
import { useCallback, useEffect, useState } from 'react'
import type { AgentRow, ListingCategory, PublicationRow } from '@/api'
import { readStored, writeStored } from '@/lib/storage'

export interface PublicationValues {
  /** The version that is published; null for production. */
  version: number | null
  name: string
  handle: string
  description: string
  category: ListingCategory
  languages: readonly string[]
  examples: readonly string[]
  /** What is new, for the users. */
  message: string
}

export const MAX_EXAMPLES = 4

/** Returns the initial values: those of the public copy, else of the one that was taken down last, else of the agent. */
export function buildInitialValues(
  { actor }: Pick<AgentRow, 'actor'>,
  { listing, takedowns }: Pick<PublicationRow, 'listing' | 'takedowns'>,
  language: string,
): PublicationValues {
  const common = { version: null, message: '' }
  if (listing)
    return {
      ...common,
      name: listing.actor.name,
      handle: listing.actor.handle,
      description: listing.actor.description ?? '',
      category: listing.category,
      languages: listing.languages,
      examples: listing.examples,
    }
  const [last] = takedowns
  if (last) {
    const { name, handle, description, category, languages, examples } = last
    return { ...common, name, handle, description, category, languages, examples }
  }
  return {
    ...common,
    name: actor.name,
    handle: actor.handle,
    description: actor.description ?? '',
    category: 'other',
    languages: [language],
    examples: [],
  }
}

/** Holds the values of the form, which survive a reload. They are read only at mounting: give each agent a `key`. */
export function useStoredPublication(storageKey: string, initial: PublicationValues) {
  const [values, setValues] = useState<PublicationValues>(() => ({
    ...initial,
    ...readStored<Partial<PublicationValues>>(storageKey, {}),
  }))
  const [isTouched, setTouched] = useState(false)
  useEffect(() => {
    if (isTouched) writeStored(storageKey, values)
  }, [storageKey, values, isTouched])
  const change = useCallback((part: Partial<PublicationValues>) => {
    setTouched(true)
    setValues(before => ({ ...before, ...part }))
  }, [])
  const forget = useCallback(() => {
    setTouched(false)
    writeStored(storageKey, null)
  }, [storageKey])
  return { values, change, forget }
}
