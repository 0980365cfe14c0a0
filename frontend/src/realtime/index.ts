export { backoff } from './backoff'
export {
  type ChatState,
  endedRunStates,
  getChatRow,
  indexOfSeq,
  isActive,
  isEnded,
} from './chat'
export {
  chatState,
  connection,
  onFrame,
  onSignedOut,
  prependOlderMessages,
  replaceConnection,
  resubscribe,
  sendRead,
  sendTyping,
  startRealtime,
  stopRealtime,
  upsertEndedRows,
  upsertRows,
  useChatSelector,
  useConnection,
  useTopic,
} from './client'
export type { StreamingText } from './partials'
export { actorTopic, chatTopic, workspaceTopic } from './topics'
