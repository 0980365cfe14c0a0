import { useTexts } from '@/lib/language'
import { LoadError } from '@/ui/LoadError'
import layout from '@/ui/layout.module.css'
import { Skeleton } from '@/ui/Skeleton'

/** Shown until an agent is loaded, or when it cannot be read. */
export function LoadingAgent({ query }: { query: { error: unknown; refetch(): unknown } }) {
  const { t } = useTexts()
  return (
    <main className={layout.stage}>
      {query.error ? (
        <LoadError error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton lines={6} label={t('loading')} />
      )}
    </main>
  )
}
