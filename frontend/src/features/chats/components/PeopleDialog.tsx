import { AlarmClock, Hash, MessageSquare, UserMinus } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import {
  type ActorRow,
  addToChat,
  hideChat,
  muteChat,
  type ParticipantRow,
  removeFromChat,
  renameChat,
  restoreChat,
  setResponse,
  unmuteChat,
  useAgents,
  useChats,
  useLinks,
  useMe,
  useMembers,
  type WorkspaceRow,
  wakeAgent,
} from '@/api'
import { getErrorText } from '@/lib/errors'
import { newId } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { formatRelative } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Button, IconButton } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { Dialog } from '@/ui/Dialog'
import fieldStyles from '@/ui/Field.module.css'
import { showToast } from '@/ui/toast'
import { useIsBetweenAgents, useMessages, useParticipants, usePeopleWithChatOpen } from '../hooks'
import { getMuteEnd, isMuted, muteSpans } from '../muted'
import { isOfSubAgent } from '../subAgents'
import { ActorPicker } from './ActorPicker'
import { AgentBadge } from './AgentBadge'
import { archive } from './ChatMenu'
import { isActiveLink, Links, LinkText } from './Links'
import styles from './PeopleDialog.module.css'
import { PublicAgentPicker } from './PublicAgentPicker'

interface PeopleDialogProps {
  chatId: string
  workspace: WorkspaceRow
  /** The title that was given to the chat; empty if it is shown by the names of those in it. */
  title: string
  /** Whether it is a direct chat, which nobody joins or leaves. */
  isDirect: boolean
  open: boolean
  onOpenChange(open: boolean): void
  /** Opens the direct chat with a participant. */
  onMessage(actorId: string): void
}

const showError = (error: unknown) => showToast(getErrorText(error))

/** The people and agents of this chat, those who can be added, and the invite links. */
export function PeopleDialog(props: PeopleDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog open={props.open} onOpenChange={props.onOpenChange} title={t('peopleAndAgents')}>
      <PeopleBody {...props} />
    </Dialog>
  )
}

function PeopleBody({ chatId, workspace, title, isDirect, onOpenChange, onMessage }: PeopleDialogProps) {
  const { t } = useTexts()
  const participants = useParticipants(chatId)
  const isBetweenAgents = useIsBetweenAgents(chatId)
  const order = (participant: ParticipantRow) => (participant.actor.kind === 'agent' ? 1 : 0)
  return (
    <>
      {isDirect ? (
        <div className="row">
          <p className="muted sm grow">{t(isBetweenAgents ? 'betweenAgentsHint' : 'directChatHint')}</p>
          {isBetweenAgents ? null : (
            <Button
              onClick={() =>
                void hideChat(chatId).then(
                  () => onOpenChange(false),
                  error => showError(error),
                )
              }
            >
              {t('hideChat')}
            </Button>
          )}
        </div>
      ) : (
        <RenameForm chatId={chatId} title={title} />
      )}
      {isBetweenAgents ? null : <OwnSettings chatId={chatId} workspaceId={workspace.id} />}
      <ul className={blocks.rows}>
        {[...participants]
          .sort((a, b) => order(a) - order(b))
          .map(participant => (
            <Participant
              key={participant.id}
              participant={participant}
              canInvite={workspace.verbs.includes('invite')}
              isDirect={isDirect}
              onLeft={() => onOpenChange(false)}
              onMessage={() => {
                onOpenChange(false)
                onMessage(participant.actor.id)
              }}
            />
          ))}
      </ul>
      {isDirect ? null : <Add chatId={chatId} workspaceId={workspace.id} participants={participants} />}
      {workspace.verbs.includes('invite') && !isDirect ? (
        <Links chatId={chatId} canInviteEditors={workspace.verbs.includes('change_role')} />
      ) : null}
    </>
  )
}

/** What the reader sets for themselves: whether the chat is muted, or archived. */
function OwnSettings({ chatId, workspaceId }: { chatId: string; workspaceId: string }) {
  const { t } = useTexts()
  const row = useChats(workspaceId).data?.find(row => row.chat.id === chatId)
  if (!row) return null
  return (
    <div className="row wrap">
      {isMuted(row) ? (
        <Button onClick={() => void unmuteChat(chatId).catch(showError)}>{t('mute.end')}</Button>
      ) : (
        muteSpans.map(span => (
          <Button key={span} onClick={() => void muteChat(chatId, getMuteEnd(span)).catch(showError)}>
            {t(`mute.${span}`)}
          </Button>
        ))
      )}
      {row.is_archived ? (
        <Button onClick={() => void restoreChat(chatId).catch(showError)}>{t('archive.end')}</Button>
      ) : (
        <Button onClick={() => archive(row)}>{t('archive.chat')}</Button>
      )}
    </div>
  )
}

function RenameForm({ chatId, title }: { chatId: string; title: string }) {
  const { t } = useTexts()
  const [name, setName] = useState(title)
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() && name.trim() !== title) renameChat(chatId, name.trim()).catch(showError)
  }
  return (
    <form className="row" onSubmit={save}>
      <Hash className="i faint" aria-hidden />
      <input
        className={fieldStyles.input}
        aria-label={t('chatName')}
        value={name}
        maxLength={120}
        onChange={event => setName(event.target.value)}
      />
      {name.trim() && name.trim() !== title ? <Button type="submit">{t('rename')}</Button> : null}
    </form>
  )
}

