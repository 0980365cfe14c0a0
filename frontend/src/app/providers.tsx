import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { ApiError } from '@/api'
import { useShortcuts } from '@/lib/actions'
import { Toasts } from '@/ui/Toasts'
import { reportErrors } from './errorReports'
import { createAppRouter } from './routes'
import { watchSession } from './session'

const isRetryable = (error: unknown) => !(error instanceof ApiError) || error.status === 0 || error.status >= 500

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // The server sends a frame when a list changes.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => count < 2 && isRetryable(error),
    },
  },
})

watchSession(client)
const router = createAppRouter(client)
reportErrors(() => router.state.matches.at(-1)?.fullPath ?? '')

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

export function Providers() {
  useShortcuts()
  return (
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
      <Toasts />
    </QueryClientProvider>
  )
}
