import { CircleAlert } from 'lucide-react'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from './Button'
import styles from './Loading.module.css'
import { Skeleton } from './Skeleton'

interface LoadingProps {
  query: { error: unknown; isFetching: boolean; refetch(): unknown }
  lines?: number
}

/** A skeleton while a query is loading, or its error with a button to retry. */
export function Loading({ query, lines = 4 }: LoadingProps) {
  const { t } = useTexts()
  if (!query.error) return <Skeleton lines={lines} label={t('loading')} />
  return (
    <p className={styles.unreadable} role="alert">
      <CircleAlert className="i s" aria-hidden />
      <span className="grow">{getErrorText(query.error)}</span>
      <Button size="xs" busy={query.isFetching ? t('loading') : null} onClick={() => void query.refetch()}>
        {t('tryAgain')}
      </Button>
    </p>
  )
}
