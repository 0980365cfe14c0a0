/** The keys under which this browser stores what was open last. Also the names of the settings pages. */

export const LAST_WORKSPACE_KEY = 'atelier.workspace'

export const lastChatKey = (workspaceId: string) => `atelier.chat.${workspaceId}`

/** The key of the id of the agent whose workshop was last open in a chat. */
export const openWorkshopKey = (chatId: string) => `atelier.workshop.${chatId}`

export const sections = [
  'general',
  'members',
  'model',
  'context',
  'tools',
  'budgets',
  'profile',
  'notifications',
  'ownModel',
  'security',
  'tokens',
] as const
/** A page of the settings. */
export type Section = (typeof sections)[number]
