import { createContext, useContext } from 'react'
import type { ListedChatRow, Me, WorkspaceRow } from '@/api'

/** Data and dialogs that every screen of a workspace uses. */
export interface ShellValue {
  me: Me
  workspace: WorkspaceRow
  /** In the order of the sidebar. */
  chats: readonly ListedChatRow[] | undefined
  /** Opens the command palette. */
  openPalette(): void
  openNewChat(withIds?: readonly string[]): void
  openNewAgent(): void
}

export const ShellContext = createContext<ShellValue | null>(null)

export function useShell(): ShellValue {
  const value = useContext(ShellContext)
  if (!value) throw new Error('useShell is used outside of a workspace')
  return value
}
