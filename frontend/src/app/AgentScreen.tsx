import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router'
import { MessageSquare, MessageSquarePlus, PencilRuler } from 'lucide-react'
import { Suspense } from 'react'
import { useAgent, useAgents } from '@/api'
import { BackButton } from '@/features/chats'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import layout from '@/ui/layout.module.css'
import { Skeleton } from '@/ui/Skeleton'
import styles from './AgentScreen.module.css'
import { agentTabs } from './agentTabs'
import { DirectoryLink } from './DirectoryLink'
import { NotFound } from './ErrorPages'
import { LoadingAgent } from './LoadingAgent'
import { useShell } from './ShellContext'
import { AgentList, NewAgentButton } from './Sidebar'
import sidebarStyles from './Sidebar.module.css'
import { useTitle } from './unreadTitle'
import { useOpenDirectChat } from './useOpenDirectChat'
import { useOpenWorkshop } from './useOpenWorkshop'

/** The page of an agent: its head, its tabs, and the open tab. */
export function AgentScreen() {
  const { t } = useTexts()
  const { workspace, openNewChat } = useShell()
  const params = useParams({ from: '/w/$workspace/agents/$agent' })
  const { tab: openTab } = useParams({ strict: false })
  const id = params.agent
  const agents = useAgents(workspace.id)
  const listedAgent = agents.data?.find(row => row.actor.id === id)
  const query = useAgent(workspace.id, id)
  useTitle(listedAgent?.actor.name)
  const navigate = useNavigate()
  const onEdit = useOpenWorkshop(id)
  const openDirectChat = useOpenDirectChat()
  if (agents.data && !listedAgent) return <NotFound />
  if (!listedAgent || !query.data) return <LoadingAgent query={agents.data ? query : agents} />
  const agent = query.data
  const { actor } = listedAgent
  const parent = agents.data?.find(row => row.actor.id === listedAgent.parent_id)
  const facts = [
    `@${actor.handle}`,
    listedAgent.role || actor.description,
    parent ? t('tree.under', { name: parent.actor.name }) : '',
  ].filter(Boolean)
  return (
    <main className={layout.stage}>
      <header className={styles.head}>
        <BackButton label={t('agents')} onClick={() => void navigate({ to: '/w/$workspace/agents', params })} />
        <Avatar id={id} name={actor.name} avatar={actor.avatar} square size="xl" />
        <div className={cx(layout.titles, styles.titles)}>
          <h1 className="cut">{actor.name}</h1>
          <p className={styles.meta}>
            <span className="cut">{facts.join(' · ')}</span>
            {listedAgent.state === 'idle' ? null : (
              <span>{t(listedAgent.state === 'working' ? 'atWork' : 'agentWaits')}</span>
            )}
            <span className={blocks.badge} data-layer="production">
              <LayerIcon layer="production" />v{agent.spec.number}
            </span>
          </p>
        </div>
        <div className="end">
          <Button onClick={() => openDirectChat(id)}>
            <MessageSquare className="i s" aria-hidden />
            {t('openDirectChat')}
          </Button>
          <Button onClick={() => openNewChat([id])}>
            <MessageSquarePlus className="i s" aria-hidden />
            {t('chatWith')}
          </Button>
          {onEdit ? (
            <Button tone="ink" onClick={onEdit}>
              <PencilRuler className="i s" aria-hidden />
              {t('openWorkshop')}
            </Button>
          ) : null}
        </div>
      </header>
      <nav className={styles.tabs} aria-label={t('agentTabs', { name: actor.name })}>
        {agentTabs
          .filter(tab => tab.isVisible?.(agent) ?? true)
          .map(tab => (
            <Link
              key={tab.id}
              activeOptions={{ exact: true }}
              {...(tab === agentTabs[0]
                ? { to: '/w/$workspace/agents/$agent' as const, params }
                : { to: '/w/$workspace/agents/$agent/$tab' as const, params: { ...params, tab: tab.id } })}
              aria-current={tab.id === (openTab ?? agentTabs[0]?.id) ? 'page' : undefined}
            >
              {t(tab.label)}
            </Link>
          ))}
      </nav>
      <Suspense fallback={<Skeleton lines={6} label={t('loading')} />}>
        <Outlet />
      </Suspense>
    </main>
  )
}

/** The content of the open tab. */
export function AgentTabScreen() {
  const { workspace } = useShell()
  const { agent: id } = useParams({ from: '/w/$workspace/agents/$agent' })
  const { tab: openTab } = useParams({ strict: false })
  const agent = useAgent(workspace.id, id).data
  const tab = openTab ? agentTabs.find(tab => tab.id === openTab) : agentTabs[0]
  if (!agent) return null
  if (!tab || tab.isVisible?.(agent) === false) return <NotFound />
  return <tab.content key={id} agent={agent} />
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
