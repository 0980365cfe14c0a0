/** Places of the app that more than its routes know of. */

/** Under which name this browser keeps the workspace that was open last. */
export const lastWorkspace = 'atelier.workspace'

/** Under which name it keeps whose workshop was open in a chat. */
export const openWorkshopIn = (chatId: string) => `atelier.workshop.${chatId}`

export const sections = ['general', 'members', 'model', 'profile', 'security', 'tokens'] as const
/** A page of the settings. */
export type Section = (typeof sections)[number]
