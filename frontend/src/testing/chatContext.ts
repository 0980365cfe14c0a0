import type { ChatContextValue } from '@/features/chats/components/ChatContext'
import type { LogPart } from '@/features/chats/logPart'

const noop = () => undefined

/** Builds a `ChatContextValue` of Alice, an editor. Its functions find and do nothing; `changes` replace its fields. */
export const buildChatContext = (changes: Partial<ChatContextValue> = {}): ChatContextValue => ({
  chatId: 'c',
  workspaceId: 'w',
  me: 'alice',
  isEditor: true,
  findActor: () => null,
  findName: () => null,
  findMessage: noop,
  reply: noop,
  askDraft: noop,
  togglePin: null,
  canReact: false,
  copy: noop,
  edit: null,
  remove: null,
  toggleThumb: null,
  askOtherAnswer: null,
  compare: null,
  saveDraft: noop,
  goTo: noop,
  goToSeq: noop,
  openWorkshop: noop,
  modelPath: null,
  contextPath: '/w/tours/settings?section=context',
  budgetsPath: '/w/tours/settings?section=budgets',
  suggestionPath: () => '',
  publicAgentPath: () => '',
  runPath: () => '',
  messagePath: () => '',
  onGo: noop,
  ...changes,
})

/** The newest part of a log, without older messages. */
export const emptyPart: LogPart = {
  range: null,
  from: 0,
  hasOlder: false,
  generation: 0,
  open: noop,
  toNewest: noop,
  loadOlder: async () => undefined,
  loadNewer: async () => undefined,
}

/** What `useReading` returns for a chat in which every message was seen. */
export const nothingUnread = {
  unreadAfter: null,
  isCaughtUp: true,
  hasGap: false,
  firstUnreadPage: null,
  since: null,
  count: 0,
  markUnreadSeen: noop,
  onSeen: noop,
}
