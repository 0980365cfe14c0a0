/** The keys of everything that is read over REST, in one place, so that a bell can ring all that it means. */
export const keys = {
  me: ['me'] as const,
  apiTokens: ['api-tokens'] as const,
  workspace: (id: string) => ['workspace', id] as const,
  members: (id: string) => ['workspace', id, 'members'] as const,
  model: (id: string) => ['workspace', id, 'model'] as const,
  agents: (id: string) => ['workspace', id, 'agents'] as const,
  chats: (id: string) => ['workspace', id, 'chats'] as const,
  suggestions: (id: string) => ['workspace', id, 'suggestions'] as const,
  notifications: ['notifications'] as const,
  agent: (id: string) => ['agent', id] as const,
  versions: (id: string) => ['agent', id, 'versions'] as const,
  links: (chatId: string) => ['chat', chatId, 'links'] as const,
  offers: ['model-offers'] as const,
  templates: (language: string) => ['agent-templates', language] as const,
  tools: ['tools'] as const,
  join: (token: string) => ['join', token] as const,
}
