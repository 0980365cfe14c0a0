import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { keys, leaveWorkspace, useRenameWorkspace, type WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Dialog } from '@/ui/Dialog'
import { TextField } from '@/ui/Field'
import { showToast } from '@/ui/toast'

/** The settings to rename and to leave the workspace. */
export function General({ workspace, onLeft }: { workspace: WorkspaceRow; onLeft(): void }) {
  return (
    <>
      {workspace.verbs.includes('rename') ? <RenameForm workspace={workspace} /> : null}
      <LeaveSection workspace={workspace} onLeft={onLeft} />
    </>
  )
}

function RenameForm({ workspace }: { workspace: WorkspaceRow }) {
  const { t } = useTexts()
  const [name, setName] = useState(workspace.name)
  const rename = useRenameWorkspace(workspace)
  const save = (event: FormEvent) => {
    event.preventDefault()
    rename.mutate(name.trim())
  }
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('settings.general')}</h2>
      <form className={cx(blocks.b, 'col gap')} onSubmit={save}>
        <TextField
          label={t('workspaceName')}
          value={name}
          required
          maxLength={80}
          error={rename.error ? getErrorText(rename.error) : null}
          onChange={setName}
        />
        <div className="row">
          <Button
            type="submit"
            blocked={!name.trim() || name.trim() === workspace.name}
            busy={rename.isPending ? t('saving') : null}
          >
            {t('saveChanges')}
          </Button>
        </div>
      </form>
    </section>
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
      <Dialog
        open={isOpen}
        onOpenChange={setOpen}
        title={t('leaveTitle', { workspace: workspace.name })}
        description={t('leaveEffects')}
      >
        <div className="row endrow">
          <Button onClick={() => setOpen(false)}>{t('cancel')}</Button>
          <Button tone="bad" onClick={() => void leave()}>
            {t('leave')}
          </Button>
        </div>
      </Dialog>
    </section>
  )
}
