import { Link } from '@tanstack/react-router'
import { UsagePage } from '@/features/usage'
import { useTexts } from '@/lib/language'
import buttonStyles from '@/ui/Button.module.css'
import { LazyPage } from './LazyPage'
import { useShell } from './ShellContext'
import { useTitle } from './unreadTitle'

/** What the models of the workspace cost. */
export function UsageScreen() {
  const { t } = useTexts()
  const { workspace } = useShell()
  useTitle(t('usage.title'))
  return (
    <LazyPage>
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
    </LazyPage>
  )
}
