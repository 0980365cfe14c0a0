import { ChevronDown, ChevronRight } from 'lucide-react'
import { Collapsible as Radix } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { cx } from '@/lib/cx'
import styles from './Collapsible.module.css'

interface CollapsibleProps {
  head: ReactNode
  /** A status at the end of the head. */
  state?: ReactNode
  children: ReactNode
  plain?: boolean
  /** Whether it is open, until the reader opens or closes it. */
  open?: boolean
}

export function Collapsible({ head, state, children, plain, open = false }: CollapsibleProps) {
  const [chosen, setChosen] = useState<boolean | null>(null)
  const isOpen = chosen ?? open
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <Radix.Root
      data-slot="collapsible"
      className={cx(styles.root, plain && styles.plain)}
      open={isOpen}
      onOpenChange={setChosen}
    >
      <Radix.Trigger className={styles.h}>
        <Chevron className="i s" aria-hidden />
        {head}
        {state ? <span className={styles.st}>{state}</span> : null}
      </Radix.Trigger>
      <Radix.Content>{children}</Radix.Content>
    </Radix.Root>
  )
}
