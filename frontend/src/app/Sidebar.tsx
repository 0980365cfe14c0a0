import { Link, useParams, useRouter } from '@tanstack/react-router'
import { ChevronsUpDown, Plus, Search, Settings, SquarePen } from 'lucide-react'
import { type CSSProperties, Suspense, useState } from 'react'
import { type ListedChatRow, useAgents, useChats, useLockedDrafts, useWaitingChats } from '@/api'
import { AgentListItem, buildTree, useAgentDrag } from '@/features/agents'
import { ChatListItem, chatListItemClass } from '@/features/chats'
import { NotificationsButton } from '@/features/notifications'
import { formatShortcut } from '@/lib/actions'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { readStored } from '@/lib/storage'
import { Avatar } from '@/ui/Avatar'
import { IconButton } from '@/ui/Button'
import buttonStyles from '@/ui/Button.module.css'
import { Loading } from '@/ui/Loading'
import logoStyles from '@/ui/Logo.module.css'
import layout from '@/ui/layout.module.css'
import { lazy } from '@/ui/lazy'
import { useIsPhone } from '@/ui/useIsPhone'
import { useNameOf } from './actorLookup'
import { freezeChatOrder } from './chatOrder'
import { DirectoryLink } from './DirectoryLink'
import { FilesLink } from './FilesLink'
import { useShell } from './ShellContext'
import styles from './Sidebar.module.css'
import { SuggestionsLink } from './SuggestionsLink'
import { openWorkshopKey } from './storageKeys'
import { UsageLink } from './UsageLink'

const WorkspaceMenu = lazy(() => import('./WorkspaceMenu').then(module => ({ default: module.WorkspaceMenu })))

export function Sidebar() {
  const { t } = useTexts()
  const { me, workspace, openNewChat, openPalette } = useShell()
  return (
    <nav data-pane="sidebar" className={styles.side} aria-label={t('workspace')}>
      <div className={styles.top}>
        <WorkspaceMenuButton />
        <ShellNotifications />
        <IconButton label={t('newChat')} onClick={() => openNewChat()}>
          <SquarePen className="i" />
        </IconButton>
      </div>
      <button type="button" className={styles.find} onClick={openPalette}>
        <Search className="i s" aria-hidden />
        <span className="grow">{t('jumpTo')}</span>
        <kbd>{formatShortcut('palette.open')}</kbd>
      </button>
      <div className={styles.scroll}>
        <SuggestionsLink className={layout.nav} />
        <DirectoryLink className={layout.nav} />
        <FilesLink className={layout.nav} />
        <UsageLink className={layout.nav} />
        <SidebarChats />
        <SidebarAgents />
      </div>
      <div className={styles.me}>
        <Avatar id={me.actor.id} name={me.actor.name} avatar={me.actor.avatar} square={false} size="m" isOnline />
        <span className="cut grow">
          <b>{me.actor.name}</b> <span className="faint xs">· {t(`role.${workspace.role}`)}</span>
        </span>
        <Link
          to="/w/$workspace/settings"
          params={{ workspace: workspace.handle }}
          className={buttonStyles.ib}
          aria-label={t('settings')}
          title={t('settings')}
        >
          <Settings className="i" />
        </Link>
      </div>
    </nav>
  )
}

/** The notifications of this person in all their workspaces. Those of other workspaces than the present one are marked. */
export function ShellNotifications() {
  const { me, workspace } = useShell()
  const { history } = useRouter()
  return <NotificationsButton me={me} workspaceId={workspace.id} onGo={path => history.push(path)} />
}

/** The button of the menu of workspaces, whose code is loaded on first use. */
export function WorkspaceMenuButton() {
  const { workspace } = useShell()
  const [isRequested, setRequested] = useState(false)
  const trigger = (
    <button type="button" className={logoStyles.ws} aria-haspopup="menu" onClick={() => setRequested(true)}>
      <span className={logoStyles.logo} aria-hidden>
        {Array.from(workspace.name)[0]?.toUpperCase()}
      </span>
      <span className="cut">{workspace.name}</span>
      <ChevronsUpDown className="i s faint" aria-hidden />
    </button>
  )
  if (!isRequested) return trigger
  return (
    <Suspense fallback={trigger}>
      <WorkspaceMenu trigger={trigger} />
    </Suspense>
  )
}