function Participant({
  participant,
  canInvite,
  isDirect,
  onLeft,
  onMessage,
}: {
  participant: ParticipantRow
  canInvite: boolean
  isDirect: boolean
  onLeft(): void
  onMessage(): void
}) {
  const { t } = useTexts()
  const [isConfirming, setConfirming] = useState(false)
  const createdLinks = (useLinks(participant.chat_id, canInvite).data ?? []).filter(
    link => link.created_by === participant.actor.id && isActiveLink(link),
  )
  const me = useMe().data?.actor.id
  const isHere = usePeopleWithChatOpen(participant.chat_id).includes(participant.actor.id)
  const { actor } = participant
  const isAgent = actor.kind === 'agent'
  const isMe = actor.id === me
  const addAgain = () => void addToChat(participant.chat_id, actor.id).catch(showError)
  const remove = () => {
    setConfirming(false)
    removeFromChat(participant.chat_id, actor.id).then(() => {
      if (isMe) onLeft()
      else showToast(t('removedFromChat', { name: actor.name }), { label: t('undo'), run: addAgain })
    }, showError)
  }
  return (
    <li className={isAgent ? styles.agent : undefined}>
      <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square={isAgent} size="m" isOnline={isHere} />
      <span className="grow">
        <span className="cut col">
          <span className="cut">
            {actor.name} <span className="faint">@{actor.handle}</span>
          </span>
          {isAgent ? <ReadPosition participant={participant} /> : null}
        </span>
        {actor.is_public ? <AgentBadge actor={actor} /> : null}
      </span>
      {isAgent && !actor.is_taken_down ? (
        <select
          className={fieldStyles.select}
          aria-label={t('response.label', { name: actor.name })}
          value={participant.response}
          onChange={event =>
            setResponse(participant.chat_id, actor.id, event.target.value as ParticipantRow['response']).catch(
              showError,
            )
          }
        >
          <option value="mentions">{t('response.mentions')}</option>
          <option value="always">{t('response.always')}</option>
          <option value="never">{t('response.never')}</option>
        </select>
      ) : null}
      {isAgent && !actor.is_taken_down ? (
        <IconButton
          small
          label={t('lookAgain', { name: actor.name })}
          onClick={({ detail }) => {
            if (detail > 1) return // the second click of a double click
            wakeAgent(participant.chat_id, actor.id, newId()).then(
              () => showToast(t('lookAgain.done', { name: actor.name })),
              showError,
            )
          }}
        >
          <AlarmClock className="i s" />
        </IconButton>
      ) : null}
      {isDirect || isMe || actor.is_taken_down ? null : (
        <IconButton small label={t('messageWith', { name: actor.name })} onClick={onMessage}>
          <MessageSquare className="i s" />
        </IconButton>
      )}
      {isDirect ? null : isMe ? (
        <Button size="xs" onClick={() => (createdLinks.length > 0 ? setConfirming(true) : remove())}>
          {t('leaveChat')}
        </Button>
      ) : (
        <IconButton
          small
          label={t('removeFromChat', { name: actor.name })}
          onClick={() => (createdLinks.length > 0 ? setConfirming(true) : remove())}
        >
          <UserMinus className="i s" />
        </IconButton>
      )}
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setConfirming}
        title={isMe ? t('leaveChat') : t('removeFromChat', { name: actor.name })}
        description={t('revokedLinks', { count: createdLinks.length, name: actor.name })}
        action={isMe ? t('leaveChat') : t('removeFromChat', { name: actor.name })}
        onConfirm={remove}
      >
        <ul className={blocks.rows}>
          {createdLinks.map(link => (
            <li key={link.id}>
              <LinkText link={link} />
            </li>
          ))}
        </ul>
      </ConfirmDialog>
    </li>
  )
}

/** How far an agent has read the chat. It moves while the dialog is open. */
function ReadPosition({ participant: { chat_id, actor, last_read_seq } }: { participant: ParticipantRow }) {
  const { t } = useTexts()
  const messages = useMessages(chat_id)
  const read = last_read_seq ?? 0
  const isBehind = messages.some(
    row => row.seq > read && row.author_id !== actor.id && row.type === 'TEXT_MESSAGE' && !isOfSubAgent(row),
  )
  const last = messages.findLast(row => row.seq <= read)
  const text = isBehind
    ? last
      ? t('readUpTo', { time: formatRelative(last.created_at) })
      : t(read > 0 ? 'readOlder' : 'readNothing')
    : t('readAll')
  return <span className="faint xs cut">{text}</span>
}

function Add({
  chatId,
  workspaceId,
  participants,
}: {
  chatId: string
  workspaceId: string
  participants: readonly ParticipantRow[]
}) {
  const { t } = useTexts()
  const people = useMembers(workspaceId).data ?? []
  const agents = useAgents(workspaceId).data ?? []
  const inside = new Set(participants.map(participant => participant.actor.id))
  const others = [...people, ...agents].map(row => row.actor).filter(actor => !inside.has(actor.id))
  const add = (actor: ActorRow) => void addToChat(chatId, actor.id).catch(showError)
  return (
    <>
      {others.length > 0 ? <ActorPicker label={t('addToChat')} actors={others} onPick={add} /> : null}
      <PublicAgentPicker label={t('addPublicAgents')} workspaceId={workspaceId} inside={inside} onPick={add} />
    </>
  )
}
