/** The search of messages in the palette, which shows the newest ones. It begins shortly after the last key. Results for other words are hidden. */
import { useEffect, useState } from 'react'
import { type FoundMessage, useFoundMessages } from '@/api'
import { isSearchable } from '@/features/search'
import { useShell } from './ShellContext'

const PAUSE_MS = 200
const LIMIT = 6
/** The server's limit for a query. */
const MAX_QUERY = 200

interface MessageSearch {
  /** Null until the server has answered for these words. */
  found: readonly FoundMessage[] | null
  isSearching: boolean
  error: Error | null
}

export function useMessageSearch(text: string): MessageSearch {
  const { workspace } = useShell()
  const wanted = isSearchable(text) ? text.trim().slice(0, MAX_QUERY) : ''
  const [query, setQuery] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setQuery(wanted), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  const { data, error, isFetching } = useFoundMessages(workspace.id, query, LIMIT)
  const isCurrent = wanted !== '' && wanted === query
  return {
    found: isCurrent && data ? data.results : null,
    isSearching: wanted !== '' && (!isCurrent || (isFetching && !data)),
    error: isCurrent ? error : null,
  }
}
