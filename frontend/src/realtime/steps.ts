/** What one step of an agent leaves in the log: its rows' ids follow from the id under which it streamed. */
import { v5, validate } from 'uuid'

/** The row of a step's thinking. */
export const thinkingId = (messageId: string) =>
  validate(messageId) ? v5('thinking', messageId) : `${messageId} thinking`

const firstCallId = (messageId: string) => (validate(messageId) ? v5('call:0', messageId) : `${messageId} call:0`)

/** Whether the durable rows of a step are here: they come together, so any one of them tells. */
export const isSettled = (messages: { has(id: string): boolean }, messageId: string) =>
  messages.has(messageId) || messages.has(thinkingId(messageId)) || messages.has(firstCallId(messageId))
