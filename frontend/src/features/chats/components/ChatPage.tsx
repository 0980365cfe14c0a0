import { MessageCircleOff } from 'lucide-react'
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type ChatSummaryRow, markRead, type WorkspaceRow } from '@/api'
import { useTexts } from '@/lib/language'
import { suggestionPath } from '@/lib/paths'
import { askAgain, type ChatState, chatState, chatTopic, isEnded, useChatPart, useTopic } from '@/realtime'
import { Empty } from '@/ui/Empty'
import { Skeleton } from '@/ui/Skeleton'
import { useArrival } from '../arrive'
import { useDirectory, useIsClosed, useMessages, useWorking } from '../hooks'
import { useUnsent } from '../outbox'
import { useChatKeys } from '../shortcuts'
import { itemsOf } from '../timeline'
import { Announcer } from './Announcer'
import { ChatContext, type ChatContextValue } from './ChatContext'
import { Composer, type ComposerHandle } from './Composer'
import { ConnectionBanner } from './ConnectionBanner'
import { textOf } from './MessageParts'
import { Timeline, type TimelineHandle } from './Timeline'
import { TypingLine } from './TypingLine'

interface ChatPageProps {
  chatId: string
  workspace: WorkspaceRow
  summary: ChatSummaryRow | undefined
  me: string
  /** The message that the reader comes for. */
  at: string | null
  header: ReactNode
  openWorkshop(agentId: string): void
  /** Opens the question for production and this agent's draft, with a text to begin with. */
  onCompare(agentId: string, text: string): void
  onGo(path: string): void
}

const loadedIn = (chat: ChatState) => chat.loaded

/** One chat: its log and its composer. Drawn anew for each chat. */
export function ChatPage(props: ChatPageProps) {
  const { t } = useTexts()
  const { chatId, header } = props
  useTopic(chatTopic(chatId))
  const isLoaded = useChatPart(chatId, loadedIn)
  const isClosed = useIsClosed(chatId)
  const isListed = props.summary !== undefined
  // Somebody who was let in again finds the chat in the list again: then it is asked for anew.
  useEffect(() => {
    if (isClosed && isListed) askAgain(chatTopic(chatId))
  }, [isClosed, isListed, chatId])
  return (
    <main className="stage" aria-label={t('chat')}>
      {header}
      <ConnectionBanner />
      {isClosed ? (
        <Empty icon={MessageCircleOff} title={t('chatClosed')}>
          {t('chatClosedHint')}
        </Empty>
      ) : isLoaded ? (
        <OpenChat key={chatId} {...props} />
      ) : (
        <div className="log loading">
          <div className="in">
            <Skeleton lines={8} label={t('loading')} />
          </div>
        </div>
      )}
    </main>
  )
}

function useNaming(who: ChatContextValue['who'], chatId: string, me: string): ChatContextValue['names'] {
  const members = useChatPart(chatId, (chat: ChatState) => chat.members)
  const { t } = useTexts()
  return useMemo(() => {
    const byHandle = new Map([...members.values()].map(member => [member.actor.handle, member.actor]))
    return handle => {
      if (handle === 'all') return { name: t('everybody'), isMe: true }
      const actor = byHandle.get(handle.toLowerCase())
      return actor ? { name: who(actor.id)?.name ?? actor.name, isMe: actor.id === me } : null
    }
  }, [members, who, me, t])
}

function OpenChat({ chatId, workspace, summary, me, at, openWorkshop, onCompare, onGo }: ChatPageProps) {
  const timeline = useRef<TimelineHandle>(null)
  const composer = useRef<ComposerHandle>(null)
  const who = useDirectory(chatId, workspace.id)
  const names = useNaming(who, chatId, me)
  const messages = useMessages(chatId)
  const unsent = useUnsent(chatId)
  const active = useWorking(chatId)
  const lastSeq = messages.at(-1)?.seq ?? 0
  const [atOpening] = useState(() => ({ readSeq: summary?.last_read_seq ?? 0, lastSeq }))
  const onRead = useMarkRead(chatId, summary?.last_read_seq ?? 0)

  const items = useMemo(() => {
    const known = new Set(messages.map(row => row.id))
    return itemsOf({ messages, unsent: unsent.filter(entry => !known.has(entry.id)), active, atOpening, me })
  }, [messages, unsent, active, atOpening, me])

  const comparable = useChatPart(chatId, comparableIn)
  const context = useMemo<ChatContextValue>(
    () => ({
      chatId,
      workspaceId: workspace.id,
      me,
      who,
      names,
      find: id => chatState(chatId).messages.get(id),
      reply: row => composer.current?.reply(row),
      compare: comparable === null ? null : row => onCompare(comparable, textOf(row)),
      goTo: id => timeline.current?.goTo(id),
      openWorkshop,
      suggestionPath: id => suggestionPath(workspace.handle, id),
      onGo,
    }),
    [chatId, workspace, me, who, names, openWorkshop, comparable, onCompare, onGo],
  )
  useArrival(chatId, at, messages, timeline)
  useChatKeys({ chatId, reply: context.reply, focusComposer: () => composer.current?.focus() })
  const title = useChatPart(chatId, titleOf) ?? summary?.chat.title ?? ''
  return (
    <ChatContext value={context}>
      <Timeline ref={timeline} items={items} lastSeq={lastSeq} onRead={onRead} />
      <TypingLine />
      <Composer ref={composer} title={title} onSent={() => timeline.current?.toEnd()} />
      <Announcer messages={messages} />
    </ChatContext>
  )
}

/** The agent whose draft can be compared here: one that answers, before one that is only written. */
function comparableIn(chat: ChatState): string | null {
  const live = [...chat.drafts.values()].filter(draft => !isEnded(draft))
  return (live.find(draft => draft.applied) ?? live[0])?.agent_id ?? null
}

const titleOf = (chat: ChatState) => chat.chat?.title ?? null

/** Tells the server how far this person has read, once per line and not for every token. */
function useMarkRead(chatId: string, readSeq: number) {
  const told = useRef(readSeq)
  return useCallback(
    (seq: number) => {
      if (seq <= told.current) return
      told.current = seq
      markRead(chatId, seq).catch(() => {
        told.current = Math.min(told.current, seq - 1)
      })
    },
    [chatId],
  )
}
