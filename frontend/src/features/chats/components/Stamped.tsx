import type { MessageRow, Stamp, TextPayload } from '@/api'
import { useTexts } from '@/lib/language'
import { count, money } from '@/lib/time'
import { Mark } from '@/ui/Mark'
import { useChat } from './ChatContext'

interface StampLineProps {
  stamp: Stamp
  agentId: string | null
}

/** Which text answered: `v7` with a ring, or `draft r3 · Bob` with a disc. It opens the workshop. */
export function StampButton({ stamp, agentId }: StampLineProps) {
  const { t } = useTexts()
  const { openWorkshop } = useChat()
  const layer = stamp.version == null ? 'applied' : 'production'
  const label =
    stamp.version == null
      ? t('draftStamp', { n: stamp.draft_apply ?? '?', name: stamp.draft_by ?? '' })
      : `v${stamp.version}`
  return (
    <button
      type="button"
      className="stamp"
      data-layer={layer}
      onClick={() => agentId && openWorkshop(agentId)}
      title={t('openWorkshop')}
    >
      <Mark layer={layer} />
      {label}
    </button>
  )
}

export function Cost({ stamp }: { stamp: Stamp }) {
  const { t } = useTexts()
  const tokens = (stamp.input_tokens ?? 0) + (stamp.output_tokens ?? 0)
  const parts = [
    tokens > 0 ? t('tokens', { count: tokens, n: count(tokens) }) : '',
    stamp.cost_micro ? money(stamp.cost_micro) : '',
  ]
  const text = parts.filter(Boolean).join(' · ')
  return text ? <span className="num">{text}</span> : null
}

export function ModelName({ stamp }: { stamp: Stamp }) {
  const { t } = useTexts()
  if (stamp.provider === 'demo' || stamp.paid_by === 'demo') return <span>{t('demoModel')}</span>
  return stamp.model ? <span>{stamp.model}</span> : null
}

/** The foot of an agent's single message, e.g. its hello. */
export function Stamped({ row }: { row: MessageRow }) {
  const stamp = (row.payload as unknown as TextPayload).stamp
  if (!stamp) return null
  return (
    <div className="foot">
      <StampButton stamp={stamp} agentId={row.author_id} />
      <ModelName stamp={stamp} />
      <Cost stamp={stamp} />
    </div>
  )
}
