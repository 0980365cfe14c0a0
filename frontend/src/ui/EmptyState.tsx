import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import styles from './EmptyState.module.css'

interface EmptyStateProps {
  icon: LucideIcon
  title: string
  children?: ReactNode
  actions?: ReactNode
}

/** An empty state with a title, a hint and actions. */
export function EmptyState({ icon: Icon, title, children, actions }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      <Icon className="i" aria-hidden />
      <h2>{title}</h2>
      {children ? <p>{children}</p> : null}
      {actions ? <div className="row">{actions}</div> : null}
    </div>
  )
}
