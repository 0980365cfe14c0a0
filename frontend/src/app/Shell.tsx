import { Outlet, useMatchRoute, useNavigate, useParams, useRouter } from '@tanstack/react-router'
import { Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { useMe, useMembers } from '@/api'
import { NewAgentDialog } from '@/features/agents'
import { ConnectionBanner, NewChatDialog } from '@/features/chats'
import { useFileRefusal } from '@/features/files'
import { BrowserNotifier, UnreadAnnouncer, useBrowserState } from '@/features/notifications'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { readStored, writeStored } from '@/lib/storage'
import { isViewing } from '@/lib/viewing'
import buttonStyles from '@/ui/Button.module.css'
import { lazy } from '@/ui/lazy'
import { useAgentStates } from './agentStates'
import { useOrderedChats } from './chatOrder'
import { NotFound } from './ErrorPages'
import { findWorkspace } from './findWorkspace'
import { useListChanges } from './listChanges'
import styles from './Shell.module.css'
import { ShellContext, type ShellValue } from './ShellContext'
import { Sidebar } from './Sidebar'
import sidebarStyles from './Sidebar.module.css'
import { useShellActions } from './shellActions'
import { skipToMain } from './skipToMain'
import { LAST_WORKSPACE_KEY } from './storageKeys'
import { TabBar } from './TabBar'

const Palette = lazy(() => import('./Palette').then(module => ({ default: module.Palette })))
const SettingsSide = lazy(() => import('./SettingsSide').then(module => ({ default: module.SettingsSide })))
const KeysDialog = lazy(() => import('./KeysDialog').then(module => ({ default: module.KeysDialog })))

type OpenDialog = 'palette' | 'keys' | 'agent' | { chatWith: readonly string[] } | null

/** The frame of all screens of a workspace: the sidebar, the screen, and dialogs. */
export function Shell() {
  const { workspace: handle } = useParams({ from: '/w/$workspace' })
  const me = useMe().data
  const workspace = findWorkspace(me?.workspaces ?? [], handle)
  const { history } = useRouter()

  useEffect(() => {
    if (!workspace) return
    writeStored(LAST_WORKSPACE_KEY, workspace.handle)
    const { href } = history.location
    if (workspace.handle !== handle) history.replace(href.replace(`/w/${handle}`, `/w/${workspace.handle}`))
  }, [workspace, handle, history])

  if (!me) return null
  if (workspace) return <WorkspaceShell key={workspace.id} me={me} workspace={workspace} />
  // An unknown workspace in the URL shows "not found" within another workspace of this person.
  const last = readStored(LAST_WORKSPACE_KEY, '')
  const other = findWorkspace(me.workspaces, last) ?? me.workspaces[0]
  return other ? <WorkspaceShell key={other.id} me={me} workspace={other} isMissing /> : <NotFound />
}

interface WorkspaceShellProps extends Pick<ShellValue, 'me' | 'workspace'> {
  /** The URL names no workspace of this person: `workspace` is another one, and the screen is "not found". */
  isMissing?: boolean
}

function WorkspaceShell({ me, workspace, isMissing = false }: WorkspaceShellProps) {
  const { t } = useTexts()
  const navigate = useNavigate()
  const { history } = useRouter()
  const matchRoute = useMatchRoute()
  const [open, setOpen] = useState<OpenDialog>(null)
  const close = () => setOpen(null)
  useListChanges(workspace.id, me.actor.id)
  useAgentStates(workspace.id)
  useMembers(workspace.id) // read early, because many screens show names of members
  useFileRefusal()
  const chats = useOrderedChats(workspace.id)
  const { chat: openChatId } = useParams({ strict: false })
  const isNotifier = useBrowserState() === 'on' && !isViewing()
  const openPalette = useCallback(() => setOpen('palette'), [])
  useShellActions({
    workspace,
    chats,
    openPalette,
    openKeys: () => setOpen('keys'),
    createChat: () => setOpen({ chatWith: [] }),
    createAgent: workspace.verbs.includes('create_agent') ? () => setOpen('agent') : null,
  })

  const value = useMemo<ShellValue>(
    () => ({
      me,
      workspace,
      chats,
      openPalette,
      openNewChat: (withIds = []) => setOpen({ chatWith: withIds }),
      openNewAgent: () => setOpen('agent'),
    }),
    [me, workspace, chats, openPalette],
  )
  const goToChat = (chat: string) =>
    void navigate({ to: '/w/$workspace/c/$chat', params: { workspace: workspace.handle, chat } })
  const isInChat = Boolean(matchRoute({ to: '/w/$workspace/c/$chat' }))
  const isInSettings = !isMissing && Boolean(matchRoute({ to: '/w/$workspace/settings' }))
  const chatWith = typeof open === 'object' && open ? open.chatWith : null
  return (
    <ShellContext value={value}>
      <button type="button" className={cx(buttonStyles.btn, 'skip')} onClick={skipToMain}>
        {t('skip')}
      </button>
      <div className={styles.frame} data-shell>
        {isInSettings ? (
          <Suspense fallback={<nav className={sidebarStyles.side} />}>
            <SettingsSide />
          </Suspense>
        ) : (
          <Sidebar />
        )}
        {isMissing ? <NotFound /> : <Outlet />}
        {isInChat ? null : <ConnectionBanner floats />}
        {isInChat ? null : <TabBar />}
        <UnreadAnnouncer />
      </div>
      <Suspense fallback={null}>
        {isNotifier ? <BrowserNotifier me={me} openChatId={openChatId} onGo={path => history.push(path)} /> : null}
        {chatWith ? (
          <NewChatDialog workspaceId={workspace.id} open onOpenChange={close} onMade={goToChat} withIds={chatWith} />
        ) : null}
        {open === 'agent' ? (
          <NewAgentDialog
            workspaceId={workspace.id}
            open
            onOpenChange={close}
            onMade={chatId => chatId && goToChat(chatId)}
          />
        ) : null}
        {open === 'palette' ? <Palette onClose={close} /> : null}
        {open === 'keys' ? <KeysDialog onClose={close} /> : null}
      </Suspense>
    </ShellContext>
  )
}
