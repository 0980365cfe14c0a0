import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { openDirectChat } from '@/api'
import { getErrorText } from '@/lib/errors'
import { showToast } from '@/ui/toast'
import { useShell } from './ShellContext'

/** Returns a function that opens the direct chat with a person or an agent. */
export function useOpenDirectChat(): (actorId: string) => void {
  const { workspace } = useShell()
  const navigate = useNavigate()
  return useCallback(
    (actorId: string) =>
      void openDirectChat(workspace.id, actorId).then(
        ({ chat }) =>
          void navigate({ to: '/w/$workspace/c/$chat', params: { workspace: workspace.handle, chat: chat.id } }),
        (error: unknown) => showToast(getErrorText(error)),
      ),
    [workspace.id, workspace.handle, navigate],
  )
}
