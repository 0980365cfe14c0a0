import { useLocation, useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { type CSSProperties, type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { type TextMessageRow, useAgent, useAgents, useChats } from '@/api'
import { applyDraft, type WorkshopHandle, WorkshopPanel } from '@/features/agents'
import {
  BackButton,
  type ChatHandle,
  ChatHeader,
  ChatPage,
  send,
  useChatMembers,
  useIsClosed,
  useLastAnswerer,
} from '@/features/chats'
import { useActions } from '@/lib/actions'
import { cx } from '@/lib/cx'
import { newId } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { writeStored } from '@/lib/storage'
import { Boundary } from '@/ui/Boundary'
import { LoadError } from '@/ui/LoadError'
import layout from '@/ui/layout.module.css'
import { Skeleton } from '@/ui/Skeleton'
import { useActorLookup, useTitle } from './actorLookup'
import { lastChat } from './HomeScreen'
import { Resizer, useShopWidth } from './Resizer'
import shellStyles from './Shell.module.css'
import { useShell } from './ShellContext'
import { openWorkshopIn } from './storageKeys'

/** A chat, and beside it the workshop of one of its agents. */
export function ChatScreen() {
  const { t } = useTexts()
  const { me, workspace } = useShell()
  const { chat: chatId } = useParams({ from: '/w/$workspace/c/$chat' })
  const { shop } = useSearch({ from: '/w/$workspace/c/$chat' })
  const at = useLocation({ select: location => location.hash }) || null
  const visit = useLocation({ select: location => location.state.__TSR_key })
  const navigate = useNavigate()
  const { history } = useRouter()
  const summary = useChats(workspace.id).data?.find(each => each.chat.id === chatId)
  const agents = useAgents(workspace.id).data ?? []
  const agentsHere = useChatMembers(chatId)
    .map(member => member.actor)
    .filter(actor => actor.kind === 'agent')
  const agent = agents.find(each => each.actor.id === shop)
  const production = useAgent(workspace.id, shop)
  const who = useActorLookup()
  const [width, setWidth] = useShopWidth()
  const title = summary?.chat.title

  useEffect(() => writeStored(lastChat(workspace.id), chatId), [workspace.id, chatId])
  useEffect(() => writeStored(openWorkshopIn(chatId), shop ?? null), [chatId, shop])
  const isClosed = useIsClosed(chatId)
  useTitle(title ?? (isClosed ? t('chatClosed') : undefined))

  const go = useCallback(
    (chat: string, open: string | null) =>
      void navigate({
        to: '/w/$workspace/c/$chat',
        params: { workspace: workspace.handle, chat },
        search: open ? { shop: open } : {},
      }),
    [navigate, workspace.handle],
  )
  const goToPath = useCallback((path: string) => history.push(path), [history])
  const openWorkshop = useCallback((id: string) => go(chatId, id), [go, chatId])
  const [comparing, setComparing] = useState<string | null>(null)
  const compare = useCallback(
    (agentId: string, text: string) => {
      openWorkshop(agentId)
      setComparing(text)
    },
    [openWorkshop],
  )
  const chat = useRef<ChatHandle>(null)
  const workshop = useRef<WorkshopHandle>(null)
  const [wantsCaret, setWantsCaret] = useState(false)
  const answerer = useLastAnswerer(chatId)
  const first = (agentsHere.find(actor => actor.id === answerer) ?? agentsHere[0])?.id
  const toggle = first ? () => go(chatId, agent ? null : first) : null
  const moveToWorkshop = (id: string) => {
    if (agent && isInWorkshop()) {
      go(chatId, null)
      chat.current?.focusComposer()
      return
    }
    if (!agent) openWorkshop(id)
    setWantsCaret(true)
  }
  useActions(() => ({ 'workshop.toggle': first ? () => moveToWorkshop(first) : null }))
  const askDraft = useCallback(
    async (agentId: string, question: TextMessageRow) => {
      const isOpen = workshop.current !== null && agentId === shop
      const isApplied = isOpen ? await workshop.current?.apply() : await applyDraft(chatId, agentId, me.actor.id)
      const { text } = question.payload
      const { reply_to } = question
      if (isApplied) void send(chatId, { id: newId(), text, ...(reply_to ? { reply_to } : {}), wake: 'auto' })
    },
    [chatId, shop, me.actor.id],
  )

  return (
    <div
      className={cx(shellStyles.app, agent && shellStyles.withWorkshop)}
      data-view={agent ? 'shop' : undefined}
      style={width ? ({ '--shop': width } as CSSProperties) : undefined}
    >
      <ChatPage
        ref={chat}
        chatId={chatId}
        workspace={workspace}
        summary={summary}
        me={me.actor.id}
        at={at}
        visit={visit}
        openWorkshop={openWorkshop}
        onCompare={compare}
        onAskDraft={askDraft}
        onGo={goToPath}
        header={
          <ChatHeader
            chatId={chatId}
            workspace={workspace}
            summary={summary}
            isWorkshopOpen={Boolean(agent)}
            onWorkshop={toggle}
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
          <Resizer onWidth={setWidth} />
          <Boundary resetKeys={[chatId, agent.actor.id]}>
            <WorkshopPanel
              key={`${chatId} ${agent.actor.id}`}
              ref={workshop}
              chatId={chatId}
              workspace={workspace}
              agent={production.data}
              agents={agentsHere}
              me={me.actor}
              who={who}
              onAgent={openWorkshop}
              onClose={() => go(chatId, null)}
              onGoToChat={chat => go(chat, agent.actor.id)}
              onGo={goToPath}
              comparing={comparing}
              onComparing={setComparing}
              wantsCaret={wantsCaret}
              onCaret={() => setWantsCaret(false)}
              onApplied={() => chat.current?.offerQuestion(agent.actor.id)}
              onSaved={() => chat.current?.focusComposer()}
            />
          </Boundary>
        </Suspense>
      ) : null}
    </div>
  )
}

/** In place of the workshop, until it and its agent are here. */
function WorkshopPlaceholder({ children }: { children?: ReactNode }) {
  const { t } = useTexts()
  return (
    <aside className={layout.panel} data-pane="workshop">
      {children ?? <Skeleton lines={6} label={t('loading')} />}
    </aside>
  )
}

const isInWorkshop = () => document.activeElement?.closest('[data-pane=workshop]') != null
