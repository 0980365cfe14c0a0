import { useCallback } from 'react'
import type { ListedAgentRow, LockedDraftRow } from '@/api'
import { LayerIcon } from '@/features/layers'
import { useTexts } from '@/lib/language'
import { isFuture } from '@/lib/time'
import { type ChatState, isActive, isEnded, useChatSelector } from '@/realtime'
import { Avatar } from '@/ui/Avatar'
import layout from '@/ui/layout.module.css'
import { EditingBadge } from './EditedDrafts'

interface AgentListItemProps {
  agent: ListedAgentRow
  /** The open chat: the item shows the state of the agent's draft in it. */
  chatId: string
  /** A draft of the agent that is being edited in another chat. */
  draftElsewhere: LockedDraftRow | undefined
  me: string
  nameOf(id: string): string
}

interface AgentStatus {
  isWorking: boolean
  isWaiting: boolean
  isApplied: boolean
  holder: string | null
}

const isSameStatus = (a: AgentStatus, b: AgentStatus) =>
  a.isWorking === b.isWorking && a.isWaiting === b.isWaiting && a.isApplied === b.isApplied && a.holder === b.holder

function selectAgentStatus(chat: ChatState, agentId: string): AgentStatus {
  const draft = [...chat.rows.draft.values()].find(row => row.agent_id === agentId && !isEnded(row))
  const runs = [...chat.rows.run.values()].filter(run => run.agent_id === agentId && isActive(run))
  const waiting = runs.filter(run => run.state === 'waiting_approval')
  return {
    isWorking: runs.length > waiting.length,
    isWaiting: waiting.length > 0,
    isApplied: Boolean(draft?.applied),
    holder: isFuture(draft?.lock_expires_at) ? (draft?.lock_holder_id ?? null) : null,
  }
}

/** The content of an agent's link in the sidebar: its avatar, name and status. */
export function AgentListItem({ agent, chatId, draftElsewhere, me, nameOf }: AgentListItemProps) {
  const { t } = useTexts()
  const id = agent.actor.id
  const select = useCallback((chat: ChatState) => selectAgentStatus(chat, id), [id])
  const status = useChatSelector(chatId, select, isSameStatus)
  const isWorking = status.isWorking || agent.state === 'working'
  const isWaiting = status.isWaiting || agent.state === 'waiting'
  return (
    <>
      <Avatar id={id} name={agent.actor.name} avatar={agent.actor.avatar} square />
      <span className="cut">{agent.actor.name}</span>
      <span className={layout.st}>
        {isWorking ? t('atWork') : isWaiting ? t('agentWaits') : status.holder ? nameOf(status.holder) : null}
        <LayerIcon layer={status.isApplied ? 'applied' : 'production'} />
        {status.holder ? <LayerIcon layer="writing" /> : null}
        {draftElsewhere && !status.holder ? (
          <EditingBadge draft={draftElsewhere} me={me} isShort={isWorking || isWaiting} />
        ) : null}
      </span>
    </>
  )
}
