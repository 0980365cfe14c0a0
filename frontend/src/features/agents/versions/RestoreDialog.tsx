import { useQueryClient } from '@tanstack/react-query'
import { CircleAlert } from 'lucide-react'
import { type FormEvent, useEffect, useState } from 'react'
import { type AgentRow, ApiError, restoreVersion } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Dialog } from '@/ui/Dialog'
import { TextField } from '@/ui/Field'
import { showToast } from '@/ui/toast'

interface RestoreDialogProps {
  agent: AgentRow
  version: number
  chat: string | null
  open: boolean
  onOpenChange(open: boolean): void
  onRestored(version: number): void
  /** Compares with the version that was saved after the dialog opened. */
  onCompare(): void
}

/** The dialog that saves an old version as the next one, unless production has changed since the dialog opened. */
export function RestoreDialog(props: RestoreDialogProps) {
  const { agent, version, chat, open, onOpenChange, onRestored, onCompare } = props
  const { t } = useTexts()
  const client = useQueryClient()
  const [message, setMessage] = useState('')
  const [base, setBase] = useState(agent.spec.number ?? 1)
  const { busy, error, run } = useAsyncAction()
  const production = agent.spec.number ?? 1
  // biome-ignore lint/correctness/useExhaustiveDependencies: set only when the dialog opens; a newer version shows a notice
  useEffect(() => {
    if (open) setBase(production)
  }, [open])
  const isStale = base !== production || (error instanceof ApiError && error.code === 'stale_base')

  const restore = (event: FormEvent) => {
    event.preventDefault()
    void run(async () => {
      const body = { base_version: base, message: message.trim(), chat_id: chat }
      const made = await restoreVersion(agent.actor.id, version, body).finally(() =>
        client.invalidateQueries({ queryKey: ['workspace'] }),
      )
      onOpenChange(false)
      showToast(t('restoredAs', { version: `v${version}`, next: `v${made.number}` }))
      onRestored(made.number ?? base + 1)
    })
  }
  const handleCompare = () => {
    onOpenChange(false)
    onCompare()
  }
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t('restoreTitle', { version: `v${version}`, name: agent.actor.name })}
      description={t('restoreEffects', {
        version: `v${version}`,
        next: `v${production + 1}`,
        current: `v${production}`,
      })}
    >
      <form className="col gap" onSubmit={restore}>
        {isStale ? (
          <div className={cx(blocks.banner, blocks.bad)} role="alert">
            <CircleAlert className="i s" aria-hidden />
            <span className="grow">{t('newerCame', { version: `v${production}` })}</span>
            <Button size="xs" onClick={handleCompare}>
              {t('seeNewer')}
            </Button>
          </div>
        ) : null}
        <TextField
          label={t('restoreMessage')}
          value={message}
          maxLength={400}
          placeholder={t('restoreDefault', { version: `v${version}` })}
          error={error && !isStale ? getErrorText(error) : null}
          onChange={setMessage}
        />
        <div className="row endrow">
          <Button onClick={() => onOpenChange(false)}>{t('cancel')}</Button>
          <Button tone="ink" type="submit" blocked={isStale} busy={busy ? t('restoring') : null}>
            {t('restore', { version: `v${version}` })}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
