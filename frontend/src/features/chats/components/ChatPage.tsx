import { useQueryClient } from '@tanstack/react-query'
import { MessageCircleOff } from 'lucide-react'
import {
  type ReactNode,
  type Ref,
  Suspense,
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { ListedChatRow, MessageRow, RunRow, TextMessageRow, WorkspaceRow } from '@/api'
import { findSummarisedThrough } from '@/features/context'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { useLatest } from '@/lib/latest'
import { useSelector } from '@/lib/observable'
import {
  budgetsPath,
  contextPath,
  messagePath,
  modelPath,
  publicAgentPath,
  runPath,
  suggestionPath,
  workspacePath,
} from '@/lib/paths'
import { sameItems } from '@/lib/sameItems'
import { isViewing } from '@/lib/viewing'
import { type ChatState, chatState, chatTopic, isEnded, resubscribe, useChatSelector, useTopic } from '@/realtime'
import { Boundary } from '@/ui/Boundary'
import { Button } from '@/ui/Button'
import { EmptyState } from '@/ui/EmptyState'
import layout from '@/ui/layout.module.css'
import { lazy } from '@/ui/lazy'
import type { FindName } from '@/ui/prose/mentions'
import { Skeleton } from '@/ui/Skeleton'
import { useBoardsWentOn } from '../boardsWentOn'
import { useChatActions } from '../chatActions'
import { type CopyFormat, findMarkdown } from '../copying'
import type { DeletableRow } from '../deletions'
import { openEditOf } from '../edits'
import { hasFirstSteps } from '../firstSteps'
import {
  useActiveRuns,
  useBoardPlaces,
  useBoardsByCall,
  useChatTitle,
  useEndedBoards,
  useFindActor,
  useFindName,
  useIsBetweenAgents,
  useIsClosed,
  useMessages,
  useStreamingSince,
  useSubAgentRuns,
} from '../hooks'
import { useLogPart } from '../logPart'
import { selectOtherAnswers, shownAnswers, usePlaceAnswers } from '../otherAnswers'
import { useUnsent } from '../outbox'
import { togglePin } from '../pins'
import { type AskedQuestion, findQuestion, findQuestionBefore } from '../question'
import { useReadCursor } from '../readCursor'
import { useReading } from '../reading'
import { ReadMarksContext, useReadMarks } from '../readMarks'
import { useScrollToMessage } from '../scrollToMessage'
import { toggleThumb } from '../thumbs'
import { addSummaryLine, GrowingItems, type Item } from '../timeline'
import { Announcer } from './Announcer'
import { ChatContext, type ChatContextValue } from './ChatContext'
import { Composer, type ComposerHandle } from './Composer'
import composerStyles from './Composer.module.css'
import { ConnectionBanner } from './ConnectionBanner'
import { ReactionChoice } from './Reactions'
import { Timeline, type TimelineHandle } from './Timeline'
import timelineStyles from './Timeline.module.css'
import { TypingLine } from './TypingLine'

const DeleteDialog = lazy(() => import('./DeleteDialog').then(module => ({ default: module.DeleteDialog })))
const FirstSteps = lazy(() => import('./FirstSteps').then(module => ({ default: module.FirstSteps })))

interface ChatPageProps {
  chatId: string
  workspace: WorkspaceRow
  listedChat: ListedChatRow | undefined
  me: string
  /** The id of the message to scroll to. */
  at: string | null
  /** A value that changes with every navigation, since the same message may be opened twice. */
  visit: unknown
  header: ReactNode
  openWorkshop(agentId: string): void
  /** Opens the comparison dialog of an agent with an initial text. */
  onCompare(agentId: string, text: string): void
  /** Applies an agent's draft, and sends a message again, so that the draft answers it. */
  onAskDraft(agentId: string, asked: AskedQuestion): void
  /** Opens the dialog that saves an agent's draft as a version. */
  onSaveDraft(agentId: string): void
  /** Opens the workshop of an agent, and adds a line to its draft. */
  onImprove(agentId: string, line: string): void
  onGo(path: string): void
  ref?: Ref<ChatHandle>
}

export interface ChatHandle {
  focusComposer(): void
  /** Shows a message in its place in the log. */
  goTo(messageId: string): void
  /** Focuses the composer and offers the message that this agent answered last. */
  offerQuestion(agentId: string): void
  /** Returns the text of the message that this agent answered last; empty if there is none. */
  getQuestion(agentId: string): string
}

const loadCopying = () => import('../copyMessage')
const loadAnswerPlaces = () => import('../answerPlaces')

/** Copies a text in Markdown. The code for it is loaded on first use. */
async function copy(markdown: string, format: CopyFormat, findName: FindName): Promise<void> {
  const { copyMessage } = await loadCopying()
  await copyMessage(markdown, format, findName)
}

/** Asks for another answer. The code for it is loaded on first use. */
async function askAgain(chatId: string, runId: string): Promise<void> {
  const { askOtherAnswer } = await loadAnswerPlaces()
  await askOtherAnswer(chatId, runId)
}

const selectIsLoaded = (chat: ChatState) => chat.loaded

/** A chat: its header, log and composer. */
export function ChatPage(props: ChatPageProps) {
  const { t } = useTexts()
  const { chatId, header } = props
  useTopic(chatTopic(chatId))
  const isLoaded = useChatSelector(chatId, selectIsLoaded)
  const isClosed = useIsClosed(chatId)
  const isListed = props.listedChat !== undefined
  // A person who was added again finds the chat in the list: subscribe to it again.
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

function OpenChat(props: ChatPageProps) {
  const { t } = useTexts()
  const { chatId, workspace, listedChat, me, at, visit, openWorkshop, onCompare, onAskDraft, onSaveDraft, onGo, ref } =
    props
  const timeline = useRef<TimelineHandle>(null)
  const composer = useRef<ComposerHandle>(null)
  const findActor = useFindActor(chatId, workspace.id)
  const findName = useFindName(findActor, chatId, me)
  const logPart = useLogPart(chatId)
  const messages = useMessages(chatId, logPart.range)
  const onRead = useReadCursor(chatId, workspace.id, me, listedChat?.last_read_seq ?? 0)
  const reading = useReading({
    chatId,
    listedChat,
    messages,
    from: logPart.from,
    hasOlder: logPart.hasOlder,
    me,
    onRead,
  })
  const { target, goTo, goToSeq } = useScrollToMessage(chatId, at, visit, messages, logPart)
  const logItems = useItems(chatId, messages, logPart.range === null, reading.unreadAfter, me)
  const through = useMemo(() => findSummarisedThrough(messages), [messages])
  const items = useMemo(() => addSummaryLine(logItems, through), [logItems, through])

  const isAgent = useCallback((id: string) => findActor(id)?.kind === 'agent', [findActor])
  const latestMessages = useLatest(messages)
  const askDraft = useCallback(
    (answer: TextMessageRow) => {
      const question = findQuestionBefore(latestMessages.current, answer, isAgent)
      if (question && answer.author_id) onAskDraft(answer.author_id, { question, answer })
    },
    [isAgent, onAskDraft],
  )
  useImperativeHandle(ref, () => ({
    focusComposer: () => composer.current?.focus(),
    goTo: id => void goTo(id),
    offerQuestion: agentId => {
      const asked = findQuestion(latestMessages.current, agentId, isAgent)
      if (asked) composer.current?.offer(asked)
      else composer.current?.focus()
    },
    getQuestion: agentId => findQuestion(latestMessages.current, agentId, isAgent)?.question.payload.text ?? '',
  }))
  const isBetweenAgents = useIsBetweenAgents(chatId)
  const client = useQueryClient()
  const canPin = !isBetweenAgents && !isViewing()
  const comparableAgentId = useChatSelector(chatId, selectComparableAgent)
  const compare = useCallback(
    (row: TextMessageRow, agentId: string) => {
      if (!row.author_id || !isAgent(row.author_id)) return onCompare(agentId, row.payload.text)
      const question = findQuestionBefore(latestMessages.current, row, isAgent)
      onCompare(row.author_id, question?.payload.text ?? '')
    },
    [isAgent, onCompare],
  )
  const [deleting, setDeleting] = useState<{ row: DeletableRow; runs: readonly RunRow[] } | null>(null)
  const remove = useCallback(
    async (row: DeletableRow) => {
      const { deleteWithUndo, listRunsAnswering } = await import('../deleting')
      const runs = listRunsAnswering(chatState(chatId), row.id, me, workspace.role === 'editor')
      if (runs.length > 0) setDeleting({ row, runs })
      else deleteWithUndo(row)
    },
    [chatId, me, workspace.role],
  )
  const context = useMemo<ChatContextValue>(
    () => ({
      chatId,
      workspaceId: workspace.id,
      me,
      isEditor: workspace.role === 'editor',
      findActor,
      findName,
      findMessage: id => chatState(chatId).rows.message.get(id),
      reply: row => composer.current?.reply(row),
      askDraft,
      togglePin: canPin ? row => void togglePin(chatId, row) : null,
      canReact: canPin,
      copy: (id, format) => void copy(findMarkdown(chatState(chatId), id), format, findName),
      edit: isViewing() ? null : openEditOf,
      remove: isViewing() ? null : row => void remove(row),
      toggleThumb: canPin ? (row, value) => void toggleThumb(client, row, value, me) : null,
      askOtherAnswer: canPin ? runId => void askAgain(chatId, runId) : null,
      compare: comparableAgentId === null ? null : row => compare(row, comparableAgentId),
      saveDraft: onSaveDraft,
      goTo: id => void goTo(id),
      goToSeq: seq => void goToSeq(seq),
      openWorkshop,
      suggestionPath: id => suggestionPath(workspace.handle, id),
      publicAgentPath: id => publicAgentPath(workspace.handle, id),
      messagePath: (id, messageId) => messagePath(workspace.handle, id, messageId),
      budgetsPath: budgetsPath(workspace.handle),
      contextPath: contextPath(workspace.handle),
      runPath: id => runPath(workspace.handle, id),
      modelPath: workspace.verbs.includes('set_model') ? modelPath(workspace.handle) : null,
      onGo,
    }),
    [
      chatId,
      workspace,
      me,
      findActor,
      findName,
      openWorkshop,
      comparableAgentId,
      compare,
      onSaveDraft,
      askDraft,
      onGo,
      goTo,
      goToSeq,
      canPin,
      client,
      remove,
    ],
  )
  useFocusOnOpen(() => at === null && composer.current?.focus())
  useBoardsWentOn(chatId)
  useChatActions({ context, focusComposer: () => composer.current?.focus() })
  const title = useChatTitle(chatId, listedChat)
  const readMarks = useReadMarks(chatId)
  const latestLogPart = useLatest(logPart)
  const { markUnreadSeen } = reading
  const onSent = useCallback(() => {
    markUnreadSeen()
    if (latestLogPart.current.range) latestLogPart.current.toNewest()
    timeline.current?.toEnd()
  }, [markUnreadSeen])
  return (
    <ChatContext value={context}>
      <ReadMarksContext value={readMarks}>
        <Boundary>
          <Timeline
            key={logPart.generation}
            ref={timeline}
            items={items}
            messages={messages}
            part={logPart}
            reading={reading}
            target={target}
            goTo={id => void goTo(id)}
          />
        </Boundary>
        <TypingLine />
        {!isBetweenAgents && !isViewing() && hasFirstSteps(messages) ? (
          <Suspense fallback={null}>
            <FirstSteps
              messages={messages}
              workspace={workspace}
              onImprove={props.onImprove}
              onSent={onSent}
              focusComposer={() => composer.current?.focus()}
            />
          </Suspense>
        ) : null}
        {isBetweenAgents ? (
          <p className={composerStyles.readOnlyChat}>{t('betweenAgents')}</p>
        ) : isViewing() ? null : (
          <Composer ref={composer} title={title} onSent={onSent} />
        )}
        <ReactionChoice />
        {deleting ? (
          <Suspense fallback={null}>
            <DeleteDialog {...deleting} onClose={() => setDeleting(null)} />
          </Suspense>
        ) : null}
        <Announcer messages={messages} />
      </ReadMarksContext>
    </ChatContext>
  )
}

/** Focuses the composer when a chat is opened, unless another field has the focus or a soft keyboard would appear. */
function useFocusOnOpen(focus: () => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, when the chat is opened
  useEffect(() => {
    const hasOtherFocus = document.activeElement?.closest(
      '[role=dialog], [data-pane=workshop], input, textarea, select',
    )
    if (!hasOtherFocus && matchMedia('(pointer: fine)').matches) focus()
  }, [])
}

const selectAll = <T,>(value: T) => value

/** Returns the items of the log. Unsent messages and active runs are shown at its newest end. */
function useItems(
  chatId: string,
  messages: readonly MessageRow[],
  isNewest: boolean,
  unreadAfter: number | null,
  me: string,
): readonly Item[] {
  const [builder] = useState(() => new GrowingItems())
  const unsent = useUnsent(chatId)
  const active = useActiveRuns(chatId)
  const subAgentRuns = useSubAgentRuns(chatId)
  const streamingSince = useStreamingSince(chatId)
  const boards = useBoardPlaces(chatId)
  const boardsByCall = useBoardsByCall(chatId)
  const otherAnswers = useChatSelector(chatId, selectOtherAnswers, sameItems)
  const shown = useSelector(shownAnswers, selectAll)
  const placeAnswers = usePlaceAnswers(otherAnswers, active)
  useEndedBoards(chatId, messages)
  return useMemo(() => {
    const place = placeAnswers && ((items: readonly Item[]) => placeAnswers(items, otherAnswers, active, shown))
    const answers = { otherAnswers, placeAnswers: place ?? undefined }
    const older = { messages, ...answers, unsent: [], active: [], boards, boardsByCall, unreadAfter, me }
    if (!isNewest) return builder.update(older)
    const known = chatState(chatId).rows.message
    const waiting = unsent.filter(entry => !known.has(entry.id))
    const activeBoards = new Set(boards.filter(board => !board.ended_at).map(board => board.id))
    return builder.update({ ...older, unsent: waiting, active, subAgentRuns, activeBoards, streamingSince })
  }, [
    builder,
    chatId,
    messages,
    isNewest,
    unsent,
    active,
    subAgentRuns,
    boards,
    boardsByCall,
    otherAnswers,
    placeAnswers,
    shown,
    streamingSince,
    unreadAfter,
    me,
  ])
}

/** Returns the id of an agent whose draft can be compared, preferring an applied draft. */
function selectComparableAgent(chat: ChatState): string | null {
  const drafts = [...chat.rows.draft.values()].filter(draft => !isEnded(draft))
  return (drafts.find(draft => draft.applied) ?? drafts[0])?.agent_id ?? null
}