/** Returns the search parameters that reopen the workshop that was last open in a chat. */
function readOpenWorkshop(chatId: string): { workshop?: string } {
  const workshop = readStored<string | null>(openWorkshopKey(chatId), null)
  return workshop ? { workshop } : {}
}

/** The chats and the direct chats, each with a heading: in the sidebar and, on a phone, on the start page. */
export function SidebarChats() {
  const { t } = useTexts()
  const { workspace, chats, openNewChat } = useShell()
  const query = useChats(workspace.id)
  const open = useParams({ strict: false }).chat
  const direct = chats?.filter(row => row.chat.is_direct && (row.chat.id === open || !isHidden(row))) ?? []
  return (
    <>
      <h2>
        {t('chats')}
        <IconButton small label={t('newChat')} onClick={() => openNewChat()}>
          <Plus className="i" />
        </IconButton>
      </h2>
      {chats ? <ChatLinks chats={chats.filter(row => !row.chat.is_direct)} /> : <Loading query={query} />}
      {direct.length > 0 ? <h2>{t('directChats')}</h2> : null}
      <ChatLinks chats={direct} />
    </>
  )
}

/** Returns whether the reader has hidden the direct chat, and no message has been posted since. */
const isHidden = ({ hidden_seq, last_message }: ListedChatRow) =>
  hidden_seq !== null && (last_message?.seq ?? 0) <= hidden_seq

function ChatLinks({ chats }: { chats: readonly ListedChatRow[] }) {
  const isPhone = useIsPhone()
  const { me, workspace } = useShell()
  const waiting = useWaitingChats()
  const open = useParams({ strict: false }).chat
  return chats.map(row => (
    <Link
      key={row.chat.id}
      onPointerMove={freezeChatOrder}
      to="/w/$workspace/c/$chat"
      params={{ workspace: workspace.handle, chat: row.chat.id }}
      search={isPhone ? {} : readOpenWorkshop(row.chat.id)}
      activeOptions={{ includeSearch: false }}
      className={chatListItemClass(row, row.chat.id === open)}
      activeProps={{ 'aria-current': 'page' }}
    >
      <ChatListItem row={row} me={me.actor.id} isCurrent={row.chat.id === open} waits={waiting.includes(row.chat.id)} />
    </Link>
  ))
}

/** The heading and the agents, in the sidebar. */
function SidebarAgents() {
  const { t } = useTexts()
  return (
    <>
      <h2>
        {t('agents')}
        <NewAgentButton small />
      </h2>
      <AgentList />
    </>
  )
}

export function NewAgentButton({ small = false }: { small?: boolean }) {
  const { t } = useTexts()
  const { workspace, openNewAgent } = useShell()
  if (!workspace.verbs.includes('create_agent')) return null
  return (
    <IconButton small={small} label={t('newAgent')} onClick={openNewAgent}>
      <Plus className="i" />
    </IconButton>
  )
}

export function AgentList() {
  const { t } = useTexts()
  const { me, workspace } = useShell()
  const agents = useAgents(workspace.id)
  const lockedDrafts = useLockedDrafts(workspace.id).data
  const chat = useParams({ strict: false }).chat ?? ''
  const nameOf = useNameOf()
  const { getDragProps, topProps } = useAgentDrag(workspace.id, agents.data ?? [])
  if (!agents.data) return <Loading query={agents} lines={3} />
  const rows = buildTree(agents.data).map(({ agent, depth }) => (
    <Link
      key={agent.actor.id}
      to="/w/$workspace/agents/$agent"
      params={{ workspace: workspace.handle, agent: agent.actor.id }}
      className={cx(layout.nav, styles.agent)}
      style={{ '--depth': Math.min(depth, 6) } as CSSProperties}
      {...getDragProps(agent)}
      activeProps={{ 'aria-current': 'page' }}
    >
      <AgentListItem
        agent={agent}
        chatId={chat}
        draftElsewhere={lockedDrafts?.find(draft => draft.agent_id === agent.actor.id && draft.chat_id !== chat)}
        me={me.actor.id}
        nameOf={nameOf}
      />
    </Link>
  ))
  return (
    <>
      {rows}
      {topProps ? (
        <div className={cx(layout.nav, styles.agent, styles.toTop, 'faint xs')} {...topProps}>
          {t('tree.toTop')}
        </div>
      ) : null}
    </>
  )
}
