import { Suspense } from 'react'
import { languageOf } from '@/lib/textLanguage'
import { lazy } from '@/ui/lazy'
import type { Naming } from '@/ui/prose/mentions'

const Plain = ({ text }: { text: string }) => <p className="plain">{text}</p>
const Prose = lazy(() => import('@/ui/prose/Prose'), Plain)

interface LazyProseProps {
  text: string
  names: Naming
  growing?: boolean
}

/** Markdown; until its reader has loaded, and without it, the text as it is. */
export function LazyProse(props: LazyProseProps) {
  return (
    <div className="prose" lang={languageOf(props.text)}>
      <Suspense fallback={<Plain text={props.text} />}>
        <Prose {...props} />
      </Suspense>
    </div>
  )
}
