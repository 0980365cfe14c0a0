import { X } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import {
  addToChat,
  type MemberRow,
  removeFromChat,
  renameChat,
  setWake,
  useAgents,
  useMe,
  useMembers,
  type WorkspaceRow,
} from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button, IconButton } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { Face } from '@/ui/Face'
import { say } from '@/ui/Toasts'
import { usePlaces, usePresent } from '../hooks'
import { Links } from './Links'

interface PeopleDialogProps {
  chatId: string
  workspace: WorkspaceRow
  title: string
  open: boolean
  onOpenChange(open: boolean): void
}

const tell = (error: unknown) => say(textOfError(error))

/** Who is in this chat, who can be added, and the link that brings new people. */
export function PeopleDialog(props: PeopleDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog open={props.open} onOpenChange={props.onOpenChange} title={t('peopleAndAgents')} className="people">
      <PeopleBody {...props} />
    </Dialog>
  )
}

function PeopleBody({ chatId, workspace, title, onOpenChange }: PeopleDialogProps) {
  const places = usePlaces(chatId)
  const order = (place: MemberRow) => (place.actor.kind === 'agent' ? 1 : 0)
  return (
    <>
      <Rename chatId={chatId} title={title} />
      <ul className="rows">
        {[...places]
          .sort((a, b) => order(a) - order(b))
          .map(place => (
            <Place key={place.id} place={place} onLeft={() => onOpenChange(false)} />
          ))}
      </ul>
      <Add chatId={chatId} workspaceId={workspace.id} places={places} />
      {workspace.verbs.includes('invite') ? <Links chatId={chatId} /> : null}
    </>
  )
}

function Rename({ chatId, title }: { chatId: string; title: string }) {
  const { t } = useTexts()
  const [name, setName] = useState(title)
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() && name.trim() !== title) renameChat(chatId, name.trim()).catch(tell)
  }
  return (
    <form className="row" onSubmit={save}>
      <input
        className="input"
        aria-label={t('chatName')}
        value={name}
        maxLength={120}
        onChange={event => setName(event.target.value)}
      />
      {name.trim() && name.trim() !== title ? <Button type="submit">{t('rename')}</Button> : null}
    </form>
  )
}

function Place({ place, onLeft }: { place: MemberRow; onLeft(): void }) {
  const { t } = useTexts()
  const me = useMe().data?.actor.id
  const isHere = usePresent(place.chat_id).includes(place.actor.id)
  const { actor } = place
  const isAgent = actor.kind === 'agent'
  const isMe = actor.id === me
  return (
    <li>
      <Face id={actor.id} name={actor.name} square={isAgent} size="m" here={isHere} />
      <span className="grow cut">
        {actor.name} <span className="faint">@{actor.handle}</span>
      </span>
      {isAgent ? (
        <select
          className="select"
          aria-label={t('wakes.label', { name: actor.name })}
          value={place.wake}
          onChange={event => setWake(place.chat_id, actor.id, event.target.value as MemberRow['wake']).catch(tell)}
        >
          <option value="mention">{t('wakes.mention')}</option>
          <option value="always">{t('wakes.always')}</option>
        </select>
      ) : null}
      <IconButton
        small
        label={isMe ? t('leaveChat') : t('removeFromChat', { name: actor.name })}
        onClick={() => removeFromChat(place.chat_id, actor.id).then(() => isMe && onLeft(), tell)}
      >
        <X className="i s" />
      </IconButton>
    </li>
  )
}

function Add({ chatId, workspaceId, places }: { chatId: string; workspaceId: string; places: readonly MemberRow[] }) {
  const { t } = useTexts()
  const people = useMembers(workspaceId).data ?? []
  const agents = useAgents(workspaceId).data ?? []
  const inside = new Set(places.map(place => place.actor.id))
  const others = [...people, ...agents].map(row => row.actor).filter(actor => !inside.has(actor.id))
  if (others.length === 0) return null
  return (
    <div className="field">
      <span className="label">{t('addToChat')}</span>
      <div className="chips">
        {others.map(actor => (
          <button key={actor.id} type="button" className="pick" onClick={() => addToChat(chatId, actor.id).catch(tell)}>
            <Face id={actor.id} name={actor.name} square={actor.kind === 'agent'} />
            {actor.name}
          </button>
        ))}
      </div>
    </div>
  )
}
