/** Why a sign-in at an MCP server came to nothing, as the URL of the settings says. */
export const signInFailures = ['refused', 'expired', 'failed', 'gone'] as const
export type SignInFailure = (typeof signInFailures)[number]
