import { type ActorRow, usePublicAgent } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import blocks from '@/ui/blocks.module.css'

/** How long the publisher of a public agent is not read again, in ms. */
const PUBLISHER_MAX_AGE = 600_000

/** The badge of an agent: for a public one, who has published it, or that it was taken down. */
export function AgentBadge({ actor }: { actor: ActorRow }) {
  const { t } = useTexts()
  if (actor.is_taken_down) return <span className={cx(blocks.badge, blocks.bad)}>{t('public.takenDown')}</span>
  if (actor.is_public) return <PublicBadge agentId={actor.id} />
  return <span className={blocks.badge}>{t('agent')}</span>
}

function PublicBadge({ agentId }: { agentId: string }) {
  const { t } = useTexts()
  const agent = usePublicAgent(agentId, PUBLISHER_MAX_AGE).data
  const text = agent?.publisher_name ? t('public.by', { publisher: agent.publisher_name }) : t('public')
  return <span className={cx(blocks.badge, blocks.line)}>{text}</span>
}
