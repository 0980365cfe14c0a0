import { useQueryClient } from '@tanstack/react-query'
import { keys, type WorkspaceRow } from '@/api'
import { storeComposerText } from '@/features/chats'
import { useAsyncAction } from '@/lib/asyncAction'
import { chatPath } from '@/lib/paths'

/** Returns `begin`, which creates a chat and opens it (with a text in its composer if one is given), and the state of `begin`. */
export function useNewChat(workspace: WorkspaceRow, onGo: (path: string) => void) {
  const client = useQueryClient()
  const { busy, error, run } = useAsyncAction()
  const begin = (create: () => Promise<{ id: string }>, text = '') =>
    void run(async () => {
      const chat = await create()
      await client.invalidateQueries({ queryKey: keys.chats(workspace.id) })
      if (text) storeComposerText(chat.id, text)
      onGo(chatPath(workspace.handle, chat.id))
    })
  return { busy, error, begin }
}
