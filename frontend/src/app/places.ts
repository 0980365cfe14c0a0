/** Places of the app that more than its routes know of. */

/** Under which name this browser keeps the workspace that was open last. */
export const lastWorkspace = 'atelier.workspace'

export const sections = ['members', 'model', 'general', 'profile', 'security', 'tokens'] as const
/** A page of the settings. */
export type Section = (typeof sections)[number]
