import { useLocation, useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { type CSSProperties, type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { useAgent, useAgents, useChats } from '@/api'
import { applyDraft, type WorkshopHandle, WorkshopPanel } from '@/features/agents'
import {
  type AskedQuestion,
  BackButton,
  type ChatHandle,
  ChatHeader,
  ChatPage,
  send,
  useIsClosed,
  useLastAnswerer,
  useParticipants,
} from '@/features/chats'
import { loadMarkWords } from '@/features/search'
import { useActions } from '@/lib/actions'
import { cx } from '@/lib/cx'
import { newId } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { writeStored } from '@/lib/storage'
import { Boundary } from '@/ui/Boundary'
import { LoadError } from '@/ui/LoadError'
import layout from '@/ui/layout.module.css'
import { Skeleton } from '@/ui/Skeleton'
import { useIsPhone } from '@/ui/useIsPhone'
import { useActorLookup } from './actorLookup'
import { Resizer, useWorkshopWidth } from './Resizer'
import shellStyles from './Shell.module.css'
import { useShell } from './ShellContext'
import { lastChatKey, openWorkshopKey } from './storageKeys'
import { useTitle } from './unreadTitle'
import { useOpenDirectChat } from './useOpenDirectChat'

/** A chat, and beside it the workshop of one of its agents. */
export function ChatScreen() {
  const { t } = useTexts()
  const { me, workspace } = useShell()
  const { chat: chatId } = useParams({ from: '/w/$workspace/c/$chat' })
  const { workshop: workshopAgentId, find } = useSearch({ from: '/w/$workspace/c/$chat' })
  const messageId = useLocation({ select: location => location.hash }) || null
  const visit = useLocation({ select: location => location.state.__TSR_key }) // changes with each navigation
  const navigate = useNavigate()
  const { history } = useRouter()
  const listedChat = useChats(workspace.id).data?.find(row => row.chat.id === chatId)
  const agents = useAgents(workspace.id).data ?? []
  const agentsHere = useParticipants(chatId)
    .map(participant => participant.actor)
    .filter(actor => actor.kind === 'agent' && !actor.is_public)
  const agent = agents.find(row => row.actor.id === workshopAgentId)
  const production = useAgent(workspace.id, workshopAgentId)
  const role = useRole(agent !== undefined)
  const findActor = useActorLookup()
  const [width, setWidth] = useWorkshopWidth()
  const title = listedChat?.chat.title
  const root = useRef<HTMLDivElement>(null)

  useEffect(() => {
    if (!find) return
    const marks = loadMarkWords().then(markWords => root.current && markWords(root.current, find))
    return () => void marks.then(remove => remove?.())
  }, [find])
  useEffect(() => writeStored(lastChatKey(workspace.id), chatId), [workspace.id, chatId])
  useEffect(() => writeStored(openWorkshopKey(chatId), workshopAgentId ?? null), [chatId, workshopAgentId])
  const isClosed = useIsClosed(chatId)
  useTitle(title ?? (isClosed ? t('chatClosed') : undefined))

  const goToChat = useCallback(
    (chat: string, workshopAgentId: string | null) =>
      void navigate({
        to: '/w/$workspace/c/$chat',
        params: { workspace: workspace.handle, chat },
        search: workshopAgentId ? { workshop: workshopAgentId } : {},
      }),
    [navigate, workspace.handle],
  )
  const openDirectChat = useOpenDirectChat()
  const goToPath = useCallback((path: string) => history.push(path), [history])
  const openWorkshop = useCallback((id: string) => goToChat(chatId, id), [goToChat, chatId])
  const [comparedText, setComparedText] = useState<string | null>(null)
  const compare = useCallback(
    (agentId: string, text: string) => {
      openWorkshop(agentId)
      setComparedText(text)
    },
    [openWorkshop],
  )
  const [isSaveRequested, setSaveRequested] = useState(false)
  const saveDraft = useCallback(
    (agentId: string) => {
      openWorkshop(agentId)
      setSaveRequested(true)
    },
    [openWorkshop],
  )
  const [requestedLine, setRequestedLine] = useState<string | null>(null)
  const improve = useCallback(
    (agentId: string, line: string) => {
      openWorkshop(agentId)
      setRequestedLine(line)
    },
    [openWorkshop],
  )
  const chat = useRef<ChatHandle>(null)
  const workshop = useRef<WorkshopHandle>(null)
  const [isPromptFocusRequested, setPromptFocusRequested] = useState(false)
  const answerer = useLastAnswerer(chatId)
  const defaultAgentId = (agentsHere.find(actor => actor.id === answerer) ?? agentsHere[0])?.id
  const toggleWorkshop = defaultAgentId ? () => goToChat(chatId, agent ? null : defaultAgentId) : null
  const toggleWorkshopFocus = (id: string) => {
    if (agent && isInWorkshop()) {
      goToChat(chatId, null)
      chat.current?.focusComposer()
      return
    }
    if (!agent) openWorkshop(id)
    setPromptFocusRequested(true)
  }
  useActions(() => ({ 'workshop.toggle': defaultAgentId ? () => toggleWorkshopFocus(defaultAgentId) : null }))
  const askDraft = useCallback(
    async (agentId: string, { question, answer }: AskedQuestion) => {
      const isOpen = workshop.current !== null && agentId === workshopAgentId
      const isApplied = isOpen ? await workshop.current?.apply() : await applyDraft(chatId, agentId, me.actor.id)
      const { text } = question.payload
      if (isApplied) void send(chatId, { id: newId(), text, reply_to: answer.id, wake: 'auto' })
    },
    [chatId, workshopAgentId, me.actor.id],
  )

  return (
    <div
      ref={root}
      className={cx(shellStyles.app, agent && shellStyles.withWorkshop)}
      data-view={agent ? 'workshop' : undefined}
      role={role}
      style={width ? ({ '--workshop-width': width } as CSSProperties) : undefined}
    >
      <ChatPage
        ref={chat}
        chatId={chatId}
        workspace={workspace}
        listedChat={listedChat}
        me={me.actor.id}
        at={messageId}
        visit={visit}
        openWorkshop={openWorkshop}
        onCompare={compare}
        onAskDraft={askDraft}
        onSaveDraft={saveDraft}
        onImprove={improve}
        onGo={goToPath}
        header={
          <ChatHeader
            chatId={chatId}
            workspace={workspace}
            listedChat={listedChat}
            isWorkshopOpen={Boolean(agent)}
            onWorkshop={toggleWorkshop}
            onMessage={openDirectChat}
            goTo={id => chat.current?.goTo(id)}
            back={
              <BackButton
                label={t('chats')}
                onClick={() => void navigate({ to: '/w/$workspace', params: { workspace: workspace.handle } })}
              />
            }
          />
        }
      />
      {agent && !production.data ? (
        <WorkshopPlaceholder>
          {production.error ? <LoadError error={production.error} onRetry={() => void production.refetch()} /> : null}
        </WorkshopPlaceholder>
      ) : null}
      {agent && production.data ? (
        <Suspense fallback={<WorkshopPlaceholder />}>
          <Boundary resetKeys={[chatId, agent.actor.id]}>
            <WorkshopPanel
              key={`${chatId} ${agent.actor.id}`}
              ref={workshop}
              resizer={<Resizer onWidth={setWidth} />}
              chatId={chatId}
              workspace={workspace}
              agent={production.data}
              agents={agentsHere}
              me={me.actor}
              findActor={findActor}
              onAgent={openWorkshop}
              onClose={() => goToChat(chatId, null)}
              onGoToChat={chat => goToChat(chat, agent.actor.id)}
              onGo={goToPath}
              comparedText={comparedText}
              onComparedText={setComparedText}
              getQuestion={() => chat.current?.getQuestion(agent.actor.id) ?? ''}
              isPromptFocusRequested={isPromptFocusRequested}
              onPromptFocused={() => setPromptFocusRequested(false)}
              isSaveRequested={isSaveRequested}
              onSaveHandled={() => setSaveRequested(false)}
              requestedLine={requestedLine}
              onLineAdded={() => setRequestedLine(null)}
              onApplied={() => chat.current?.offerQuestion(agent.actor.id)}
              onSaved={() => chat.current?.focusComposer()}
            />
          </Boundary>
        </Suspense>
      ) : null}
    </div>
  )
}

/** On a phone, the workshop takes the place of the chat, whose main part is hidden. */
const useRole = (isWorkshopOpen: boolean) => (useIsPhone() && isWorkshopOpen ? 'main' : undefined)

/** Shown in place of the workshop until the workshop and its agent are loaded. */
function WorkshopPlaceholder({ children }: { children?: ReactNode }) {
  const { t } = useTexts()
  return (
    <aside className={layout.panel} data-pane="workshop">
      {children ?? <Skeleton lines={6} label={t('loading')} />}
    </aside>
  )
}

const isInWorkshop = () => document.activeElement?.closest('[data-pane=workshop]') != null
