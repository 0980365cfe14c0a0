import { Link } from '@tanstack/react-router'
import { GitPullRequestArrow } from 'lucide-react'
import { useSuggestionCount } from '@/api'
import { useTexts } from '@/lib/language'
import blocks from '@/ui/blocks.module.css'
import layout from '@/ui/layout.module.css'
import { useShell } from './ShellContext'

/** The link to the suggestions, with the number of pending ones. */
export function SuggestionsLink({ className }: { className?: string }) {
  const { t } = useTexts()
  const { workspace } = useShell()
  const pending = useSuggestionCount(workspace.id).data?.pending ?? 0
  return (
    <Link
      to="/w/$workspace/suggestions"
      params={{ workspace: workspace.handle }}
      search={{}}
      className={className}
      activeOptions={{ includeSearch: false }}
      activeProps={{ 'aria-current': 'page' }}
    >
      <GitPullRequestArrow className="i" aria-hidden />
      <span className="cut">{t('suggestions')}</span>
      {pending > 0 ? (
        <span className={layout.st}>
          <span
            className={blocks.count}
            data-slot="count"
            data-layer="suggestion"
            title={t('pendingSuggestions', { count: pending })}
          >
            {pending > 99 ? '99+' : pending}
          </span>
        </span>
      ) : null}
    </Link>
  )
}
