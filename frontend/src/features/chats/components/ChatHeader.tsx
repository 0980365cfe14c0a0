import { ArrowLeft, PencilRuler, UserPlus } from 'lucide-react'
import { type ReactNode, Suspense, useState } from 'react'
import type { ChatSummaryRow, WorkspaceRow } from '@/api'
import { chord } from '@/lib/keys'
import { useTexts } from '@/lib/language'
import { type ChatState, useChatPart } from '@/realtime'
import { IconButton } from '@/ui/Button'
import { Face } from '@/ui/Face'
import { lazy } from '@/ui/lazy'
import { useDirectory, useIsClosed, usePlaces } from '../hooks'

const PeopleDialog = lazy(() => import('./PeopleDialog').then(module => ({ default: module.PeopleDialog })))

interface ChatHeaderProps {
  chatId: string
  workspace: WorkspaceRow
  summary: ChatSummaryRow | undefined
  back: ReactNode
  isWorkshopOpen: boolean
  onWorkshop: (() => void) | null
}

const titleOf = (chat: ChatState) => chat.chat?.title ?? null
const FACES = 5

export function ChatHeader({ chatId, workspace, summary, back, isWorkshopOpen, onWorkshop }: ChatHeaderProps) {
  const { t } = useTexts()
  const places = usePlaces(chatId)
  const who = useDirectory(chatId, workspace.id)
  const title = useChatPart(chatId, titleOf) ?? summary?.chat.title ?? ''
  const isClosed = useIsClosed(chatId)
  const [isOpen, setOpen] = useState(false)
  const people = places.filter(place => place.actor.kind === 'human')
  const agents = places.filter(place => place.actor.kind === 'agent')
  const tally = t('tally', {
    people: t('nPeople', { count: people.length }),
    agents: t('nAgents', { count: agents.length }),
  })
  const head = (
    <>
      {back}
      <h1 className="cut">{title}</h1>
    </>
  )
  if (isClosed) return <header className="bar">{head}</header>
  return (
    <header className="bar">
      {head}
      <div className="end">
        <button type="button" className="faces" title={tally} onClick={() => setOpen(true)} aria-haspopup="dialog">
          <span className="sr">{tally}</span>
          {[...people, ...agents].slice(0, FACES).map(({ actor }) => (
            <Face
              key={actor.id}
              id={actor.id}
              name={who(actor.id)?.name ?? actor.name}
              square={actor.kind === 'agent'}
              size="m"
            />
          ))}
        </button>
        <span className="faint xs num only-wide">{places.length || ''}</span>
        <IconButton label={t('peopleAndAgents')} onClick={() => setOpen(true)} aria-haspopup="dialog">
          <UserPlus className="i" />
        </IconButton>
        {onWorkshop ? (
          <IconButton label={`${t('workshop')} (${chord('.')})`} aria-pressed={isWorkshopOpen} onClick={onWorkshop}>
            <PencilRuler className="i" />
          </IconButton>
        ) : null}
      </div>
      {isOpen ? (
        <Suspense fallback={null}>
          <PeopleDialog chatId={chatId} workspace={workspace} title={title} open onOpenChange={setOpen} />
        </Suspense>
      ) : null}
    </header>
  )
}

/** On a phone, the way back to the list. */
export function BackButton({ onClick }: { onClick(): void }) {
  const { t } = useTexts()
  return (
    <IconButton className="only-phone" label={t('chats')} onClick={onClick}>
      <ArrowLeft className="i" />
    </IconButton>
  )
}
