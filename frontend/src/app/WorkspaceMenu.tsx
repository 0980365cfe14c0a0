import { useNavigate } from '@tanstack/react-router'
import { ArchiveRestore, Check, Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { useDeletedWorkspaces } from '@/api'
import { useTexts } from '@/lib/language'
import { Menu, MenuCaption, MenuItem, MenuSeparator } from '@/ui/Menu'
import { useShell } from './ShellContext'

/** The menu of this person's workspaces, with a link to create one. It is rendered on first use, so it starts open. */
export function WorkspaceMenu({ trigger }: { trigger: ReactNode }) {
  const { t } = useTexts()
  const { me, workspace } = useShell()
  const navigate = useNavigate()
  const deleted = useDeletedWorkspaces().data ?? []
  return (
    <Menu label={t('workspaces')} trigger={trigger} isInitiallyOpen>
      <MenuCaption>{t('workspaces')}</MenuCaption>
      {me.workspaces.map(row => (
        <MenuItem
          key={row.id}
          onSelect={() => void navigate({ to: '/w/$workspace', params: { workspace: row.handle } })}
        >
          <span className="cut grow">{row.name}</span>
          {row.id === workspace.id ? <Check className="i s" aria-label={t('current')} /> : null}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem onSelect={() => void navigate({ to: '/welcome', search: { another: true } })}>
        <Plus className="i s" aria-hidden />
        {t('newWorkspace')}
      </MenuItem>
      {deleted.length > 0 ? (
        <MenuItem onSelect={() => void navigate({ to: '/welcome', search: { another: true } })}>
          <ArchiveRestore className="i s" aria-hidden />
          {t('deletedWorkspaces.dots', { count: deleted.length })}
        </MenuItem>
      ) : null}
    </Menu>
  )
}
