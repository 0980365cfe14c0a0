import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { ApiError, keys } from '@/api'
import { Toasts } from '@/ui/Toasts'
import { makeRouter } from './routes'

/** A session that ended elsewhere shows at the next request: then the way leads to sign-in. */
function onError(error: unknown): void {
  if (error instanceof ApiError && error.code === 'not_signed_in') void client.invalidateQueries({ queryKey: keys.me })
}

const isWorthAnotherTry = (error: unknown) => !(error instanceof ApiError) || error.status === 0 || error.status >= 500

const client = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      // Bells say when something changed; time alone does not.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => count < 2 && isWorthAnotherTry(error),
    },
  },
})

const router = makeRouter(client)

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

export function Providers() {
  return (
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
      <Toasts />
    </QueryClientProvider>
  )
}
