import { Link, useParams, useRouter } from '@tanstack/react-router'
import { Suspense } from 'react'
import { useAgents, useRunInspection } from '@/api'
import { BackButton } from '@/features/chats'
import { RunView } from '@/features/inspector'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import buttonStyles from '@/ui/Button.module.css'
import layout from '@/ui/layout.module.css'
import { Skeleton } from '@/ui/Skeleton'
import { useShell } from './ShellContext'
import { useTitle } from './unreadTitle'

/** One run, to which the answers in chats lead. */
export function RunScreen() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const { run } = useParams({ from: '/w/$workspace/runs/$run' })
  const { history } = useRouter()
  useTitle(t('inspector.inspect'))
  return (
    <main className={layout.stage}>
      <header className={layout.bar}>
        <BackButton label={t('chats')} onClick={() => history.back()} />
        <h1 className="cut">{t('inspector.inspect')}</h1>
        <RunsLink runId={run} />
      </header>
      <Suspense fallback={<Skeleton lines={8} label={t('loading')} />}>
        <RunView key={run} runId={run} workspace={workspace.handle} onGo={path => history.push(path)} />
      </Suspense>
    </main>
  )
}

/** The agent whose run it is, with a link to all its runs. A public agent has no page in this workspace. */
function RunsLink({ runId }: { runId: string }) {
  const { t } = useTexts()
  const { workspace } = useShell()
  const agent = useRunInspection(runId).data?.agent
  const agents = useAgents(workspace.id).data
  if (!agent || !agents) return null
  const avatar = <Avatar id={agent.id} name={agent.name} avatar={agent.avatar} square size="tiny" />
  if (!agents.some(row => row.actor.id === agent.id))
    return (
      <span className="end row muted sm">
        {avatar}
        <span className="cut">{agent.name}</span>
      </span>
    )
  return (
    <Link
      className={cx(buttonStyles.btn, 'end')}
      to="/w/$workspace/agents/$agent/$tab"
      params={{ workspace: workspace.handle, agent: agent.id, tab: 'runs' }}
    >
      {avatar}
      <span className="cut">{t('inspector.runsOf', { name: agent.name })}</span>
    </Link>
  )
}
