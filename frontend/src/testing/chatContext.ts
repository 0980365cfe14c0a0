import type { ChatContextValue } from '@/features/chats/components/ChatContext'

const noop = () => undefined

/** Builds the context of a chat of Alice, an editor, in which nothing is found and nothing happens, with these changes. */
export const buildChatContext = (changes: Partial<ChatContextValue> = {}): ChatContextValue => ({
  chatId: 'c',
  workspaceId: 'w',
  me: 'alice',
  isEditor: true,
  findActor: () => null,
  names: () => null,
  findMessage: noop,
  reply: noop,
  askDraft: noop,
  compare: null,
  goTo: noop,
  openWorkshop: noop,
  modelPath: null,
  budgetsPath: '/w/tours/settings?section=budgets',
  suggestionPath: () => '',
  publicAgentPath: () => '',
  runPath: () => '',
  messagePath: () => '',
  onGo: noop,
  ...changes,
})
