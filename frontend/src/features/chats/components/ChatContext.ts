import { createContext, useContext } from 'react'
import type { MessageRow, TextMessageRow, ThumbValue } from '@/api'
import type { FindName } from '@/ui/prose/mentions'
import type { CopyFormat } from '../copying'
import type { DeletableRow } from '../deletions'
import type { FindActor } from '../hooks'

/** Data and actions that every message of an open chat uses. */
export interface ChatContextValue {
  chatId: string
  workspaceId: string
  me: string
  /** Whether the reader is an editor of the workspace. */
  isEditor: boolean
  findActor: FindActor
  findName: FindName
  findMessage(messageId: string): MessageRow | undefined
  reply(row: MessageRow): void
  /** Pins a message, or unpins a pinned one; null if the reader may not. */
  togglePin: ((row: MessageRow) => void) | null
  /** Whether the reader may react to messages. */
  canReact: boolean
  /** Copies the message that is shown with this id. */
  copy(messageId: string, format: CopyFormat): void
  /** Opens the form that edits one of the reader's own messages; null if the reader may not write. */
  edit: ((row: TextMessageRow) => void) | null
  /** Deletes a message for everybody, after a question if an agent answers it; null if the reader may not write. */
  remove: ((row: DeletableRow) => void) | null
  /** Calls an answer good or bad, or takes that back; null if the reader may not. */
  toggleThumb: ((row: TextMessageRow, value: ThumbValue) => void) | null
  /** Asks the agent of this run for another answer to the same message; null if the reader may not. */
  askOtherAnswer: ((runId: string) => void) | null
  /** Opens the comparison of production and the draft with this message, or the one that this reply answers; null without a draft. */
  compare: ((row: TextMessageRow) => void) | null
  /** Opens the workshop of an agent, and the dialog that saves its draft as a version. */
  saveDraft(agentId: string): void
  /** Applies the agent's draft, and sends the message that this reply answers again. */
  askDraft(answer: TextMessageRow): void
  goTo(messageId: string): void
  /** Scrolls to the message with this number, or says that it is gone. */
  goToSeq(seq: number): void
  /** Opens the workshop of an agent. */
  openWorkshop(agentId: string): void
  suggestionPath(id: string): string
  /** The path of a public agent in the directory. */
  publicAgentPath(id: string): string
  /** The path of a run in the inspector. */
  runPath(runId: string): string
  messagePath(chatId: string, messageId: string): string
  /** The path of the model settings; null if the reader may not change them. */
  modelPath: string | null
  /** The path of the budgets in the settings. */
  budgetsPath: string
  /** The path of the settings for long chats. */
  contextPath: string
  /** Navigates to a path of this app. */
  onGo(path: string): void
}

export const ChatContext = createContext<ChatContextValue | null>(null)

export function useChat(): ChatContextValue {
  const value = useContext(ChatContext)
  if (!value) throw new Error('useChat is used outside of a chat')
  return value
}
