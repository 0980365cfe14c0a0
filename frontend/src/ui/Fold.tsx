import { ChevronDown, ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { cx } from '@/lib/cx'

interface FoldProps {
  head: ReactNode
  /** At the end of the head: how it stands. */
  state?: ReactNode
  children: ReactNode
  plain?: boolean
  /** Open while it matters; once somebody touches it, their choice holds. */
  open?: boolean
}

export function Fold({ head, state, children, plain, open = false }: FoldProps) {
  const [chosen, setChosen] = useState<boolean | null>(null)
  const isOpen = chosen ?? open
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <div className={cx('fold', plain && 'plain')}>
      <button type="button" className="h" aria-expanded={isOpen} onClick={() => setChosen(!isOpen)}>
        <Chevron className="i s" aria-hidden />
        {head}
        {state ? <span className="st">{state}</span> : null}
      </button>
      {isOpen ? children : null}
    </div>
  )
}
