import { Link } from '@tanstack/react-router'
import { Bot, MessagesSquare, Settings } from 'lucide-react'
import { useTexts } from '@/lib/language'
import blocks from '@/ui/blocks.module.css'
import { FilesLink } from './FilesLink'
import shellStyles from './Shell.module.css'
import { useShell } from './ShellContext'
import { SuggestionsLink } from './SuggestionsLink'
import { useUnread } from './unreadTitle'

/** The navigation on a phone. In a chat it is hidden, and the composer takes its place. */
export function TabBar() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const unread = useUnread()
  const params = { workspace: workspace.handle }
  const current = { 'aria-current': 'page' as const }
  return (
    <nav className={shellStyles.tabbar} aria-label={t('workspace')}>
      <Link to="/w/$workspace" params={params} activeOptions={{ exact: true }} activeProps={current}>
        <MessagesSquare className="i" aria-hidden />
        {t('chats')}
        {unread > 0 ? (
          <span className={blocks.count} data-slot="count">
            {unread > 99 ? '99+' : unread}
          </span>
        ) : null}
      </Link>
      <SuggestionsLink />
      <FilesLink />
      <Link to="/w/$workspace/agents" params={params} activeProps={current}>
        <Bot className="i" aria-hidden />
        {t('agents')}
      </Link>
      <Link to="/w/$workspace/settings" params={params} activeProps={current}>
        <Settings className="i" aria-hidden />
        {t('settings')}
      </Link>
    </nav>
  )
}
