/** The search of messages in the palette. It begins shortly after the last key. Results for other words are hidden. */
import { useEffect, useState } from 'react'
import { type FoundMessage, useFoundMessages } from '@/api'
import { useShell } from './ShellContext'

const PAUSE_MS = 200
const FIRST_LIMIT = 6
const MAX_LIMIT = 50
/** The server's limit for a query. */
const MAX_QUERY = 200

interface MessageSearch {
  /** Null until the server has answered for these words. */
  found: readonly FoundMessage[] | null
  isSearching: boolean
  error: Error | null
  /** Shows up to `MAX_LIMIT` messages; null if there are no more, or if so many are already requested. */
  showMore: (() => void) | null
}

/** Returns whether a text is worth a search: two letters or digits in a row, or one Chinese or Japanese character. */
const isSearchable = (text: string) =>
  /[\p{L}\p{N}]{2}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u.test(text)

export function useMessageSearch(text: string): MessageSearch {
  const { workspace } = useShell()
  const wanted = isSearchable(text) ? text.trim().slice(0, MAX_QUERY) : ''
  const [query, setQuery] = useState('')
  const [limit, setLimit] = useState(FIRST_LIMIT)
  useEffect(() => {
    const timer = setTimeout(() => {
      setQuery(wanted)
      setLimit(FIRST_LIMIT)
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  const { data, error, isFetching } = useFoundMessages(workspace.id, query, limit)
  const isCurrent = wanted !== '' && wanted === query
  const hasMore = isCurrent && data?.next != null && limit < MAX_LIMIT
  return {
    found: isCurrent && data ? data.results : null,
    isSearching: wanted !== '' && (!isCurrent || (isFetching && !data)),
    error: isCurrent ? error : null,
    showMore: hasMore ? () => setLimit(MAX_LIMIT) : null,
  }
}
