/** A topic that a socket can subscribe to. */
export type Topic = `chat:${string}` | `workspace:${string}` | `actor:${string}`

export const chatTopic = (id: string): Topic => `chat:${id}`
export const workspaceTopic = (id: string): Topic => `workspace:${id}`
export const actorTopic = (id: string): Topic => `actor:${id}`
