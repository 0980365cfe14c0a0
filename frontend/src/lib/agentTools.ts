/** Agents that are called as tools: a tool named `agent_<id>` gives a task to a public agent. */

/** The tool that gives tasks to agents of the workspace, and to those that come with the release. */
export const DELEGATE = 'delegate'

/** Returns the name of the tool that calls a public agent. */
export const buildAgentToolName = (agentId: string) => `agent_${agentId.replaceAll('-', '')}`

/** Returns the id of the public agent that is called by a tool of this name; null for any other tool. */
export function getCalledAgentId(tool: string): string | null {
  const [, hex] = /^agent_([0-9a-f]{32})$/.exec(tool) ?? []
  if (!hex) return null
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
