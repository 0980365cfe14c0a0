import { lazy, Suspense } from 'react'
import { languageOf } from '@/lib/textLanguage'
import type { Naming } from '@/ui/prose/mentions'

const Prose = lazy(() => import('@/ui/prose/Prose'))

interface LazyProseProps {
  text: string
  names: Naming
  growing?: boolean
}

/** Markdown; until its reader has loaded, the text as it is. */
export function LazyProse(props: LazyProseProps) {
  return (
    <div className="prose" lang={languageOf(props.text)}>
      <Suspense fallback={<p className="plain">{props.text}</p>}>
        <Prose {...props} />
      </Suspense>
    </div>
  )
}
