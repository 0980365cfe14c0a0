import { Link, useParams, useRouter } from '@tanstack/react-router'
import { ChevronsUpDown, Plus, Search, Settings, SquarePen } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useAgents, useChats } from '@/api'
import { AgentLine } from '@/features/agents'
import { ChatLine, chatLineClass } from '@/features/chats'
import { Bell } from '@/features/notifications'
import { chord } from '@/lib/keys'
import { useTexts } from '@/lib/language'
import { IconButton } from '@/ui/Button'
import { Face } from '@/ui/Face'
import { lazy } from '@/ui/lazy'
import { Skeleton } from '@/ui/Skeleton'
import { useNameOf } from './names'
import { useShell } from './ShellContext'
import { SuggestionsLink } from './SuggestionsLink'

const Workspaces = lazy(() => import('./Workspaces').then(module => ({ default: module.Workspaces })))

export function Sidebar({ onFind }: { onFind(): void }) {
  const { t } = useTexts()
  const { me, workspace, newChat } = useShell()
  return (
    <nav className="side" aria-label={t('workspace')}>
      <div className="top">
        <WorkspaceMenu />
        <NewsBell />
        <IconButton label={t('newChat')} onClick={() => newChat()}>
          <SquarePen className="i" />
        </IconButton>
      </div>
      <button type="button" className="find" onClick={onFind}>
        <Search className="i s" aria-hidden />
        <span className="grow">{t('jumpTo')}</span>
        <kbd>{chord('K')}</kbd>
      </button>
      <div className="scroll">
        <SuggestionsLink className="nav" />
        <Chats />
        <Agents />
      </div>
      <div className="me">
        <Face id={me.actor.id} name={me.actor.name} square={false} size="m" here />
        <span className="cut grow">
          <b>{me.actor.name}</b> <span className="faint xs">· {t(`role.${workspace.role}`)}</span>
        </span>
        <Link
          to="/w/$workspace/settings"
          params={{ workspace: workspace.handle }}
          className="ib"
          aria-label={t('settings')}
          title={t('settings')}
        >
          <Settings className="i" />
        </Link>
      </div>
    </nav>
  )
}

/** The bell of what concerns this person, in all their workspaces. */
export function NewsBell() {
  const { me, workspace } = useShell()
  const { history } = useRouter()
  return <Bell me={me} workspaceId={workspace.id} onGo={path => history.push(path)} />
}

/** The menu of workspaces; what draws menus comes with the first use. */
export function WorkspaceMenu() {
  const { workspace } = useShell()
  const [isWanted, setWanted] = useState(false)
  const trigger = (
    <button type="button" className="ws" aria-haspopup="menu" onClick={() => setWanted(true)}>
      <span className="logo" aria-hidden>
        {Array.from(workspace.name)[0]?.toUpperCase()}
      </span>
      <span className="cut">{workspace.name}</span>
      <ChevronsUpDown className="i s faint" aria-hidden />
    </button>
  )
  if (!isWanted) return trigger
  return (
    <Suspense fallback={trigger}>
      <Workspaces trigger={trigger} />
    </Suspense>
  )
}

export function Chats() {
  const { t } = useTexts()
  const { me, workspace, newChat } = useShell()
  const chats = useChats(workspace.id)
  const open = useParams({ strict: false }).chat
  return (
    <>
      <h2>
        {t('chats')}
        <IconButton small label={t('newChat')} onClick={() => newChat()}>
          <Plus className="i" />
        </IconButton>
      </h2>
      {chats.data ? (
        chats.data.map(summary => (
          <Link
            key={summary.chat.id}
            to="/w/$workspace/c/$chat"
            params={{ workspace: workspace.handle, chat: summary.chat.id }}
            className={chatLineClass(summary, summary.chat.id === open)}
            activeProps={{ 'aria-current': 'page' }}
          >
            <ChatLine summary={summary} me={me.actor.id} isCurrent={summary.chat.id === open} />
          </Link>
        ))
      ) : (
        <Skeleton lines={4} label={t('loading')} />
      )}
    </>
  )
}

export function Agents() {
  const { t } = useTexts()
  const { workspace, newAgent } = useShell()
  const agents = useAgents(workspace.id)
  const chat = useParams({ strict: false }).chat ?? ''
  const nameOf = useNameOf()
  return (
    <>
      <h2>
        {t('agents')}
        {workspace.verbs.includes('create_agent') ? (
          <IconButton small label={t('newAgent')} onClick={newAgent}>
            <Plus className="i" />
          </IconButton>
        ) : null}
      </h2>
      {agents.data ? (
        agents.data.map(agent => (
          <Link
            key={agent.actor.id}
            to="/w/$workspace/agents/$agent"
            params={{ workspace: workspace.handle, agent: agent.actor.id }}
            className="nav"
            activeProps={{ 'aria-current': 'page' }}
          >
            <AgentLine agent={agent} chatId={chat} nameOf={nameOf} />
          </Link>
        ))
      ) : (
        <Skeleton lines={3} label={t('loading')} />
      )}
    </>
  )
}
