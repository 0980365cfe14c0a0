import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type ActorRow, createChat, keys, useAgents, useMe, useMembers } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { TextField } from '@/ui/Field'
import { ActorPicker } from './ActorPicker'
import { PublicAgentPicker } from './PublicAgentPicker'

interface NewChatDialogProps {
  workspaceId: string
  open: boolean
  onOpenChange(open: boolean): void
  onMade(chatId: string): void
  /** The ids of the initially chosen people and agents. */
  withIds?: readonly string[]
}

export function NewChatDialog(props: NewChatDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog open={props.open} onOpenChange={props.onOpenChange} title={t('newChat')}>
      <NewChatForm {...props} />
    </Dialog>
  )
}

function NewChatForm({ workspaceId, onOpenChange, onMade, withIds = [] }: NewChatDialogProps) {
  const { t } = useTexts()
  const client = useQueryClient()
  const me = useMe().data?.actor.id
  const agents = useAgents(workspaceId).data ?? []
  const people = useMembers(workspaceId).data ?? []
  const [title, setTitle] = useState('')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(withIds))
  const [publicAgents, setPublicAgents] = useState<readonly ActorRow[]>([])
  const { busy, error, run } = useAsyncAction()
  const others = [...agents, ...people].map(row => row.actor).filter(actor => actor.id !== me)
  const defaultTitle = [...others.filter(actor => chosen.has(actor.id)), ...publicAgents]
    .map(actor => actor.name)
    .join(t('listJoin'))

  const toggle = (actor: ActorRow) => {
    const next = new Set(chosen)
    if (!next.delete(actor.id)) next.add(actor.id)
    setChosen(next)
  }
  const togglePublic = (actor: ActorRow) => {
    const rest = publicAgents.filter(other => other.id !== actor.id)
    setPublicAgents(rest.length < publicAgents.length ? rest : [...publicAgents, actor])
  }
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    void run(async () => {
      const made = await createChat(workspaceId, {
        title: title.trim() || defaultTitle || t('newChatName'),
        actor_ids: [...chosen, ...publicAgents.map(actor => actor.id)],
      })
      await client.invalidateQueries({ queryKey: keys.chats(workspaceId) })
      onOpenChange(false)
      onMade(made.chat.id)
    })
  }
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      <TextField
        label={t('chatName')}
        value={title}
        maxLength={120}
        placeholder={defaultTitle || t('newChatName')}
        onChange={setTitle}
        error={error ? getErrorText(error) : null}
        autoFocus
      />
      {others.length > 0 ? <ActorPicker label={t('whoIsIn')} actors={others} chosen={chosen} onPick={toggle} /> : null}
      <PublicAgentPicker
        label={t('publicAgents')}
        workspaceId={workspaceId}
        chosen={publicAgents}
        onPick={togglePublic}
      />
      <div className="row endrow">
        <Button onClick={() => onOpenChange(false)}>{t('cancel')}</Button>
        <Button tone="ink" type="submit" busy={busy ? t('makingChat') : null}>
          {t('makeChat')}
        </Button>
      </div>
    </form>
  )
}
