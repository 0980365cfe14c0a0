import { Suspense, useState } from 'react'
import type { Stamp, TextMessageRow } from '@/api'
import { AnsweredDialog } from '@/features/agents'
import { LayerIcon } from '@/features/layers'
import { useTexts } from '@/lib/language'
import { describePayment } from '@/lib/payer'
import blocks from '@/ui/blocks.module.css'
import { PathLink } from '@/ui/PathLink'
import { getStampCost } from '../cost'
import { useChat } from './ChatContext'
import { Cost } from './Cost'
import messageStyles from './Message.module.css'

interface VersionProps {
  stamp: Stamp
  agentId: string | null
}

/**
 * The stamp of a reply: `v7` with a ring, or `draft r3 · Bob` with a disc. A click shows the spec that answered; for a
 * public agent, it opens the page of the agent.
 */
export function VersionBadge({ stamp, agentId }: VersionProps) {
  const { t } = useTexts()
  const { workspaceId, findActor, openWorkshop, publicAgentPath, onGo } = useChat()
  const payer = findActor(stamp.payer_id ?? null)?.name ?? stamp.payer_name ?? ''
  const payment = describePayment({ paidBy: stamp.paid_by, reason: stamp.payer_reason, name: payer })
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
  // The spec of a public agent is not shown to its users.
  if (agentId && findActor(agentId)?.is_public)
    return (
      <PathLink
        className={blocks.tag}
        data-layer={layer}
        path={publicAgentPath(agentId)}
        onGo={onGo}
        title={t('answeredBy', { version: label })}
      >
        <LayerIcon layer={layer} />
        {label}
      </PathLink>
    )
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
            payment={payment}
            onOpenChange={setOpen}
            onWorkshop={goToWorkshop}
          />
        </Suspense>
      ) : null}
    </>
  )
}

export function ModelName({ stamp }: { stamp: Stamp }) {
  const { t } = useTexts()
  if (stamp.provider === 'demo') return <span>{t('demoModel')}</span>
  if (!stamp.model) return null
  if (stamp.paid_by !== 'person') return <span>{stamp.model}</span>
  return (
    <span>
      {stamp.model} · {t('paid.person', { name: stamp.payer_name ?? '' })}
    </span>
  )
}

/** The footer of a single message of an agent, such as its greeting. */
export function MessageFooter({ row }: { row: TextMessageRow }) {
  const { stamp } = row.payload
  if (!stamp) return null
  return (
    <div className={messageStyles.foot}>
      <VersionBadge stamp={stamp} agentId={row.author_id} />
      <ModelName stamp={stamp} />
      <Cost used={getStampCost(stamp)} />
    </div>
  )
}
