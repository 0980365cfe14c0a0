import { Navigate } from '@tanstack/react-router'
import { MessagesSquare } from 'lucide-react'
import { useChats } from '@/api'
import { useTexts } from '@/lib/language'
import { kept } from '@/lib/stored'
import { Button } from '@/ui/Button'
import { Empty } from '@/ui/Empty'
import { useIsPhone } from '@/ui/useIsPhone'
import { useShell } from './ShellContext'
import { Chats, NewsBell, WorkspaceMenu } from './Sidebar'

export const lastChat = (workspaceId: string) => `atelier.chat.${workspaceId}`

/** A workspace without a chosen chat: the last one on a wide screen, the list on a phone. */
export function HomeScreen() {
  const { workspace } = useShell()
  const isPhone = useIsPhone()
  const chats = useChats(workspace.id).data
  if (isPhone) return <PhoneList />
  if (!chats) return <main className="stage" />
  const last = kept(lastChat(workspace.id), '')
  const chat = chats.find(each => each.chat.id === last) ?? chats[0]
  if (!chat) return <NoChats />
  return <Navigate to="/w/$workspace/c/$chat" params={{ workspace: workspace.handle, chat: chat.chat.id }} replace />
}

function PhoneList() {
  const { workspace } = useShell()
  const chats = useChats(workspace.id).data
  return (
    <main className="stage phonelist">
      <header className="bar">
        <h1 className="sr">{workspace.name}</h1>
        <WorkspaceMenu />
        <div className="end">
          <NewsBell />
        </div>
      </header>
      <div className="page">
        <Chats />
        {chats?.length === 0 ? <NoChatsHint /> : null}
      </div>
    </main>
  )
}

const NoChats = () => (
  <main className="stage middle">
    <NoChatsHint />
  </main>
)

function NoChatsHint() {
  const { t } = useTexts()
  const { workspace, newChat, newAgent } = useShell()
  return (
    <Empty
      icon={MessagesSquare}
      title={t('noChats')}
      actions={
        <>
          <Button tone="ink" onClick={() => newChat()}>
            {t('newChat')}
          </Button>
          {workspace.verbs.includes('create_agent') ? <Button onClick={newAgent}>{t('newAgent')}</Button> : null}
        </>
      }
    >
      {t('noChatsHint')}
    </Empty>
  )
}
