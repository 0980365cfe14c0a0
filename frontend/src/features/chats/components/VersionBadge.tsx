import { Suspense, useState } from 'react'
import type { Stamp, TextMessageRow } from '@/api'
import { AnsweredDialog } from '@/features/agents'
import { LayerIcon } from '@/features/layers'
import { useTexts } from '@/lib/language'
import { formatCurrency, formatNumber } from '@/lib/time'
import blocks from '@/ui/blocks.module.css'
import { useChat } from './ChatContext'
import messageStyles from './Message.module.css'

interface VersionProps {
  stamp: Stamp
  agentId: string | null
}

/** The stamp of a reply: `v7` with a ring, or `draft r3 · Bob` with a disc. A click shows the spec that answered. */
export function VersionBadge({ stamp, agentId }: VersionProps) {
  const { t } = useTexts()
  const { workspaceId, openWorkshop } = useChat()
  const [isOpen, setOpen] = useState(false)
  const layer = stamp.version == null ? 'applied' : 'production'
  const label =
    stamp.version == null
      ? t('draftStamp', { n: stamp.draft_apply ?? '?', name: stamp.draft_by ?? '' })
      : `v${stamp.version}`
  const goToWorkshop = () => {
    setOpen(false)
    if (agentId) openWorkshop(agentId)
  }
  return (
    <>
      <button
        type="button"
        className={blocks.tag}
        data-layer={layer}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
        title={t('answeredBy', { version: label })}
      >
        <LayerIcon layer={layer} />
        {label}
      </button>
      {isOpen && agentId ? (
        <Suspense fallback={null}>
          <AnsweredDialog
            workspaceId={workspaceId}
            agentId={agentId}
            specId={stamp.spec_id}
            label={label}
            layer={layer}
            onOpenChange={setOpen}
            onWorkshop={goToWorkshop}
          />
        </Suspense>
      ) : null}
    </>
  )
}

export function Cost({ stamp }: { stamp: Stamp }) {
  const { t } = useTexts()
  const tokens = (stamp.input_tokens ?? 0) + (stamp.output_tokens ?? 0)
  const parts = [
    tokens > 0 ? t('usedTokens', { count: tokens, n: formatNumber(tokens) }) : '',
    stamp.cost_micro ? formatCurrency(stamp.cost_micro) : '',
  ]
  const text = parts.filter(Boolean).join(' · ')
  return text ? <span className="num">{text}</span> : null
}

export function ModelName({ stamp }: { stamp: Stamp }) {
  const { t } = useTexts()
  if (stamp.provider === 'demo' || stamp.paid_by === 'demo') return <span>{t('demoModel')}</span>
  return stamp.model ? <span>{stamp.model}</span> : null
}

/** The footer of a single message of an agent, such as its greeting. */
export function MessageFooter({ row }: { row: TextMessageRow }) {
  const { stamp } = row.payload
  if (!stamp) return null
  return (
    <div className={messageStyles.foot}>
      <VersionBadge stamp={stamp} agentId={row.author_id} />
      <ModelName stamp={stamp} />
      <Cost stamp={stamp} />
    </div>
  )
}
