import { createContext, useContext } from 'react'
import type { MessageRow, TextMessageRow } from '@/api'
import type { Naming } from '@/ui/prose/mentions'
import type { Directory } from '../hooks'

/** What every message of an open chat needs. */
export interface ChatContextValue {
  chatId: string
  workspaceId: string
  me: string
  /** Whether the reader is an editor of the workspace. */
  isEditor: boolean
  who: Directory
  names: Naming
  find(messageId: string): MessageRow | undefined
  reply(row: MessageRow): void
  /** Asks production and the draft the same again; null where there is no draft to compare. */
  compare: ((row: TextMessageRow) => void) | null
  /** Asks the question of this answer again, with the draft of its agent. */
  askDraft(answer: TextMessageRow): void
  goTo(messageId: string): void
  /** Opens the workshop at this agent. */
  openWorkshop(agentId: string): void
  suggestionPath(id: string): string
  /** Where the workspace's model is set; null for who may not set it. */
  modelPath: string | null
  /** Goes to a path of this app. */
  onGo(path: string): void
}

export const ChatContext = createContext<ChatContextValue | null>(null)

export function useChat(): ChatContextValue {
  const value = useContext(ChatContext)
  if (!value) throw new Error('Outside of a chat')
  return value
}
