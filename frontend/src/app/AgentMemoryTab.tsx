import { useNavigate } from '@tanstack/react-router'
import { type AgentRow, useChats } from '@/api'
import { MemoryPage } from '@/features/memory'
import { useShell } from './ShellContext'
import { useOpenWorkshop } from './useOpenWorkshop'

export function AgentMemoryTab({ agent }: { agent: AgentRow }) {
  const { workspace } = useShell()
  const navigate = useNavigate()
  const { id } = agent.actor
  const chats = (useChats(workspace.id).data ?? []).filter(row => row.participants.some(actor => actor.id === id))
  return (
    <MemoryPage
      key={id}
      agent={agent}
      workspaceId={workspace.id}
      chats={chats.map(row => row.chat)}
      onOpenChat={(chat, message) =>
        void navigate({
          to: '/w/$workspace/c/$chat',
          params: { workspace: workspace.handle, chat },
          ...(message ? { hash: message } : {}),
        })
      }
      onEdit={useOpenWorkshop(id)}
    />
  )
}
