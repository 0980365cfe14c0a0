import { Navigate } from '@tanstack/react-router'
import { MessagesSquare, Search } from 'lucide-react'
import { useChats } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { readStored } from '@/lib/storage'
import { Button, IconButton } from '@/ui/Button'
import { EmptyState } from '@/ui/EmptyState'
import { Loading } from '@/ui/Loading'
import layout from '@/ui/layout.module.css'
import { useIsPhone } from '@/ui/useIsPhone'
import { useShell } from './ShellContext'
import { ShellNotifications, SidebarChats, WorkspaceMenuButton } from './Sidebar'
import sidebarStyles from './Sidebar.module.css'
import { lastChatKey } from './storageKeys'
import { useTitle } from './unreadTitle'

/** The start page of a workspace: on a wide screen it goes to the last open chat, on a phone it shows the list of chats. */
export function HomeScreen() {
  const { workspace } = useShell()
  const isPhone = useIsPhone()
  const query = useChats(workspace.id)
  const chats = query.data
  if (isPhone) return <PhoneChatList />
  if (!chats) {
    return (
      <main className={layout.stage}>
        <Loading query={query} lines={6} />
      </main>
    )
  }
  const last = readStored(lastChatKey(workspace.id), '')
  const chat = chats.find(row => row.chat.id === last) ?? chats[0]
  if (!chat) return <NoChats />
  return <Navigate to="/w/$workspace/c/$chat" params={{ workspace: workspace.handle, chat: chat.chat.id }} replace />
}

function PhoneChatList() {
  const { t } = useTexts()
  const { workspace, openPalette } = useShell()
  useTitle(workspace.name)
  const chats = useChats(workspace.id).data
  return (
    <main className={cx(layout.stage, sidebarStyles.phonelist)}>
      <header className={layout.bar}>
        <h1 className="sr">{workspace.name}</h1>
        <WorkspaceMenuButton />
        <div className="end">
          <IconButton label={t('palette')} onClick={openPalette}>
            <Search className="i" />
          </IconButton>
          <ShellNotifications />
        </div>
      </header>
      <div className={cx(layout.page, sidebarStyles.phonepage)}>
        <SidebarChats />
        {chats?.length === 0 ? <NoChatsNotice /> : null}
      </div>
    </main>
  )
}

function NoChats() {
  useTitle(useShell().workspace.name)
  return (
    <main className={cx(layout.stage, layout.middle)}>
      <NoChatsNotice />
    </main>
  )
}

function NoChatsNotice() {
  const { t } = useTexts()
  const { workspace, openNewChat, openNewAgent } = useShell()
  return (
    <EmptyState
      icon={MessagesSquare}
      title={t('noChats')}
      actions={
        <>
          <Button tone="ink" onClick={() => openNewChat()}>
            {t('newChat')}
          </Button>
          {workspace.verbs.includes('create_agent') ? <Button onClick={openNewAgent}>{t('newAgent')}</Button> : null}
        </>
      }
    >
      {t('noChatsHint')}
    </EmptyState>
  )
}
