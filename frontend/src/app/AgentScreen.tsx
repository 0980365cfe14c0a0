import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { History } from 'lucide-react'
import { Suspense } from 'react'
import { useAgents, useChats } from '@/api'
import { AgentPage } from '@/features/agents'
import { BackButton } from '@/features/chats'
import { useTexts } from '@/lib/language'
import { Missing } from './Lost'
import { useWho } from './names'
import { useShell } from './ShellContext'
import { Agents } from './Sidebar'

export function AgentScreen() {
  const { t } = useTexts()
  const { workspace, newChat } = useShell()
  const { agent: id } = useParams({ from: '/w/$workspace/agents/$agent' })
  const agents = useAgents(workspace.id).data
  const agent = agents?.find(each => each.actor.id === id)
  const who = useWho()
  const navigate = useNavigate()
  const params = { workspace: workspace.handle }
  if (!agents) return <main className="stage" />
  if (!agent) return <Missing />
  return (
    <Suspense fallback={<main className="stage" />}>
      <AgentPage
        key={id}
        agent={agent}
        who={who}
        back={<BackButton onClick={() => void navigate({ to: '/w/$workspace/agents', params })} />}
        chats={<ChatsOf agentId={id} />}
        history={
          <Link className="btn" to="/w/$workspace/agents/$agent/history" params={{ ...params, agent: id }}>
            <History className="i s" aria-hidden />
            {t('openHistory')}
          </Link>
        }
        onNewChat={() => newChat([id])}
        onDeleted={() => void navigate({ to: '/w/$workspace', params })}
      />
    </Suspense>
  )
}

function ChatsOf({ agentId }: { agentId: string }) {
  const { t } = useTexts()
  const { workspace } = useShell()
  const chats = (useChats(workspace.id).data ?? []).filter(each => each.members.some(actor => actor.id === agentId))
  if (chats.length === 0) return <p className="faint sm">{t('inNoChat')}</p>
  return (
    <ul className="rows">
      {chats.map(each => (
        <li key={each.chat.id}>
          <Link
            className="link grow cut"
            to="/w/$workspace/c/$chat"
            params={{ workspace: workspace.handle, chat: each.chat.id }}
          >
            {each.chat.title}
          </Link>
          <Link
            className="btn xs"
            to="/w/$workspace/c/$chat"
            params={{ workspace: workspace.handle, chat: each.chat.id }}
            search={{ shop: agentId }}
          >
            {t('workshop')}
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** The agents of a workspace, on a phone. */
export function AgentsScreen() {
  const { workspace } = useShell()
  return (
    <main className="stage phonelist">
      <header className="bar">
        <h1 className="cut">{workspace.name}</h1>
      </header>
      <div className="page">
        <Agents />
      </div>
    </main>
  )
}
