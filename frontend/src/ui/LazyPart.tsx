import { type ReactNode, Suspense } from 'react'
import { useTexts } from '@/lib/language'
import { Skeleton } from './Skeleton'

/** A part of a page whose code is loaded when the part is shown. Until then it is a skeleton. */
export function LazyPart({ lines = 4, children }: { lines?: number; children: ReactNode }) {
  const { t } = useTexts()
  return <Suspense fallback={<Skeleton lines={lines} label={t('loading')} />}>{children}</Suspense>
}
