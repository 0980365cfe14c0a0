/** Addresses of screens that more than one feature leads to. */

/** Where one was last in a workspace; on a phone the list of its chats. */
export const workspacePath = (workspace: string) => `/w/${workspace}`
/** A chat. */
export const chatPath = (workspace: string, id: string) => `/w/${workspace}/c/${id}`
/** One suggestion in the list of suggestions. */
export const suggestionPath = (workspace: string, id: string) => `/w/${workspace}/suggestions?s=${id}`
/** A merge, and what came of it. */
export const mergePath = (workspace: string, id: string) => `/w/${workspace}/suggestions?m=${id}`
/** The suggestions that wait for a decision on one agent. */
export const pendingPath = (workspace: string, agentId: string) => `/w/${workspace}/suggestions?agent=${agentId}`
/** The model section of the workspace's settings. */
export const modelPath = (workspace: string) => `/w/${workspace}/settings?section=model`
