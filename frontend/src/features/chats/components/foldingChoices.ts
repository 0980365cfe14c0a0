import { createContext } from 'react'

/**
 * Which sub-agents the reader has folded or unfolded, by the ids of their runs. It belongs to the log, because a reply that leaves the
 * visible part of the log is unmounted.
 */
export const FoldingChoices = createContext<Map<string, boolean>>(new Map())
