import { createContext } from 'react'

/**
 * Which sub-agents, applied changes, boards and tasks the reader has folded or unfolded, by the ids of their runs, messages or
 * rows. The log keeps this map, because an item loses its own state: it is unmounted when it leaves the visible part of the log.
 */
export const FoldingChoices = createContext<Map<string, boolean>>(new Map())
