import type { AgentRow } from '@/api'
import { useTexts } from '@/lib/language'
import { isAhead } from '@/lib/time'
import { type ChatState, isActive, isEnded, useChatPart } from '@/realtime'
import { Face } from '@/ui/Face'
import { Mark } from '@/ui/Mark'

interface AgentLineProps {
  agent: AgentRow
  /** The chat that is open: what is applied and written there is shown. */
  chatId: string
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
    holder: isAhead(draft?.held_until) ? (draft?.holder_id ?? null) : null,
  }
}

/** What stands in an agent's line of the sidebar: its face, its name, and how it stands. */
export function AgentLine({ agent, chatId, nameOf }: AgentLineProps) {
  const { t } = useTexts()
  const id = agent.actor.id
  const here = useChatPart(chatId, chat => hereOf(chat, id), sameHere)
  const isWorking = here.isWorking || agent.state === 'working'
  return (
    <>
      <Face id={id} name={agent.actor.name} square />
      <span className="cut">{agent.actor.name}</span>
      <span className="st">
        {isWorking ? t('atWork') : here.holder ? nameOf(here.holder) : null}
        <Mark layer={here.isApplied ? 'applied' : 'production'} />
        {here.holder ? <Mark layer="writing" /> : null}
      </span>
    </>
  )
}
