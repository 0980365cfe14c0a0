import type { AgentRow } from '@/api'
import { ScheduleTab } from '@/features/schedules'
import { LazyPart } from '@/ui/LazyPart'
import { useShell } from './ShellContext'

/** The schedules of an agent. Editors may add some. Chats have no `verbs`, so `set_budgets` shows who is an editor. */
export function AgentScheduleTab({ agent }: { agent: AgentRow }) {
  const { workspace } = useShell()
  return (
    <LazyPart>
      <ScheduleTab agent={agent} workspaceId={workspace.id} mayAdd={workspace.verbs.includes('set_budgets')} />
    </LazyPart>
  )
}
