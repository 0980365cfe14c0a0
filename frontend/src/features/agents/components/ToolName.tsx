import { readTakenDown, usePublicAgent } from '@/api'
import { getCalledAgentId } from '@/lib/agentTools'
import { useTexts } from '@/lib/language'
import type { AvatarData } from '@/ui/Avatar'

/** The name of a tool. A public agent that is called as a tool has the name of the agent. */
export function ToolName({ tool }: { tool: string }) {
  const agentId = getCalledAgentId(tool)
  return agentId === null ? <code>{tool}</code> : <PublicAgentName id={agentId} />
}

const MAX_AGE_MS = 60_000

interface CalledAgent {
  name: string
  avatar: AvatarData | null
  /** Null if it comes with the release, or if it is not known. */
  publisher: string | null
  isShipped: boolean
  isTakenDown: boolean
}

/** Returns a public agent by its handle or id, also if it was taken down. */
export function useCalledAgent(handle: string): CalledAgent {
  const { t } = useTexts()
  const query = usePublicAgent(handle, MAX_AGE_MS)
  const takenDown = readTakenDown(query.error)
  return {
    name: query.data?.actor.name ?? takenDown?.name ?? t('subAgents.publicAgent'),
    avatar: query.data?.actor.avatar ?? null,
    publisher: query.data?.publisher_name ?? null,
    isShipped: query.data?.is_shipped ?? false,
    isTakenDown: takenDown !== null,
  }
}

function PublicAgentName({ id }: { id: string }) {
  return useCalledAgent(id).name
}
