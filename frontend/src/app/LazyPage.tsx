import { type ReactNode, Suspense } from 'react'
import { useTexts } from '@/lib/language'
import layout from '@/ui/layout.module.css'
import { Skeleton } from '@/ui/Skeleton'

/** A page whose code is loaded when it is opened. Until then its main part is a skeleton. */
export function LazyPage({ children }: { children: ReactNode }) {
  const { t } = useTexts()
  const skeleton = (
    <main className={layout.stage}>
      <Skeleton lines={6} label={t('loading')} />
    </main>
  )
  return <Suspense fallback={skeleton}>{children}</Suspense>
}
