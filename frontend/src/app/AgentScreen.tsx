import { Link, useNavigate, useParams, useRouter } from '@tanstack/react-router'
import { Hash, History } from 'lucide-react'
import { Suspense } from 'react'
import { useAgent, useAgents, useChats, useLockedDrafts } from '@/api'
import { AgentPage, EditedDrafts } from '@/features/agents'
import { BackButton } from '@/features/chats'
import { PublicationSection } from '@/features/directory'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import buttonStyles from '@/ui/Button.module.css'
import blocks from '@/ui/blocks.module.css'
import layout from '@/ui/layout.module.css'
import { useActorLookup, useTitle } from './actorLookup'
import { DirectoryLink } from './DirectoryLink'
import { NotFound } from './ErrorPages'
import { LoadingAgent } from './LoadingAgent'
import { useShell } from './ShellContext'
import { AgentList, NewAgentButton } from './Sidebar'
import sidebarStyles from './Sidebar.module.css'

export function AgentScreen() {
  const { t } = useTexts()
  const { me, workspace, openNewChat } = useShell()
  const drafts = useLockedDrafts(workspace.id).data ?? []
  const { agent: id } = useParams({ from: '/w/$workspace/agents/$agent' })
  const agents = useAgents(workspace.id)
  const summary = agents.data?.find(row => row.actor.id === id)
  const agent = useAgent(workspace.id, id)
  const findActor = useActorLookup()
  useTitle(summary?.actor.name)
  const navigate = useNavigate()
  const { history } = useRouter()
  const params = { workspace: workspace.handle }
  const chat = (useChats(workspace.id).data ?? []).find(row => row.participants.some(actor => actor.id === id))?.chat.id
  const openWorkshop = () =>
    void navigate({ to: '/w/$workspace/c/$chat', params: { ...params, chat: chat ?? '' }, search: { workshop: id } })
  if (agents.data && !summary) return <NotFound />
  if (!agents.data || !agent.data) return <LoadingAgent query={agents.data ? agent : agents} />
  return (
    <Suspense fallback={<main className={layout.stage} />}>
      <AgentPage
        key={id}
        agent={agent.data}
        findActor={findActor}
        back={<BackButton label={t('agents')} onClick={() => void navigate({ to: '/w/$workspace/agents', params })} />}
        editing={
          <EditedDrafts
            drafts={drafts.filter(draft => draft.agent_id === id)}
            me={me.actor.id}
            onGo={chat =>
              void navigate({ to: '/w/$workspace/c/$chat', params: { ...params, chat }, search: { workshop: id } })
            }
          />
        }
        publication={
          agent.data.verbs.includes('publish_agent') ? (
            <Suspense fallback={null}>
              <PublicationSection agent={agent.data} workspace={workspace} onGo={path => history.push(path)} />
            </Suspense>
          ) : null
        }
        chats={<AgentChats agentId={id} />}
        history={
          <Link
            className={cx(buttonStyles.btn, buttonStyles.xs)}
            to="/w/$workspace/agents/$agent/history"
            params={{ ...params, agent: id }}
          >
            <History className="i s" aria-hidden />
            {t('openHistory')}
          </Link>
        }
        onNewChat={() => openNewChat([id])}
        onEdit={chat ? openWorkshop : null}
        onDeleted={() => void navigate({ to: '/w/$workspace', params })}
      />
    </Suspense>
  )
}

function AgentChats({ agentId }: { agentId: string }) {
  const { t } = useTexts()
  const { workspace } = useShell()
  const chats = (useChats(workspace.id).data ?? []).filter(row => row.participants.some(actor => actor.id === agentId))
  if (chats.length === 0) return <p className={cx(blocks.b, 'faint sm')}>{t('inNoChat')}</p>
  return (
    <ul className={cx(blocks.rows, blocks.in)}>
      {chats.map(row => (
        <li key={row.chat.id}>
          <Hash className="i faint" aria-hidden />
          <Link
            className="grow cut"
            to="/w/$workspace/c/$chat"
            params={{ workspace: workspace.handle, chat: row.chat.id }}
          >
            {row.chat.title}
          </Link>
          <Link
            className={cx(buttonStyles.btn, buttonStyles.xs)}
            to="/w/$workspace/c/$chat"
            params={{ workspace: workspace.handle, chat: row.chat.id }}
            search={{ workshop: agentId }}
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
  const { t } = useTexts()
  useTitle(t('agents'))
  return (
    <main className={cx(layout.stage, sidebarStyles.phonelist)}>
      <header className={layout.bar}>
        <h1 className="cut">{t('agents')}</h1>
        <div className="end">
          <NewAgentButton />
        </div>
      </header>
      <div className={cx(layout.page, sidebarStyles.phonepage)}>
        <DirectoryLink className={layout.nav} />
        <AgentList />
      </div>
    </main>
  )
}
