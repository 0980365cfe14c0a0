import { Suspense } from 'react'
import { languageOf } from '@/lib/textLanguage'
import { Boundary } from '@/ui/Boundary'
import { lazy } from '@/ui/lazy'
import type { Naming } from '@/ui/prose/mentions'
import proseStyles from '@/ui/prose/Prose.module.css'

const Plain = ({ text }: { text: string }) => (
  <p className={proseStyles.plain} data-plain dir="auto">
    {text}
  </p>
)
const Prose = lazy(() => import('@/ui/prose/Prose'), Plain)

interface LazyProseProps {
  text: string
  names: Naming
  growing?: boolean
}

/** Markdown; until its reader has loaded, and without it, the text as it is. */
export function LazyProse(props: LazyProseProps) {
  return (
    <div className={proseStyles.prose} data-prose lang={languageOf(props.text)}>
      <Boundary text={props.text} resetKeys={[props.text]}>
        <Suspense fallback={<Plain text={props.text} />}>
          <Prose {...props} />
        </Suspense>
      </Boundary>
    </div>
  )
}
