import { type FormEvent, useState } from 'react'
import { type DirectoryDetailRow, useTakeDown, useTakedownPreview } from '@/api'
import { useTexts } from '@/lib/language'
import { formatShortDate } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { Field, TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { Loading } from '@/ui/Loading'
import { showToast } from '@/ui/toast'
import { formatCount } from './counts'
import styles from './Directory.module.css'

const MAX_REASON = 600
/** For the plural of a count that is hidden because it is small. */
const MANY = 2

/** The dialog in which an editor takes a public agent down. It says whom this affects, and asks for its name. */
export function TakedownDialog({ agent, onClose }: { agent: DirectoryDetailRow; onClose(): void }) {
  const { t } = useTexts()
  const { actor } = agent
  const preview = useTakedownPreview(actor.id)
  const takeDown = useTakeDown(actor.id)
  const [reason, setReason] = useState('')
  const [name, setName] = useState('')
  const isConfirmed = name.trim() === actor.name
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // The second click of a double click may come when the first has succeeded.
    if (!isConfirmed || !preview.data || takeDown.isSuccess) return
    takeDown.mutate(reason.trim(), {
      onSuccess: () => {
        onClose()
        showToast(t('takedown.done', { name: actor.name }))
      },
    })
  }
  const affected = preview.data
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('takedown.title', { name: actor.name })}
      description={t('takedown.lead', { version: agent.version, date: formatShortDate(agent.published_at) })}
    >
      <form className="col gap" onSubmit={submit}>
        {affected ? (
          <>
            <dl className={styles.numbers}>
              <Affected
                count={affected.workspaces}
                name={t('takedown.workspaces', { count: affected.workspaces ?? MANY })}
              />
              <Affected count={affected.chats} name={t('takedown.chats', { count: affected.chats ?? MANY })} />
              <Affected count={affected.agents} name={t('takedown.agents', { count: affected.agents ?? MANY })} />
              <Affected count={affected.runs} name={t('takedown.runs', { count: affected.runs ?? MANY })} />
            </dl>
            <ul className={styles.effects}>
              <li>{t('takedown.effect.stops')}</li>
              <li>{t('takedown.effect.chats')}</li>
              <li>{t('takedown.effect.anew')}</li>
            </ul>
          </>
        ) : (
          <Loading query={preview} lines={3} />
        )}
        <Field label={t('takedown.reason')} hint={t('takedown.reasonHint')}>
          {attributes => (
            <textarea
              {...attributes}
              className={fieldStyles.input}
              rows={2}
              value={reason}
              maxLength={MAX_REASON}
              onChange={event => setReason(event.target.value)}
            />
          )}
        </Field>
        <TextField
          label={t('takedown.confirm', { name: actor.name })}
          value={name}
          autoComplete="off"
          onChange={setName}
        />
        <ErrorBanner error={takeDown.error} />
        <div className="row endrow">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button
            tone="bad"
            type="submit"
            blocked={isConfirmed && affected ? false : t('takedown.typeName', { name: actor.name })}
            busy={takeDown.isPending ? t('takedown.doing') : null}
          >
            {t('takedown.do', { name: actor.name })}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

const Affected = ({ count, name }: { count: number | null; name: string }) => (
  <div>
    <dt>{name}</dt>
    <dd className="num">{formatCount(count)}</dd>
  </div>
)
