import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

interface EmptyProps {
  icon: LucideIcon
  title: string
  children?: ReactNode
  actions?: ReactNode
}

/** An empty state: says what to do, and offers it. */
export function Empty({ icon: Icon, title, children, actions }: EmptyProps) {
  return (
    <div className="empty">
      <Icon className="i" aria-hidden />
      <h3>{title}</h3>
      {children ? <p>{children}</p> : null}
      {actions ? <div className="row">{actions}</div> : null}
    </div>
  )
}
