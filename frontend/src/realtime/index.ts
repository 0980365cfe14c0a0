export { backoff } from './backoff'
export { type ChatState, isActive, isEnded } from './chat'
export {
  askAgain,
  chatState,
  connection,
  learn,
  learnOlder,
  onFrame,
  onSignedOut,
  sayTyping,
  startLive,
  stopLive,
  tryNow,
  useChatPart,
  useConnection,
  useTopic,
} from './live'
export type { LiveText } from './partials'
export type { Connection } from './socket'
export { thinkingId } from './steps'
export { actorTopic, chatTopic, workspaceTopic } from './topics'
