import { useCallback } from 'react'
import type { AgentSummaryRow, LockedDraftRow } from '@/api'
import { LayerIcon } from '@/features/layers'
import { useTexts } from '@/lib/language'
import { isFuture } from '@/lib/time'
import { type ChatState, isActive, isEnded, useChatSelector } from '@/realtime'
import { Avatar } from '@/ui/Avatar'
import layout from '@/ui/layout.module.css'
import { EditingSign } from './Editing'

interface AgentLineProps {
  agent: AgentSummaryRow
  /** The chat that is open: what is applied and written there is shown. */
  chatId: string
  /** Its draft that somebody edits in another chat. */
  elsewhere: LockedDraftRow | undefined
  me: string
  nameOf(id: string): string
}

interface Here {
  isWorking: boolean
  isApplied: boolean
  holder: string | null
}

const sameHere = (a: Here, b: Here) =>
  a.isWorking === b.isWorking && a.isApplied === b.isApplied && a.holder === b.holder

function hereOf(chat: ChatState, agentId: string): Here {
  const draft = [...chat.drafts.values()].find(row => row.agent_id === agentId && !isEnded(row))
  return {
    isWorking: [...chat.runs.values()].some(run => run.agent_id === agentId && isActive(run)),
    isApplied: Boolean(draft?.applied),
    holder: isFuture(draft?.lock_expires_at) ? (draft?.lock_holder_id ?? null) : null,
  }
}

/** What stands in an agent's line of the sidebar: its face, its name, and how it stands. */
export function AgentLine({ agent, chatId, elsewhere, me, nameOf }: AgentLineProps) {
  const { t } = useTexts()
  const id = agent.actor.id
  const part = useCallback((chat: ChatState) => hereOf(chat, id), [id])
  const here = useChatSelector(chatId, part, sameHere)
  const isWorking = here.isWorking || agent.state === 'working'
  return (
    <>
      <Avatar id={id} name={agent.actor.name} avatar={agent.actor.avatar} square />
      <span className="cut">{agent.actor.name}</span>
      <span className={layout.st}>
        {isWorking ? t('atWork') : here.holder ? nameOf(here.holder) : null}
        <LayerIcon layer={here.isApplied ? 'applied' : 'production'} />
        {here.holder ? <LayerIcon layer="writing" /> : null}
        {elsewhere && !here.holder ? <EditingSign draft={elsewhere} me={me} isShort={isWorking} /> : null}
      </span>
    </>
  )
}
