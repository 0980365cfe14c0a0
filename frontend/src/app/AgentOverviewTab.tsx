import { Link, useNavigate, useRouter } from '@tanstack/react-router'
import { Bot, Hash, History, UserRound } from 'lucide-react'
import { type AgentRow, type ListedChatRow, useAgents, useChats, useChatsBetweenAgents, useLockedDrafts } from '@/api'
import { AgentOverview, EditedDrafts, TeamTree } from '@/features/agents'
import { PublicationSection } from '@/features/directory'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import buttonStyles from '@/ui/Button.module.css'
import blocks from '@/ui/blocks.module.css'
import { LazyPart } from '@/ui/LazyPart'
import { useActorLookup } from './actorLookup'
import { useShell } from './ShellContext'
import { useOpenWorkshop } from './useOpenWorkshop'

export function AgentOverviewTab({ agent }: { agent: AgentRow }) {
  const { t } = useTexts()
  const { me, workspace } = useShell()
  const { id } = agent.actor
  const drafts = useLockedDrafts(workspace.id).data ?? []
  const agents = useAgents(workspace.id).data ?? []
  const findActor = useActorLookup()
  const navigate = useNavigate()
  const { history } = useRouter()
  const params = { workspace: workspace.handle }
  return (
    <AgentOverview
      key={id}
      agent={agent}
      findActor={findActor}
      editing={
        <EditedDrafts
          drafts={drafts.filter(draft => draft.agent_id === id)}
          me={me.actor.id}
          onGo={chat =>
            void navigate({ to: '/w/$workspace/c/$chat', params: { ...params, chat }, search: { workshop: id } })
          }
        />
      }
      team={
        <LazyPart>
          <TeamTree
            agent={agent}
            agents={agents}
            workspaceId={workspace.id}
            link={(other, children) => (
              <Link to="/w/$workspace/agents/$agent" params={{ ...params, agent: other }}>
                {children}
              </Link>
            )}
          />
        </LazyPart>
      }
      publication={
        agent.verbs.includes('publish_agent') ? (
          <LazyPart>
            <PublicationSection agent={agent} workspace={workspace} onGo={path => history.push(path)} />
          </LazyPart>
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
      onEdit={useOpenWorkshop(id)}
      onDeleted={() => void navigate({ to: '/w/$workspace', params })}
    />
  )
}

function AgentChats({ agentId }: { agentId: string }) {
  const { t } = useTexts()
  const { workspace } = useShell()
  const own = useChats(workspace.id).data ?? []
  const betweenAgents = useChatsBetweenAgents(workspace.id, workspace.role === 'editor').data ?? []
  const chats = [...own, ...betweenAgents].filter(row => row.participants.some(actor => actor.id === agentId))
  if (chats.length === 0) return <p className={cx(blocks.b, 'faint sm')}>{t('inNoChat')}</p>
  return (
    <ul className={cx(blocks.rows, blocks.in)}>
      {chats.map(row => (
        <li key={row.chat.id}>
          <ChatIcon row={row} />
          <Link
            className="grow cut"
            to="/w/$workspace/c/$chat"
            params={{ workspace: workspace.handle, chat: row.chat.id }}
          >
            {row.chat.title}
          </Link>
          {row.chat.is_between_agents ? (
            <span className="faint xs">{t('mayOnlyRead')}</span>
          ) : (
            <Link
              className={cx(buttonStyles.btn, buttonStyles.xs)}
              to="/w/$workspace/c/$chat"
              params={{ workspace: workspace.handle, chat: row.chat.id }}
              search={{ workshop: agentId }}
            >
              {t('workshop')}
            </Link>
          )}
        </li>
      ))}
    </ul>
  )
}

function ChatIcon({ row: { chat } }: { row: ListedChatRow }) {
  const Icon = chat.is_between_agents ? Bot : chat.is_direct ? UserRound : Hash
  return <Icon className="i faint" aria-hidden />
}
