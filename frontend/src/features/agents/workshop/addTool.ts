import { type AgentRow, ApiError, type DraftRow, drafts } from '@/api'
import { updateTool } from '../content'

/** Returns the current draft of an agent in a chat, or null. */
const readDraft = (chatId: string, agentId: string): Promise<DraftRow | null> =>
  drafts.read(chatId, agentId).catch(error => {
    if (error instanceof ApiError && error.code === 'no_draft') return null
    throw error
  })

/**
 * Adds a tool to an agent's draft in a chat. This person acquires the lock, or holds it already. Throws `ApiError`:
 * `draft_locked` if another person is editing it, `other_draft_locked` if this person is editing another draft.
 */
export async function addToolToDraft(chatId: string, agent: AgentRow, tool: string, personId: string): Promise<void> {
  const agentId = agent.actor.id
  const draft = await readDraft(chatId, agentId)
  const before = draft?.written ?? agent.spec.content
  if (before.tools.some(use => use.tool === tool && use.is_enabled)) return
  const isMine = draft?.lock_holder_id === personId
  const content = updateTool(before, tool, { is_enabled: true })
  await drafts.write(chatId, agentId, { revision: isMine ? draft.revision : null, content })
}
