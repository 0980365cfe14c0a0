import { useRouter } from '@tanstack/react-router'
import type { AgentRow } from '@/api'
import { AgentThumbs } from '@/features/agents'
import { messagePath } from '@/lib/paths'
import { useShell } from './ShellContext'

export function AgentThumbsTab({ agent }: { agent: AgentRow }) {
  const { workspace } = useShell()
  const { history } = useRouter()
  return (
    <AgentThumbs
      agent={agent}
      getPath={(chatId, messageId) => messagePath(workspace.handle, chatId, messageId)}
      onGo={path => history.push(path)}
    />
  )
}
