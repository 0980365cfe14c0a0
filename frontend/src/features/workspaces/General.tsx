import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ApiError, keys, leaveWorkspace, useRenameWorkspace, type WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { SelectField, TextField } from '@/ui/Field'
import { RowForm } from '@/ui/RowForm'
import { showToast } from '@/ui/toast'
import { DeleteWorkspace } from './DeleteWorkspace'

interface GeneralProps {
  workspace: WorkspaceRow
  /** Called after the reader has left the workspace or deleted it. */
  onLeft(): void
  onGo(path: string): void
}

/** The settings for the name and the time zone of the workspace, and to leave and to delete it. */
export function General({ workspace, onLeft, onGo }: GeneralProps) {
  return (
    <>
      {workspace.verbs.includes('rename') ? <NameSection workspace={workspace} /> : null}
      <LeaveSection workspace={workspace} onLeft={onLeft} />
      {workspace.verbs.includes('delete_workspace') ? (
        <DeleteWorkspace workspace={workspace} onDeleted={onLeft} onGo={onGo} />
      ) : null}
    </>
  )
}

function NameSection({ workspace }: { workspace: WorkspaceRow }) {
  const { t } = useTexts()
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('settings.general')}</h2>
      <div className={blocks.b}>
        <RowForm row={workspace} revision={workspace.revision}>
          {(workspace, onSaved) => <RenameForm workspace={workspace} onSaved={onSaved} />}
        </RowForm>
      </div>
    </section>
  )
}

function RenameForm({ workspace, onSaved }: { workspace: WorkspaceRow; onSaved(): void }) {
  const { t } = useTexts()
  const [name, setName] = useState(workspace.name)
  const [handle, setHandle] = useState(workspace.handle)
  const [timeZone, setTimeZone] = useState(workspace.time_zone)
  // The browser leaves out some names, such as UTC.
  const timeZones = [...new Set([workspace.time_zone, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
  const rename = useRenameWorkspace(workspace)
  const isHandleTaken = rename.error instanceof ApiError && rename.error.code === 'handle_taken'
  const isChanged =
    name.trim() !== workspace.name || handle.trim() !== workspace.handle || timeZone !== workspace.time_zone
  const save = (event: FormEvent) => {
    event.preventDefault()
    rename.mutate({ name: name.trim(), timeZone, handle: handle.trim() }, { onSuccess: onSaved })
  }
  return (
    <form className="col gap" onSubmit={save}>
      <TextField
        label={t('workspaceName')}
        value={name}
        required
        maxLength={80}
        error={rename.error && !isHandleTaken ? getErrorText(rename.error) : null}
        onChange={setName}
      />
      <TextField
        label={t('workspaceHandle')}
        hint={t('workspaceHandleHint', { address: `${location.origin}/w/${handle.trim()}` })}
        value={handle}
        error={isHandleTaken ? getErrorText(rename.error) : null}
        required
        maxLength={40}
        pattern="[A-Za-z0-9]([A-Za-z0-9_\\-]*[A-Za-z0-9])?"
        onChange={setHandle}
      />
      <SelectField
        label={t('timeZone')}
        hint={t('timeZoneHint')}
        value={timeZone}
        options={timeZones.map(value => ({ value, label: value }))}
        onChange={setTimeZone}
      />
      <div className="row">
        <Button
          type="submit"
          blocked={!(name.trim() && handle.trim()) || !isChanged}
          busy={rename.isPending ? t('saving') : null}
        >
          {t('saveChanges')}
        </Button>
      </div>
    </form>
  )
}

function LeaveSection({ workspace, onLeft }: { workspace: WorkspaceRow; onLeft(): void }) {
  const { t } = useTexts()
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const leave = async () => {
    try {
      await leaveWorkspace(workspace.id)
      await client.invalidateQueries({ queryKey: keys.me })
      onLeft()
    } catch (error) {
      setOpen(false)
      showToast(getErrorText(error))
    }
  }
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('leave')}</h2>
      <div className={cx(blocks.b, 'row spread wrap')}>
        <p className="muted sm">{t('leaveEffects')}</p>
        <Button tone="bad" onClick={() => setOpen(true)}>
          {t('leaveWorkspaceDots')}
        </Button>
      </div>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setOpen}
        title={t('leaveTitle', { workspace: workspace.name })}
        description={t('leaveEffects')}
        action={t('leave')}
        onConfirm={() => void leave()}
      />
    </section>
  )
}
