import { Outlet, useMatchRoute, useNavigate, useParams } from '@tanstack/react-router'
import { Suspense, useEffect, useMemo, useState } from 'react'
import { useMe, useMembers } from '@/api'
import { NewAgentDialog } from '@/features/agents'
import { NewChatDialog } from '@/features/chats'
import { Rising } from '@/features/notifications'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { keep } from '@/lib/stored'
import { lazy } from '@/ui/lazy'
import { useBells } from './bells'
import { useShellKeys } from './keys'
import { Missing } from './Lost'
import { lastWorkspace } from './places'
import { ShellContext, type ShellValue } from './ShellContext'
import { Sidebar } from './Sidebar'
import { TabBar } from './TabBar'

const Palette = lazy(() => import('./Palette').then(module => ({ default: module.Palette })))
const KeysDialog = lazy(() => import('./KeysDialog').then(module => ({ default: module.KeysDialog })))

type Open = 'palette' | 'keys' | 'agent' | { chatWith: readonly string[] } | null

/** The frame around everything in a workspace: sidebar, stage, and what floats over them. */
export function Shell() {
  const { workspace: handle } = useParams({ from: '/w/$workspace' })
  const me = useMe().data
  const workspace = me?.workspaces.find(each => each.handle === handle)
  const navigate = useNavigate()

  useEffect(() => {
    if (me === null) void navigate({ to: '/sign-in', search: { next: location.pathname } })
  }, [me, navigate])
  useEffect(() => {
    if (workspace) keep(lastWorkspace, workspace.handle)
  }, [workspace])

  if (!me) return null
  if (!workspace) return <Missing />
  return <InWorkspace key={workspace.id} me={me} workspace={workspace} />
}

function InWorkspace({ me, workspace }: Pick<ShellValue, 'me' | 'workspace'>) {
  const { t } = useTexts()
  const navigate = useNavigate()
  const match = useMatchRoute()
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  useBells(workspace.id, me.actor.id)
  useMembers(workspace.id)
  useShellKeys({ workspace, openPalette: () => setOpen('palette'), openKeys: () => setOpen('keys') })

  const value = useMemo<ShellValue>(
    () => ({
      me,
      workspace,
      newChat: (withIds = []) => setOpen({ chatWith: withIds }),
      newAgent: () => setOpen('agent'),
    }),
    [me, workspace],
  )
  const goTo = (chat: string) =>
    void navigate({ to: '/w/$workspace/c/$chat', params: { workspace: workspace.handle, chat } })
  const isInChat = Boolean(match({ to: '/w/$workspace/c/$chat' }))
  const chatWith = typeof open === 'object' && open ? open.chatWith : null
  return (
    <ShellContext value={value}>
      <a className="skip btn" href="#log">
        {t('skip')}
      </a>
      <div className={cx('frame', isInChat && 'in-chat')}>
        <Sidebar onFind={() => setOpen('palette')} />
        <Outlet />
        {isInChat ? null : <TabBar />}
      </div>
      <Rising />
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
        {open === 'palette' ? <Palette onClose={close} onKeys={() => setOpen('keys')} /> : null}
        {open === 'keys' ? <KeysDialog onClose={close} /> : null}
      </Suspense>
    </ShellContext>
  )
}
