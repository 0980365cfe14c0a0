import { Link } from '@tanstack/react-router'
import { Folder } from 'lucide-react'
import { useTexts } from '@/lib/language'
import { useShell } from './ShellContext'

/** The link to the files of the workspace. */
export function FilesLink({ className }: { className?: string }) {
  const { t } = useTexts()
  const { workspace } = useShell()
  return (
    <Link
      to="/w/$workspace/files"
      params={{ workspace: workspace.handle }}
      search={{}}
      className={className}
      activeOptions={{ includeSearch: false }}
      activeProps={{ 'aria-current': 'page' }}
    >
      <Folder className="i" aria-hidden />
      <span className="cut">{t('files')}</span>
    </Link>
  )
}
