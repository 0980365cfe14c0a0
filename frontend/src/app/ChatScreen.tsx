import { useLocation, useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { type CSSProperties, Suspense, useCallback, useEffect, useState } from 'react'
import { useAgents, useChats } from '@/api'
import { WorkshopPanel } from '@/features/agents'
import { BackButton, ChatHeader, ChatPage, usePlaces } from '@/features/chats'
import { cx } from '@/lib/cx'
import { hasModifier } from '@/lib/keys'
import { useTexts } from '@/lib/language'
import { keep } from '@/lib/stored'
import { Skeleton } from '@/ui/Skeleton'
import { lastChat } from './HomeScreen'
import { useUnread, useWho } from './names'
import { Resizer, useShopWidth } from './Resizer'
import { useShell } from './ShellContext'

/** A chat, and beside it the workshop of one of its agents. */
export function ChatScreen() {
  const { t } = useTexts()
  const { me, workspace } = useShell()
  const { chat: chatId } = useParams({ from: '/w/$workspace/c/$chat' })
  const { shop } = useSearch({ from: '/w/$workspace/c/$chat' })
  const at = useLocation({ select: location => location.hash }) || null
  const navigate = useNavigate()
  const { history } = useRouter()
  const summary = useChats(workspace.id).data?.find(each => each.chat.id === chatId)
  const agents = useAgents(workspace.id).data ?? []
  const inRoom = usePlaces(chatId)
    .map(place => place.actor)
    .filter(actor => actor.kind === 'agent')
  const agent = agents.find(each => each.actor.id === shop)
  const who = useWho()
  const [width, setWidth] = useShopWidth()
  const title = summary?.chat.title
  const unread = useUnread()

  useEffect(() => keep(lastChat(workspace.id), chatId), [workspace.id, chatId])
  useEffect(() => {
    const news = unread > 0 ? `(${unread}) ` : ''
    document.title = `${news}${title ? `${title} · ` : ''}Atelier`
  }, [title, unread])

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
  const first = inRoom[0]?.id
  const toggle = first ? () => go(chatId, agent ? null : first) : null
  useWorkshopKey(toggle)

  return (
    <div
      className={cx('app', agent && 'with-shop')}
      data-view={agent ? 'shop' : undefined}
      style={width ? ({ '--shop': width } as CSSProperties) : undefined}
    >
      <ChatPage
        chatId={chatId}
        workspace={workspace}
        summary={summary}
        me={me.actor.id}
        at={at}
        openWorkshop={openWorkshop}
        onCompare={compare}
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
                onClick={() => void navigate({ to: '/w/$workspace', params: { workspace: workspace.handle } })}
              />
            }
          />
        }
      />
      {agent ? (
        <Suspense
          fallback={
            <aside className="shop">
              <Skeleton lines={6} label={t('loading')} />
            </aside>
          }
        >
          <Resizer onWidth={setWidth} />
          <WorkshopPanel
            key={`${chatId} ${agent.actor.id}`}
            chatId={chatId}
            workspace={workspace}
            agent={agent}
            agents={inRoom}
            me={me.actor}
            who={who}
            onAgent={openWorkshop}
            onClose={() => go(chatId, null)}
            onGoToChat={chat => go(chat, agent.actor.id)}
            onGo={goToPath}
            comparing={comparing}
            onComparing={setComparing}
          />
        </Suspense>
      ) : null}
    </div>
  )
}

/** Ctrl/⌘ . opens and closes the workshop. */
function useWorkshopKey(toggle: (() => void) | null): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '.' || event.shiftKey || !hasModifier(event)) return
      event.preventDefault()
      toggle?.()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [toggle])
}
