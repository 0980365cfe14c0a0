import { Sparkles } from 'lucide-react'
import { useSuggestionOfLine, useSummarize } from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { say } from '@/ui/Toasts'
import type { SystemLine } from '../system'
import { useChat } from './ChatContext'

interface SummaryProps {
  summary: NonNullable<SystemLine['summary']>
  suggestionId: string
}

/** What a model says that a suggestion changes. It comes later than its line, or not at all: then the suggestion stands without it. */
export function Summary({ summary, suggestionId }: SummaryProps) {
  const { t } = useTexts()
  switch (summary.state) {
    case 'pending':
      return (
        <p className="summary waiting" role="status">
          <Sparkles className="i s" aria-hidden />
          {t('summary.pending')}
          <i className="sk" aria-hidden />
        </p>
      )
    case 'ready':
      return (
        <p className="summary">
          <Sparkles className="i s" aria-hidden />
          <span className="sr">{t('summary.label')}: </span>
          <span>{summary.text}</span>
        </p>
      )
    case 'failed':
      return <FailedSummary suggestionId={suggestionId} />
  }
}

function FailedSummary({ suggestionId }: { suggestionId: string }) {
  const { t } = useTexts()
  const { workspaceId } = useChat()
  const suggestion = useSuggestionOfLine(workspaceId, suggestionId)
  const summarize = useSummarize()
  const mayRetry = suggestion.data?.verbs.includes('summarize') ?? false
  return (
    <p className="summary">
      {t('summary.failed')}
      {mayRetry ? (
        <Button
          size="xs"
          tone="flat"
          busy={summarize.isPending ? t('summary.pending') : null}
          onClick={() => summarize.mutate(suggestionId, { onError: error => say(textOfError(error)) })}
        >
          {t('retry')}
        </Button>
      ) : null}
    </p>
  )
}
