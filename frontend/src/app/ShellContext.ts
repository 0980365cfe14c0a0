import { createContext, useContext } from 'react'
import type { ChatSummaryRow, Me, WorkspaceRow } from '@/api'

/** What every screen inside a workspace needs. */
export interface ShellValue {
  me: Me
  workspace: WorkspaceRow
  /** In the order in which they stand in the list. */
  chats: readonly ChatSummaryRow[] | undefined
  /** Opens what finds and does everything. */
  openPalette(): void
  newChat(withIds?: readonly string[]): void
  newAgent(): void
}

export const ShellContext = createContext<ShellValue | null>(null)

export function useShell(): ShellValue {
  const value = useContext(ShellContext)
  if (!value) throw new Error('Outside of a workspace')
  return value
}
