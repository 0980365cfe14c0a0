import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useAgent, useAgents } from '@/api'
import { type Pair, VersionsPage, type VersionsSearch } from '@/features/agents'
import { useTexts } from '@/lib/language'
import { useActorLookup } from './actorLookup'
import { NotFound } from './ErrorPages'
import { LazyPage } from './LazyPage'
import { LoadingAgent } from './LoadingAgent'
import { useShell } from './ShellContext'
import { useTitle } from './unreadTitle'

/** The versions of an agent. The URL holds the two versions to compare. */
export function VersionsScreen() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const params = useParams({ from: '/w/$workspace/agents/$agent/history' })
  const search: VersionsSearch = useSearch({ from: '/w/$workspace/agents/$agent/history' })
  const agents = useAgents(workspace.id)
  const listedAgent = agents.data?.find(row => row.actor.id === params.agent)
  const agent = useAgent(workspace.id, params.agent)
  const findActor = useActorLookup()
  const navigate = useNavigate()
  useTitle(listedAgent ? t('versionsOf', { name: listedAgent.actor.name }) : undefined)
  if (agents.data && !listedAgent) return <NotFound />
  if (!agents.data || !agent.data) return <LoadingAgent query={agents.data ? agent : agents} />

  const chat = search.chat ? { chat: search.chat } : {}
  const pick = (pair: Pair | null) =>
    void navigate({ to: '/w/$workspace/agents/$agent/history', params, search: { ...pair, ...chat } })
  const back = () =>
    void (search.chat
      ? navigate({
          to: '/w/$workspace/c/$chat',
          params: { ...params, chat: search.chat },
          search: { workshop: params.agent },
        })
      : navigate({ to: '/w/$workspace/agents/$agent', params }))
  return (
    <LazyPage>
      <VersionsPage
        key={params.agent}
        agent={agent.data}
        search={search}
        findActor={findActor}
        onBack={back}
        onPick={pick}
        suggestionLink={(id, children) => (
          <Link className="link" to="/w/$workspace/suggestions" params={params} search={{ s: id }}>
            {children}
          </Link>
        )}
        replyLink={(row, children) => (
          <Link
            className="link"
            to="/w/$workspace/c/$chat"
            params={{ ...params, chat: row.chat_id }}
            {...(row.message_id ? { hash: row.message_id } : {})}
          >
            {children}
          </Link>
        )}
      />
    </LazyPage>
  )
}
