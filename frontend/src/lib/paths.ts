/** The paths of screens that more than one feature links to. */

/** The last open chat of a workspace; on a phone the list of chats. */
export const workspacePath = (workspace: string) => `/w/${workspace}`
export const chatPath = (workspace: string, id: string) => `/w/${workspace}/c/${id}`
/** A chat, and beside it the workshop of one of its agents. */
export const workshopPath = (workspace: string, chatId: string, agentId: string) =>
  `${chatPath(workspace, chatId)}?workshop=${agentId}`
/** A message in its chat. */
export const messagePath = (workspace: string, chatId: string, id: string) => `${chatPath(workspace, chatId)}#${id}`
/** A message in its chat, where the words by which it was found are marked. */
export const foundMessagePath = (workspace: string, chatId: string, id: string, words: string) =>
  `${chatPath(workspace, chatId)}?find=${encodeURIComponent(words)}#${id}`
/** A run in the inspector. */
export const runPath = (workspace: string, id: string) => `/w/${workspace}/runs/${id}`
/** A suggestion in the list of suggestions. */
export const suggestionPath = (workspace: string, id: string) => `/w/${workspace}/suggestions?s=${id}`
/** A merge and its result. */
export const mergePath = (workspace: string, id: string) => `/w/${workspace}/suggestions?m=${id}`
/** The pending suggestions for one agent. */
export const pendingSuggestionsPath = (workspace: string, agentId: string) =>
  `/w/${workspace}/suggestions?agent=${agentId}`
/** The usage of the workspace. */
export const usagePath = (workspace: string) => `/w/${workspace}/usage`
/** The budgets in the workspace's settings. */
export const budgetsPath = (workspace: string) => `/w/${workspace}/settings?section=budgets`
/** A server in the tools of the workspace's settings. */
export const toolServerPath = (workspace: string, serverId: string) =>
  `/w/${workspace}/settings?section=tools#${serverId}`
/** The page of the settings on which notifications are set. */
export const notificationsPath = (workspace: string) => `/w/${workspace}/settings?section=notifications`
/** The model section of the workspace's settings. */
export const modelPath = (workspace: string) => `/w/${workspace}/settings?section=model`
/** What agents read of long chats, in the workspace's settings. */
export const contextPath = (workspace: string) => `/w/${workspace}/settings?section=context`
/** The directory of public agents. */
export const directoryPath = (workspace: string) => `/w/${workspace}/directory`
/** The page of an agent. */
export const agentPath = (workspace: string, id: string) => `/w/${workspace}/agents/${id}`
/** A public agent in the directory, by its handle or id. */
export const publicAgentPath = (workspace: string, handle: string) => `${directoryPath(workspace)}/${handle}`
/** The form that publishes an agent. */
export const publishPath = (workspace: string, agentId: string) => `/w/${workspace}/agents/${agentId}/publish`
