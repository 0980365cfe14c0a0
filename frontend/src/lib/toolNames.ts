import { agentToolName } from './serverConstants'

/** The tool that gives tasks to agents of the workspace, and to those that come with the release. */
export const DELEGATE = 'delegate'

/** Returns whether a tool of this name is a public agent. The directory finds the agent by this name. */
export const isAgentTool = (tool: string) => agentToolName.test(tool)
