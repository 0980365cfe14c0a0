/** The reasons for which a sign-in at an MCP server failed, as the URL of the settings names them. */
export const signInFailures = ['refused', 'expired', 'failed', 'gone'] as const
export type SignInFailure = (typeof signInFailures)[number]
