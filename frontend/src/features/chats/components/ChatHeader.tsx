import { ArrowLeft, Hash, PencilRuler, UserPlus } from 'lucide-react'
import { type ReactNode, Suspense, useState } from 'react'
import type { ListedChatRow, WorkspaceRow } from '@/api'
import { formatShortcut } from '@/lib/actions'
import { useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import { IconButton } from '@/ui/Button'
import buttonStyles from '@/ui/Button.module.css'
import layout from '@/ui/layout.module.css'
import { lazy } from '@/ui/lazy'
import { useChatRow, useChatTitle, useFindActor, useIsClosed, useIsDirect, useParticipants } from '../hooks'
import styles from './ChatHeader.module.css'

const PinnedMessages = lazy(() => import('./PinnedMessages').then(module => ({ default: module.PinnedMessages })))
const PeopleDialog = lazy(() => import('./PeopleDialog').then(module => ({ default: module.PeopleDialog })))

interface ChatHeaderProps {
  chatId: string
  workspace: WorkspaceRow
  listedChat: ListedChatRow | undefined
  back: ReactNode
  isWorkshopOpen: boolean
  onWorkshop: (() => void) | null
  /** Opens the direct chat with a participant. */
  onMessage(actorId: string): void
  /** Shows a message in its place in the log. */
  goTo(messageId: string): void
}

const MAX_AVATARS = 5

export function ChatHeader({
  chatId,
  workspace,
  listedChat,
  back,
  isWorkshopOpen,
  onWorkshop,
  onMessage,
  goTo,
}: ChatHeaderProps) {
  const { t } = useTexts()
  const participants = useParticipants(chatId)
  const findActor = useFindActor(chatId, workspace.id)
  const chat = useChatRow(chatId)
  const title = useChatTitle(chatId, listedChat)
  const isClosed = useIsClosed(chatId)
  const isDirect = useIsDirect(chatId)
  const [isOpen, setOpen] = useState(false)
  const people = participants.filter(participant => participant.actor.kind === 'human')
  const agents = participants.filter(participant => participant.actor.kind === 'agent')
  const participantCounts = t('participantCounts', {
    people: t('nPeople', { count: people.length }),
    agents: t('nAgents', { count: agents.length }),
  })
  const titleBar = (
    <>
      {back}
      {title && !isDirect && (people.length > 1 || agents.length !== 1) ? (
        <Hash className="i faint" aria-hidden />
      ) : null}
      <h1 className="cut">{title || (isClosed ? t('chat') : '')}</h1>
    </>
  )
  if (isClosed) {
    return <header className={layout.bar}>{titleBar}</header>
  }
  return (
    <header className={layout.bar}>
      {titleBar}
      <div className="end">
        {chat && chat.pin_count > 0 ? (
          <Suspense fallback={null}>
            <PinnedMessages
              key={chatId}
              chatId={chatId}
              count={chat.pin_count}
              version={chat.version}
              findActor={findActor}
              goTo={goTo}
            />
          </Suspense>
        ) : null}
        <button
          type="button"
          className={styles.faces}
          title={participantCounts}
          onClick={() => setOpen(true)}
          aria-haspopup="dialog"
        >
          <span className="sr">{participantCounts}</span>
          {[...people, ...agents].slice(0, MAX_AVATARS).map(({ actor }) => (
            <Avatar
              key={actor.id}
              id={actor.id}
              name={findActor(actor.id)?.name ?? actor.name}
              avatar={(findActor(actor.id) ?? actor).avatar}
              square={actor.kind === 'agent'}
              size="m"
            />
          ))}
        </button>
        <span className="faint xs num only-wide">{participants.length || ''}</span>
        <IconButton label={t('peopleAndAgents')} onClick={() => setOpen(true)} aria-haspopup="dialog">
          <UserPlus className="i" />
        </IconButton>
        {onWorkshop ? (
          <IconButton
            label={`${t('workshop')} (${formatShortcut('workshop.toggle')})`}
            className={buttonStyles.worded}
            aria-pressed={isWorkshopOpen}
            onClick={onWorkshop}
          >
            <PencilRuler className="i" />
            <span aria-hidden>{t('workshop')}</span>
          </IconButton>
        ) : null}
      </div>
      {isOpen ? (
        <Suspense fallback={null}>
          <PeopleDialog
            chatId={chatId}
            workspace={workspace}
            title={chat?.title ?? title}
            isDirect={isDirect}
            open
            onOpenChange={setOpen}
            onMessage={onMessage}
          />
        </Suspense>
      ) : null}
    </header>
  )
}

/** The button that goes back to a list on a phone. */
export function BackButton({ label, onClick }: { label: string; onClick(): void }) {
  return (
    <IconButton className="only-phone" label={label} onClick={onClick}>
      <ArrowLeft className="i" />
    </IconButton>
  )
}
