import { MessageCircleOff } from 'lucide-react'
import { type ReactNode, type Ref, useCallback, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react'
import type { ChatSummaryRow, MessageRow, TextMessageRow, WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { useLatest } from '@/lib/latest'
import { modelPath, suggestionPath, workspacePath } from '@/lib/paths'
import { type ChatState, chatState, chatTopic, isEnded, resubscribe, useChatSelector, useTopic } from '@/realtime'
import { Boundary } from '@/ui/Boundary'
import { Button } from '@/ui/Button'
import { EmptyState } from '@/ui/EmptyState'
import layout from '@/ui/layout.module.css'
import { Skeleton } from '@/ui/Skeleton'
import { useChatActions } from '../chatActions'
import { useChatTitle, useDirectory, useIsClosed, useLiveSince, useMessages, useWorking } from '../hooks'
import { useLogPart } from '../logPart'
import { useUnsent } from '../outbox'
import { findQuestion, findQuestionBefore } from '../question'
import { useReadCursor } from '../readCursor'
import { useReading } from '../reading'
import { useScrollToMessage } from '../scrollToMessage'
import { GrowingItems, type Item } from '../timeline'
import { Announcer } from './Announcer'
import { ChatContext, type ChatContextValue } from './ChatContext'
import { Composer, type ComposerHandle } from './Composer'
import { ConnectionBanner } from './ConnectionBanner'
import { Timeline, type TimelineHandle } from './Timeline'
import timelineStyles from './Timeline.module.css'
import { TypingLine } from './TypingLine'

interface ChatPageProps {
  chatId: string
  workspace: WorkspaceRow
  summary: ChatSummaryRow | undefined
  me: string
  /** The message that the reader comes for. */
  at: string | null
  /** Another value with each navigation: the same message may be asked for twice. */
  visit: unknown
  header: ReactNode
  openWorkshop(agentId: string): void
  /** Opens the question for production and this agent's draft, with a text to begin with. */
  onCompare(agentId: string, text: string): void
  /** Asks a question again with an agent's draft. */
  onAskDraft(agentId: string, question: TextMessageRow): void
  onGo(path: string): void
  ref?: Ref<ChatHandle>
}

export interface ChatHandle {
  focusComposer(): void
  /** Moves to the composer, and offers the question that this agent answered last. */
  offerQuestion(agentId: string): void
}

const loadedIn = (chat: ChatState) => chat.loaded

/** One chat: its log and its composer. Drawn anew for each chat. */
export function ChatPage(props: ChatPageProps) {
  const { t } = useTexts()
  const { chatId, header } = props
  useTopic(chatTopic(chatId))
  const isLoaded = useChatSelector(chatId, loadedIn)
  const isClosed = useIsClosed(chatId)
  const isListed = props.summary !== undefined
  // Somebody who was let in again finds the chat in the list again: then it is asked for anew.
  useEffect(() => {
    if (isClosed && isListed) resubscribe(chatTopic(chatId))
  }, [isClosed, isListed, chatId])
  return (
    <main className={layout.stage} aria-label={t('chat')}>
      {header}
      <ConnectionBanner />
      {isClosed ? (
        <EmptyState
          icon={MessageCircleOff}
          title={t('chatClosed')}
          actions={
            <Button tone="ink" onClick={() => props.onGo(workspacePath(props.workspace.handle))}>
              {t('toChats')}
            </Button>
          }
        >
          {t('chatClosedHint')}
        </EmptyState>
      ) : isLoaded ? (
        <OpenChat key={chatId} {...props} />
      ) : (
        <div className={cx(timelineStyles.log, timelineStyles.loading)}>
          <div className={timelineStyles.in}>
            <Skeleton lines={8} label={t('loading')} />
          </div>
        </div>
      )}
    </main>
  )
}

function useNaming(who: ChatContextValue['who'], chatId: string, me: string): ChatContextValue['names'] {
  const members = useChatSelector(chatId, membersOf)
  const { t } = useTexts()
  return useMemo(() => {
    const byHandle = new Map([...members.values()].map(member => [member.actor.handle, member.actor]))
    return handle => {
      if (handle === 'all') return { name: t('allMembers'), isMe: true }
      const actor = byHandle.get(handle.toLowerCase())
      return actor ? { name: who(actor.id)?.name ?? actor.name, isMe: actor.id === me } : null
    }
  }, [members, who, me, t])
}

function OpenChat(props: ChatPageProps) {
  const { chatId, workspace, summary, me, at, visit, openWorkshop, onCompare, onAskDraft, onGo, ref } = props
  const timeline = useRef<TimelineHandle>(null)
  const composer = useRef<ComposerHandle>(null)
  const who = useDirectory(chatId, workspace.id)
  const names = useNaming(who, chatId, me)
  const part = useLogPart(chatId)
  const messages = useMessages(chatId, part.range)
  const onRead = useReadCursor(chatId, workspace.id, me, summary?.last_read_seq ?? 0)
  const reading = useReading({ chatId, summary, messages, from: part.from, hasOlder: part.hasOlder, me, onRead })
  const { target, goTo } = useScrollToMessage(chatId, at, visit, messages, part)
  const items = useItems(chatId, messages, part.range === null, reading.newsAfter, me)

  const isAgent = useCallback((id: string) => who(id)?.kind === 'agent', [who])
  const latestMessages = useLatest(messages)
  const askDraft = useCallback(
    (answer: TextMessageRow) => {
      const question = findQuestionBefore(latestMessages.current, answer, isAgent)
      if (question && answer.author_id) onAskDraft(answer.author_id, question)
    },
    [isAgent, onAskDraft],
  )
  useImperativeHandle(ref, () => ({
    focusComposer: () => composer.current?.focus(),
    offerQuestion: agentId => {
      const question = findQuestion(latestMessages.current, agentId, isAgent)
      if (question) composer.current?.offer(question)
      else composer.current?.focus()
    },
  }))
  const comparable = useChatSelector(chatId, comparableIn)
  const context = useMemo<ChatContextValue>(
    () => ({
      chatId,
      workspaceId: workspace.id,
      me,
      isEditor: workspace.role === 'editor',
      who,
      names,
      find: id => chatState(chatId).messages.get(id),
      reply: row => composer.current?.reply(row),
      askDraft,
      compare: comparable === null ? null : row => onCompare(comparable, row.payload.text),
      goTo: id => void goTo(id),
      openWorkshop,
      suggestionPath: id => suggestionPath(workspace.handle, id),
      modelPath: workspace.verbs.includes('set_model') ? modelPath(workspace.handle) : null,
      onGo,
    }),
    [chatId, workspace, me, who, names, openWorkshop, comparable, onCompare, askDraft, onGo, goTo],
  )
  useFocusAtOpening(() => at === null && composer.current?.focus())
  useChatActions({ context, focusComposer: () => composer.current?.focus() })
  const title = useChatTitle(chatId, summary)
  const latestPart = useLatest(part)
  const { seeNews } = reading
  const onSent = useCallback(() => {
    seeNews()
    if (latestPart.current.range) latestPart.current.toNewest()
    timeline.current?.toEnd()
  }, [seeNews])
  return (
    <ChatContext value={context}>
      <Boundary>
        <Timeline
          key={part.generation}
          ref={timeline}
          items={items}
          messages={messages}
          part={part}
          reading={reading}
          target={target}
          goTo={id => void goTo(id)}
        />
      </Boundary>
      <TypingLine />
      <Composer ref={composer} title={title} onSent={onSent} />
      <Announcer messages={messages} />
    </ChatContext>
  )
}

/** Whoever opens a chat writes next; a soft keyboard would hide half of it. Not in the middle of something else. */
function useFocusAtOpening(focus: () => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the chat is opened
  useEffect(() => {
    const isBusy = document.activeElement?.closest('[role=dialog], [data-pane=workshop], input, textarea, select')
    if (!isBusy && matchMedia('(pointer: fine)').matches) focus()
  }, [])
}

/** What the log shows. What is on its way, and who is at work, stand at its newest end. */
function useItems(
  chatId: string,
  messages: readonly MessageRow[],
  isNewest: boolean,
  newsAfter: number | null,
  me: string,
): readonly Item[] {
  const [growing] = useState(() => new GrowingItems())
  const unsent = useUnsent(chatId)
  const active = useWorking(chatId)
  const liveSince = useLiveSince(chatId)
  return useMemo(() => {
    if (!isNewest) return growing.of({ messages, unsent: [], active: [], newsAfter, me })
    const known = chatState(chatId).messages
    const waiting = unsent.filter(entry => !known.has(entry.id))
    return growing.of({ messages, unsent: waiting, active, liveSince, newsAfter, me })
  }, [growing, chatId, messages, isNewest, unsent, active, liveSince, newsAfter, me])
}

/** The agent whose draft can be compared here: one that answers, before one that is only written. */
function comparableIn(chat: ChatState): string | null {
  const live = [...chat.drafts.values()].filter(draft => !isEnded(draft))
  return (live.find(draft => draft.applied) ?? live[0])?.agent_id ?? null
}

const membersOf = (chat: ChatState) => chat.members
