import { CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { ErrorBoundary, type FallbackProps } from 'react-error-boundary'
import { useTexts } from '@/lib/language'
import styles from './Boundary.module.css'
import { Button } from './Button'

interface BoundaryProps {
  children: ReactNode
  /** A text to show when the children cannot be rendered. */
  text?: string
  /** Rendering is retried when one of these changes. */
  resetKeys?: readonly unknown[]
}

/** An error boundary around a part of the page, which shows a notice and, if it has one, the source text of the part. */
export function Boundary({ children, text, resetKeys }: BoundaryProps) {
  const fallback = ({ resetErrorBoundary }: FallbackProps) => <Notice text={text} onRetry={resetErrorBoundary} />
  return (
    <ErrorBoundary fallbackRender={fallback} {...(resetKeys ? { resetKeys: [...resetKeys] } : {})}>
      {children}
    </ErrorBoundary>
  )
}

function Notice({ text, onRetry }: { text: string | undefined; onRetry(): void }) {
  const { t } = useTexts()
  return (
    <div className={styles.fallback}>
      {text ? (
        <p className={styles.plain} dir="auto">
          {text}
        </p>
      ) : null}
      <p className="faint sm" role="status">
        <CircleAlert className="i s" aria-hidden /> {t(text ? 'partPlain' : 'partBroken')}{' '}
        <Button size="xs" onClick={onRetry}>
          {t('tryAgain')}
        </Button>
      </p>
    </div>
  )
}
