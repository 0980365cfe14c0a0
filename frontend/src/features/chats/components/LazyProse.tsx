import { Suspense } from 'react'
import { detectLanguage } from '@/lib/textLanguage'
import { Boundary } from '@/ui/Boundary'
import { lazy } from '@/ui/lazy'
import type { FindName } from '@/ui/prose/mentions'
import proseStyles from '@/ui/prose/Prose.module.css'

const Plain = ({ text }: { text: string }) => (
  <p className={proseStyles.plain} data-plain dir="auto">
    {text}
  </p>
)
const Prose = lazy(() => import('@/ui/prose/Prose'), { fallback: Plain, hasLazyTexts: false })

interface LazyProseProps {
  text: string
  findName: FindName
  growing?: boolean
}

/** A text in Markdown. It is shown as plain text until the parser is loaded, or if the parser cannot be loaded. */
export function LazyProse(props: LazyProseProps) {
  return (
    <div className={proseStyles.prose} data-prose lang={detectLanguage(props.text)}>
      <Boundary text={props.text} resetKeys={[props.text]}>
        <Suspense fallback={<Plain text={props.text} />}>
          <Prose {...props} />
        </Suspense>
      </Boundary>
    </div>
  )
}
