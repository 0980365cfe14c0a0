import { useNavigate, useParams, useRouter } from '@tanstack/react-router'
import { useAgent } from '@/api'
import { PublishPage } from '@/features/directory'
import { useTexts } from '@/lib/language'
import { NotFound } from './ErrorPages'
import { LazyPage } from './LazyPage'
import { LoadingAgent } from './LoadingAgent'
import { useShell } from './ShellContext'
import { useTitle } from './unreadTitle'
import { useOpenWorkshop } from './useOpenWorkshop'

/** The form that publishes an agent, for those who may. */
export function PublishScreen() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const params = useParams({ from: '/w/$workspace/agents/$agent/publish' })
  const agent = useAgent(workspace.id, params.agent)
  const navigate = useNavigate()
  const { history } = useRouter()
  const onEdit = useOpenWorkshop(params.agent)
  useTitle(agent.data ? t('publish.title', { name: agent.data.actor.name }) : undefined)
  if (!agent.data) return <LoadingAgent query={agent} />
  if (!agent.data.verbs.includes('publish_agent')) return <NotFound />
  return (
    <LazyPage>
      <PublishPage
        key={params.agent}
        agent={agent.data}
        workspace={workspace}
        onEdit={onEdit}
        onBack={() => void navigate({ to: '/w/$workspace/agents/$agent', params })}
        onGo={path => history.push(path)}
      />
    </LazyPage>
  )
}
