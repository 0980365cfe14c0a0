import { readTakenDown, usePublicAgent } from '@/api'
import { useTexts } from '@/lib/language'
import { isAgentTool } from '@/lib/toolNames'
import type { AvatarData } from '@/ui/Avatar'

/** The name of a tool. A public agent that is called as a tool has the name of the agent. */
export function ToolName({ tool }: { tool: string }) {
  return isAgentTool(tool) ? <PublicAgentName tool={tool} /> : <code>{tool}</code>
}

const MAX_AGE_MS = 60_000

interface CalledAgent {
  /** Null if it is not known. */
  id: string | null
  name: string
  avatar: AvatarData | null
  /** Null if it comes with the release, or if it is not known. */
  publisher: string | null
  isShipped: boolean
  isTakenDown: boolean
}

/** Returns a public agent by its name as a tool, also if it was taken down. */
export function useCalledAgent(tool: string): CalledAgent {
  const { t } = useTexts()
  const query = usePublicAgent(tool, MAX_AGE_MS)
  const takenDown = readTakenDown(query.error)
  return {
    id: query.data?.actor.id ?? null,
    name: query.data?.actor.name ?? takenDown?.name ?? t('subAgents.publicAgent'),
    avatar: query.data?.actor.avatar ?? null,
    publisher: query.data?.publisher_name ?? null,
    isShipped: query.data?.is_shipped ?? false,
    isTakenDown: takenDown !== null,
  }
}

function PublicAgentName({ tool }: { tool: string }) {
  return useCalledAgent(tool).name
}
