export { backoff } from './backoff'
export { type ChatState, isActive, isEnded, placeOf } from './chat'
export {
  askAgain,
  chatState,
  connection,
  learn,
  learnOlder,
  onFrame,
  onSignedOut,
  sayTyping,
  sendRead,
  startLive,
  stopLive,
  tryNow,
  useChatPart,
  useConnection,
  useTopic,
} from './live'
export type { LiveText } from './partials'
export { actorTopic, chatTopic, workspaceTopic } from './topics'
