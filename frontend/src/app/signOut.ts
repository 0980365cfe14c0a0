import { useQueryClient } from '@tanstack/react-query'
import { signOut } from '@/api'
import { getErrorText } from '@/lib/errors'
import { showToast } from '@/ui/toast'
import { endSessionAfterSignOut } from './session'

/** Returns a function that signs out of this browser; nothing of the person stays on the page. */
export function useSignOut(): () => void {
  const client = useQueryClient()
  const leave = async () => {
    try {
      await signOut()
      endSessionAfterSignOut(client)
    } catch (error) {
      showToast(getErrorText(error))
    }
  }
  return () => void leave()
}
