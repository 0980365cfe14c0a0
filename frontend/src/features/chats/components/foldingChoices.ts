import { createContext } from 'react'

/**
 * Which sub-agents the reader has folded or unfolded, by the ids of their runs. The log keeps this map, because a reply
 * loses its own state: it is unmounted when it leaves the visible part of the log.
 */
export const FoldingChoices = createContext<Map<string, boolean>>(new Map())
