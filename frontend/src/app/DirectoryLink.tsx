import { Link } from '@tanstack/react-router'
import { Library } from 'lucide-react'
import { useTexts } from '@/lib/language'
import { useShell } from './ShellContext'

/** The link to the directory of public agents. */
export function DirectoryLink({ className }: { className?: string }) {
  const { t } = useTexts()
  const { workspace } = useShell()
  return (
    <Link
      to="/w/$workspace/directory"
      params={{ workspace: workspace.handle }}
      search={{}}
      className={className}
      activeOptions={{ includeSearch: false }}
      activeProps={{ 'aria-current': 'page' }}
    >
      <Library className="i" aria-hidden />
      <span className="cut">{t('directory')}</span>
    </Link>
  )
}
