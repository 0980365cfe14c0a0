import { CircleAlert } from 'lucide-react'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'

/** What could not be read, why, and another try. */
export function Failed({ text, error, onRetry }: { text: string; error: unknown; onRetry(): void }) {
  const { t } = useTexts()
  return (
    <div className="pad">
      <div className="banner bad" role="alert">
        <CircleAlert className="i s" aria-hidden />
        <span className="grow">
          {text} {textOfError(error)}
        </span>
        <Button size="xs" onClick={onRetry}>
          {t('retry')}
        </Button>
      </div>
    </div>
  )
}
