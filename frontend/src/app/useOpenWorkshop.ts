import { useNavigate } from '@tanstack/react-router'
import { useChats } from '@/api'
import { useShell } from './ShellContext'

/** Returns a function that opens the workshop in one of the agent's chats; null while it is in none. */
export function useOpenWorkshop(agentId: string): (() => void) | null {
  const { workspace } = useShell()
  const navigate = useNavigate()
  const chats = useChats(workspace.id).data ?? []
  const chat = chats.find(row => row.participants.some(actor => actor.id === agentId))?.chat.id
  if (!chat) return null
  return () =>
    void navigate({
      to: '/w/$workspace/c/$chat',
      params: { workspace: workspace.handle, chat },
      search: { workshop: agentId },
    })
}
