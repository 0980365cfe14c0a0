export { backoff } from './backoff'
export { type ChatState, indexOfSeq as placeOf, isActive, isEnded } from './chat'
export {
  chatState,
  connection,
  onFrame,
  onSignedOut,
  prependHistory as learnOlder,
  reconnectNow as tryNow,
  resubscribe as askAgain,
  sendRead,
  sendTyping as sayTyping,
  startLive,
  stopLive,
  upsertRows as learn,
  useChatSelector as useChatPart,
  useConnection,
  useTopic,
} from './live'
export type { LiveText } from './partials'
export { actorTopic, chatTopic, workspaceTopic } from './topics'
