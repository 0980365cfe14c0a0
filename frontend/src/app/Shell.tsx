import { Outlet, useMatchRoute, useNavigate, useParams } from '@tanstack/react-router'
import { Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { useMe, useMembers } from '@/api'
import { NewAgentDialog } from '@/features/agents'
import { ConnectionBanner, NewChatDialog, useFileRefusal } from '@/features/chats'
import { UnreadAnnouncer } from '@/features/notifications'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { readStored, writeStored } from '@/lib/storage'
import buttonStyles from '@/ui/Button.module.css'
import { lazy } from '@/ui/lazy'
import { useAgentStates } from './agentStates'
import { useOrderedChats } from './chatOrder'
import { NotFound } from './ErrorPages'
import { useListChanges } from './listChanges'
import { SettingsSide } from './SettingsSide'
import styles from './Shell.module.css'
import { ShellContext, type ShellValue } from './ShellContext'
import { Sidebar } from './Sidebar'
import { useShellActions } from './shellActions'
import { lastWorkspace } from './storageKeys'
import { TabBar } from './TabBar'

const Palette = lazy(() => import('./Palette').then(module => ({ default: module.Palette })))
const KeysDialog = lazy(() => import('./KeysDialog').then(module => ({ default: module.KeysDialog })))

type Open = 'palette' | 'keys' | 'agent' | { chatWith: readonly string[] } | null

/** The frame around everything in a workspace: sidebar, stage, and what floats over them. */
export function Shell() {
  const { workspace: handle } = useParams({ from: '/w/$workspace' })
  const me = useMe().data
  const workspace = me?.workspaces.find(each => each.handle === handle)

  useEffect(() => {
    if (workspace) writeStored(lastWorkspace, workspace.handle)
  }, [workspace])

  if (!me) return null
  if (workspace) return <InWorkspace key={workspace.id} me={me} workspace={workspace} />
  // An address that leads nowhere takes nothing else away.
  const last = readStored(lastWorkspace, '')
  const other = me.workspaces.find(each => each.handle === last) ?? me.workspaces[0]
  return other ? <InWorkspace key={other.id} me={me} workspace={other} isMissing /> : <NotFound />
}

interface InWorkspaceProps extends Pick<ShellValue, 'me' | 'workspace'> {
  /** The address names no workspace of this person: this is another one, around the word of that. */
  isMissing?: boolean
}

function InWorkspace({ me, workspace, isMissing = false }: InWorkspaceProps) {
  const { t } = useTexts()
  const navigate = useNavigate()
  const match = useMatchRoute()
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  useListChanges(workspace.id, me.actor.id)
  useAgentStates(workspace.id)
  useMembers(workspace.id)
  useFileRefusal()
  const chats = useOrderedChats(workspace.id)
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
      newChat: (withIds = []) => setOpen({ chatWith: withIds }),
      newAgent: () => setOpen('agent'),
    }),
    [me, workspace, chats, openPalette],
  )
  const goTo = (chat: string) =>
    void navigate({ to: '/w/$workspace/c/$chat', params: { workspace: workspace.handle, chat } })
  const isInChat = Boolean(match({ to: '/w/$workspace/c/$chat' }))
  const isInSettings = !isMissing && Boolean(match({ to: '/w/$workspace/settings' }))
  const chatWith = typeof open === 'object' && open ? open.chatWith : null
  return (
    <ShellContext value={value}>
      <button type="button" className={cx(buttonStyles.btn, 'skip')} onClick={skipToMain}>
        {t('skip')}
      </button>
      <div className={styles.frame} data-shell>
        {isInSettings ? <SettingsSide /> : <Sidebar />}
        {isMissing ? <NotFound /> : <Outlet />}
        {isInChat ? null : <ConnectionBanner floats />}
        {isInChat ? null : <TabBar />}
        <UnreadAnnouncer />
      </div>
      <Suspense fallback={null}>
        {chatWith ? (
          <NewChatDialog workspaceId={workspace.id} open onOpenChange={close} onMade={goTo} withIds={chatWith} />
        ) : null}
        {open === 'agent' ? (
          <NewAgentDialog
            workspaceId={workspace.id}
            open
            onOpenChange={close}
            onMade={made => made.chat_id && goTo(made.chat_id)}
          />
        ) : null}
        {open === 'palette' ? <Palette onClose={close} /> : null}
        {open === 'keys' ? <KeysDialog onClose={close} /> : null}
      </Suspense>
    </ShellContext>
  )
}

/** To where one writes, in a chat; elsewhere to the screen itself. */
function skipToMain(): void {
  const main = document.querySelector<HTMLElement>('[data-pane=composer] textarea, main')
  if (main?.matches('main')) main.tabIndex = -1
  main?.focus()
}
