export { backoff } from './backoff'
export { type ChatState, indexOfSeq, isActive, isEnded } from './chat'
export {
  chatState,
  connection,
  onFrame,
  onSignedOut,
  prependHistory,
  reconnectNow,
  resubscribe,
  sendRead,
  sendTyping,
  startLive,
  stopLive,
  upsertRows,
  useChatSelector,
  useConnection,
  useTopic,
} from './live'
export type { LiveText } from './partials'
export { actorTopic, chatTopic, workspaceTopic } from './topics'
