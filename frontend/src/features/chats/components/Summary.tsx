import { Sparkles } from 'lucide-react'
import { useSuggestionRow, useSummarize } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Collapsible } from '@/ui/Collapsible'
import skeletonStyles from '@/ui/Skeleton.module.css'
import { showToast } from '@/ui/toast'
import type { SystemText } from '../system'
import { useChat } from './ChatContext'
import messageStyles from './Message.module.css'
import systemStyles from './System.module.css'

interface SummaryProps {
  summary: NonNullable<SystemText['summary']>
  suggestionId: string
}

/** The summary of a suggestion by a model. It arrives later than the message, or fails. */
export function Summary({ summary, suggestionId }: SummaryProps) {
  const { t } = useTexts()
  switch (summary.state) {
    case 'pending':
      return (
        <p className={cx(systemStyles.summary, messageStyles.waiting)} role="status">
          <Sparkles className="i s" aria-hidden />
          {t('summary.pending')}
          <i className={skeletonStyles.sk} aria-hidden />
        </p>
      )
    case 'ready':
      return (
        <Collapsible
          plain
          head={
            <>
              <Sparkles className="i s" aria-hidden />
              {t('summary.label')}
            </>
          }
        >
          <p className={systemStyles.summary}>{summary.text}</p>
        </Collapsible>
      )
    case 'failed':
      return <FailedSummary suggestionId={suggestionId} />
  }
}

function FailedSummary({ suggestionId }: { suggestionId: string }) {
  const { t } = useTexts()
  const { workspaceId } = useChat()
  const suggestion = useSuggestionRow(workspaceId, suggestionId)
  const summarize = useSummarize()
  const mayRetry = suggestion.data?.verbs.includes('summarize') ?? false
  return (
    <p className={systemStyles.summary}>
      {t('summary.failed')}
      {mayRetry ? (
        <Button
          size="xs"
          tone="flat"
          busy={summarize.isPending ? t('summary.pending') : null}
          onClick={() => summarize.mutate(suggestionId, { onError: error => showToast(getErrorText(error)) })}
        >
          {t('retry')}
        </Button>
      ) : null}
    </p>
  )
}
