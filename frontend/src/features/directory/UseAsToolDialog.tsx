import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type ActorRow,
  type AgentRow,
  createChat,
  keys,
  readAgent,
  useAgents,
  useChats,
  useLockedDrafts,
  useMe,
  type WorkspaceRow,
} from '@/api'
import { addToolToDraft, findOtherDraft, releaseOtherDraft } from '@/features/agents'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { workshopPath } from '@/lib/paths'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { Loading } from '@/ui/Loading'
import menuStyles from '@/ui/Menu.module.css'
import { showToast } from '@/ui/toast'
import styles from './Directory.module.css'

interface UseAsToolDialogProps {
  /** The public agent. */
  actor: ActorRow
  /** Its name as a tool. */
  toolName: string
  workspace: WorkspaceRow
  onGo(path: string): void
  onClose(): void
}

/** The choice of an agent of this workspace that gets a public agent as a tool: in its draft, whose workshop is opened then. */
export function UseAsToolDialog({ actor, toolName, workspace, onGo, onClose }: UseAsToolDialogProps) {
  const { t } = useTexts()
  const agents = useAgents(workspace.id)
  const { give, releaseAndGive, busy, error } = useGive(toolName, workspace, (path, name) => {
    onClose()
    onGo(path)
    showToast(t('agentTool.given', { tool: actor.name, name }))
  })
  const [chosen, setChosen] = useState<string | null>(null)
  const editable = (agents.data ?? []).filter(row => row.verbs.includes('edit_draft'))
  const findDraftChat = useFindDraftChat(workspace.id)
  const other = findOtherDraft(error)
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('agentTool.title', { name: actor.name })}
      description={t('agentTool.hint', { name: actor.name })}
    >
      {agents.data ? (
        <ul className={styles.options}>
          {editable.map(row => {
            const { lockHolder } = findDraftChat(row.actor.id)
            return (
              <li key={row.actor.id}>
                <button
                  type="button"
                  className={cx(menuStyles.opt, lockHolder && 'faint')}
                  aria-disabled={Boolean(lockHolder) || busy || undefined}
                  onClick={() => {
                    if (lockHolder || busy) return
                    setChosen(row.actor.id)
                    give(row.actor.id)
                  }}
                >
                  <Avatar id={row.actor.id} name={row.actor.name} avatar={row.actor.avatar} square />
                  <span className="cut grow">{row.actor.name}</span>
                  <span className="faint xs">
                    {lockHolder ? t('agentTool.isWriting', { name: lockHolder }) : t('agentTool.opensDraft')}
                  </span>
                </button>
              </li>
            )
          })}
        </ul>
      ) : (
        <Loading query={agents} />
      )}
      {agents.data && editable.length === 0 ? <p className="muted sm">{t('agentTool.noAgent')}</p> : null}
      <ErrorBanner error={error} />
      {other && chosen ? (
        <div className="row endrow">
          <Button onClick={() => releaseAndGive(chosen)}>{t('agentTool.closeOther', { name: other.agentName })}</Button>
        </div>
      ) : null}
    </Dialog>
  )
}

interface DraftChat {
  /** The chat in whose draft an agent gets the tool; null for a new chat. */
  chatId: string | null
  /** The name of another person who is editing, if the drafts of all chats of the agent are locked. */
  lockHolder: string | null
}

/** Returns a function that finds, of the chats of an agent, the last used one in which nobody else is editing its draft. */
function useFindDraftChat(workspaceId: string): (agentId: string) => DraftChat {
  const me = useMe().data?.actor.id
  const chats = useChats(workspaceId).data ?? []
  const locks = (useLockedDrafts(workspaceId).data ?? []).filter(draft => draft.lock_holder.id !== me)
  return agentId => {
    const own = chats.filter(row => row.participants.some(participant => participant.id === agentId))
    const findLock = (chatId: string) => locks.find(lock => lock.agent_id === agentId && lock.chat_id === chatId)
    const free = own.find(row => !findLock(row.chat.id))
    const lock = own[0] && !free ? findLock(own[0].chat.id) : undefined
    return { chatId: free?.chat.id ?? null, lockHolder: lock?.lock_holder.name ?? null }
  }
}

/** Returns functions that give the public agent to an agent of the workspace. */
function useGive(toolName: string, workspace: WorkspaceRow, onGiven: (path: string, name: string) => void) {
  const client = useQueryClient()
  const findDraftChat = useFindDraftChat(workspace.id)
  const me = useMe().data?.actor.id ?? ''
  const { run, busy, error } = useAsyncAction()
  const startChat = async (agent: AgentRow): Promise<string> => {
    const made = await createChat(workspace.id, { title: agent.actor.name, actor_ids: [agent.actor.id] })
    await client.invalidateQueries({ queryKey: keys.chats(workspace.id) })
    return made.chat.id
  }
  const add = async (agentId: string) => {
    const agent = await readAgent(agentId)
    const chatId = findDraftChat(agentId).chatId ?? (await startChat(agent))
    await addToolToDraft(chatId, agent, toolName, me)
    await client.invalidateQueries({ queryKey: keys.offeredTools(workspace.id) })
    onGiven(workshopPath(workspace.handle, chatId, agentId), agent.actor.name)
  }
  return {
    busy,
    error,
    give: (agentId: string) => void run(() => add(agentId)),
    /** Releases the other draft that the reader is editing, whose text is kept, and then gives the public agent. */
    releaseAndGive: (agentId: string) => {
      const other = findOtherDraft(error)
      if (other)
        void run(async () => {
          await releaseOtherDraft(other)
          await add(agentId)
        })
    },
  }
}
