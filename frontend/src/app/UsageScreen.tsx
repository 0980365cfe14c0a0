import { Link } from '@tanstack/react-router'
import { Suspense } from 'react'
import { UsagePage } from '@/features/usage'
import { useTexts } from '@/lib/language'
import buttonStyles from '@/ui/Button.module.css'
import layout from '@/ui/layout.module.css'
import { useShell } from './ShellContext'
import { useTitle } from './unreadTitle'

/** What the models of the workspace cost. */
export function UsageScreen() {
  const { t } = useTexts()
  const { workspace } = useShell()
  useTitle(t('usage.title'))
  return (
    <Suspense fallback={<main className={layout.stage} />}>
      <UsagePage
        workspace={workspace}
        budgetsLink={label => (
          <Link
            className={buttonStyles.btn}
            to="/w/$workspace/settings"
            params={{ workspace: workspace.handle }}
            search={{ section: 'budgets' }}
          >
            {label}
          </Link>
        )}
      />
    </Suspense>
  )
}
