/** The query keys of all data that is read over REST. */
export const keys = {
  me: ['me'] as const,
  signUp: ['sign-up'] as const,
  apiTokens: ['api-tokens'] as const,
  /** Starts with the key of the person, so that a change of the person also invalidates it. */
  llmProfile: ['me', 'llm-profile'] as const,
  workspace: (id: string) => ['workspace', id] as const,
  members: (id: string) => ['workspace', id, 'members'] as const,
  memberLinks: (id: string, actorId: string) => ['workspace', id, 'members', actorId, 'links'] as const,
  model: (id: string) => ['workspace', id, 'model'] as const,
  modelPolicy: (id: string) => ['workspace', id, 'model', 'policy'] as const,
  agents: (id: string) => ['workspace', id, 'agents'] as const,
  /** Starts with the key of the list, so that invalidating the list also invalidates every agent. */
  agent: (workspaceId: string, id: string) => ['workspace', workspaceId, 'agents', id] as const,
  /** Of all agents; the key of one agent starts with it. */
  memory: (id: string) => ['workspace', id, 'memory'] as const,
  agentMemory: (workspaceId: string, agentId: string) => ['workspace', workspaceId, 'memory', agentId] as const,
  chats: (id: string) => ['workspace', id, 'chats'] as const,
  lockedDrafts: (id: string) => ['workspace', id, 'locked-drafts'] as const,
  usage: (id: string) => ['workspace', id, 'usage'] as const,
  budgets: (id: string) => ['workspace', id, 'budgets'] as const,
  /** Of all chats: the frame does not say which summary has changed. */
  summaries: ['summaries'] as const,
  summary: (chatId: string) => ['summaries', chatId] as const,
  contextSettings: (id: string) => ['workspace', id, 'context'] as const,
  schedules: ['schedules'] as const,
  run: (id: string) => ['run', id] as const,
  runCalls: (id: string) => ['run', id, 'calls'] as const,
  files: (id: string) => ['workspace', id, 'files'] as const,
  workspaceTools: (id: string) => ['workspace', id, 'tools'] as const,
  /** Starts with the key of the servers, so that invalidating those also invalidates the tools. */
  offeredTools: (id: string) => ['workspace', id, 'tools', 'offered'] as const,
  agentsWithTool: (toolId: string) => ['tool', toolId, 'agents'] as const,
  suggestions: (id: string) => ['workspace', id, 'suggestions'] as const,
  notifications: ['notifications'] as const,
  directory: ['directory'] as const,
  publicAgent: (handle: string) => ['directory', 'agent', handle] as const,
  /** Starts with the key of the agent, so that invalidating the list of agents also invalidates it. */
  publication: (workspaceId: string, agentId: string) =>
    ['workspace', workspaceId, 'agents', agentId, 'publication'] as const,
  versions: (id: string) => ['agent', id, 'versions'] as const,
  spec: (id: string, specId: string) => ['agent', id, 'specs', specId] as const,
  version: (id: string, number: number) => ['agent', id, 'versions', number] as const,
  draftSnapshots: (draftId: string) => ['draft', draftId, 'snapshots'] as const,
  draftTrial: (draftId: string) => ['draft', draftId, 'trial'] as const,
  lockWaiter: (draftId: string, holderId: string) => ['draft', draftId, 'waiter', holderId] as const,
  links: (chatId: string) => ['chat', chatId, 'links'] as const,
  offers: ['model-offers'] as const,
  providers: ['model-providers'] as const,
  agentTemplates: (language: string) => ['agent-templates', language] as const,
  tools: ['tools'] as const,
  join: (token: string) => ['join', token] as const,
}
