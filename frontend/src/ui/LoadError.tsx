import { CircleAlert } from 'lucide-react'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from './Button'
import blocks from './blocks.module.css'
import layout from './layout.module.css'

interface LoadErrorProps {
  /** A text before the error that names what could not be loaded. */
  text?: string
  error: unknown
  onRetry(): void
}

/** An error of loading data, with a button to retry. */
export function LoadError({ text, error, onRetry }: LoadErrorProps) {
  const { t } = useTexts()
  return (
    <div className={layout.pad}>
      <div className={cx(blocks.banner, blocks.bad)} role="alert">
        <CircleAlert className="i s" aria-hidden />
        <span className="grow">
          {text ? `${text} ` : ''}
          {getErrorText(error)}
        </span>
        <Button size="xs" onClick={onRetry}>
          {t('retry')}
        </Button>
      </div>
    </div>
  )
}
