import { Link } from '@tanstack/react-router'
import { ChartColumn } from 'lucide-react'
import { useTexts } from '@/lib/language'
import { useShell } from './ShellContext'

/** The link to the usage of the workspace. */
export function UsageLink({ className }: { className?: string }) {
  const { t } = useTexts()
  const { workspace } = useShell()
  return (
    <Link
      to="/w/$workspace/usage"
      params={{ workspace: workspace.handle }}
      className={className}
      activeProps={{ 'aria-current': 'page' }}
    >
      <ChartColumn className="i" aria-hidden />
      <span className="cut">{t('usage.title')}</span>
    </Link>
  )
}
