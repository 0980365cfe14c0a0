import { type DeletedWorkspaceRow, useDeletedWorkspaces, useRestoreWorkspace, type WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatFullTime, formatRelative } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ErrorBanner } from '@/ui/ErrorBanner'

interface DeletedWorkspacesProps {
  onRestored(workspace: WorkspaceRow): void
}

/** The deleted workspaces that this person can restore; nothing if there are none. */
export function DeletedWorkspaces({ onRestored }: DeletedWorkspacesProps) {
  const { t } = useTexts()
  const rows = useDeletedWorkspaces().data ?? []
  const restore = useRestoreWorkspace()
  if (rows.length === 0) return null
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('deletedWorkspaces')}</h2>
      <ErrorBanner error={restore.error} />
      <ul className={cx(blocks.b, blocks.rows)}>
        {rows.map(row => (
          <DeletedWorkspace
            key={row.id}
            row={row}
            isBusy={restore.isPending && restore.variables === row.id}
            onRestore={() => restore.mutate(row.id, { onSuccess: onRestored })}
          />
        ))}
      </ul>
    </section>
  )
}

interface DeletedWorkspaceProps {
  row: DeletedWorkspaceRow
  isBusy: boolean
  onRestore(): void
}

function DeletedWorkspace({ row, isBusy, onRestore }: DeletedWorkspaceProps) {
  const { t } = useTexts()
  const when = formatRelative(row.deleted_at)
  return (
    <li>
      <span className="grow">
        <b>{row.name}</b>
        <br />
        <span className="faint sm">
          {row.deleted_by ? t('deletedWorkspaces.by', { name: row.deleted_by.name, when }) : when}
          {' · '}
          {t('deletedWorkspaces.until', { time: formatFullTime(row.purge_at) })}
        </span>
      </span>
      <Button busy={isBusy ? t('deletedWorkspaces.restoring') : null} onClick={onRestore}>
        {t('deletedWorkspaces.restore')}
      </Button>
    </li>
  )
}
