import type { AgentRow } from '@/api'
import { AccessPage } from '@/features/access'

export const AgentAccessTab = ({ agent }: { agent: AgentRow }) => (
  <AccessPage key={agent.actor.id} agentId={agent.actor.id} name={agent.actor.name} />
)
