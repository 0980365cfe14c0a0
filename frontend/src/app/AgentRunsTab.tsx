import { useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { type AgentRow, useChats } from '@/api'
import { RunsTab, ViewpointTab } from '@/features/inspector'
import { useShell } from './ShellContext'

/** The runs of an agent. The open run is part of the address. */
export function AgentRunsTab({ agent }: { agent: AgentRow }) {
  const { workspace } = useShell()
  const { run } = useSearch({ from: '/w/$workspace/agents/$agent/$tab' })
  const navigate = useNavigate()
  const { history } = useRouter()
  const { id } = agent.actor
  const chats = (useChats(workspace.id).data ?? []).filter(row => row.participants.some(actor => actor.id === id))
  return (
    <RunsTab
      agent={agent}
      workspace={workspace.handle}
      chats={chats}
      runId={run ?? null}
      onOpen={next =>
        void navigate({
          to: '/w/$workspace/agents/$agent/$tab',
          params: { workspace: workspace.handle, agent: id, tab: 'runs' },
          search: next ? { run: next } : {},
        })
      }
      onGo={path => history.push(path)}
    />
  )
}

/** What an agent sees, for editors. */
export function AgentViewpointTab({ agent }: { agent: AgentRow }) {
  const { workspace } = useShell()
  const { history } = useRouter()
  return <ViewpointTab agent={agent} workspace={workspace.handle} onGo={path => history.push(path)} />
}
