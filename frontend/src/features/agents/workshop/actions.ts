/** What can be done with a draft, with everything typed stored first. */
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type AgentRow, ApiError, drafts, keys, type SpecContent, type SpecRow } from '@/api'
import { textOfError } from '@/lib/errors'
import { type TextKey, useTexts } from '@/lib/language'
import { say } from '@/ui/Toasts'
import type { Workshop } from './session'

/** What is going on, as the key of its text ("Applying"). */
export type Doing = Extract<TextKey, `doing.${string}`>

interface Place {
  chatId: string
  agent: AgentRow
  workspaceId: string
}

export interface DraftActions {
  doing: Doing | null
  /** Where this person writes already, when that stands in the way. */
  elsewhere: { chatId: string; chatTitle: string; agentName: string } | null
  take(content?: SpecContent): Promise<void>
  apply(): Promise<void>
  /** Saves as the next version; the production that came between, when one did. */
  save(message: string, onTopOf?: number): Promise<SpecRow | null>
  discard(): Promise<void>
  release(): Promise<void>
}

const detail = (error: unknown, name: string) => (error instanceof ApiError ? String(error.data[name] ?? '') : '')

export function useDraftActions({ chatId, agent, workspaceId }: Place, workshop: Workshop): DraftActions {
  const { t } = useTexts()
  const client = useQueryClient()
  const [doing, setDoing] = useState<Doing | null>(null)
  const [elsewhere, setElsewhere] = useState<DraftActions['elsewhere']>(null)
  const agentId = agent.actor.id
  const name = agent.actor.name

  // A double click comes before the button is drawn as busy.
  const running = useRef(false)
  const begin = (what: Doing) => {
    if (running.current) return false
    running.current = true
    setDoing(what)
    return true
  }
  const end = () => {
    running.current = false
    setDoing(null)
  }

  const during = async <T>(what: Doing, work: () => Promise<T>): Promise<T | null> => {
    if (!begin(what)) return null
    setElsewhere(null)
    try {
      return await work()
    } catch (error) {
      if (error instanceof ApiError && error.code === 'holding_another') {
        setElsewhere({
          chatId: detail(error, 'chat_id'),
          chatTitle: detail(error, 'chat_title'),
          agentName: detail(error, 'agent_name'),
        })
      } else say(textOfError(error))
      return null
    } finally {
      end()
    }
  }

  const take = async (content?: SpecContent) => {
    const row = await during('doing.opening', () =>
      drafts.write(chatId, agentId, { revision: null, ...(content ? { content } : {}) }),
    )
    if (row) workshop.resume(row)
  }

  const apply = async () => {
    const row = await during('doing.applying', async () => {
      const revision = await workshop.flush()
      return revision === null ? null : drafts.apply(chatId, agentId, revision)
    })
    if (row) workshop.learnRow(row)
  }

  const rebased = async (revision: number) => {
    const row = await drafts.rebase(chatId, agentId, revision, false)
    workshop.learnRow(row)
    return row
  }

  const save = async (message: string, onTopOf?: number): Promise<SpecRow | null> => {
    if (!begin('doing.saving')) return null
    try {
      const flushed = await workshop.flush()
      if (flushed === null) return null
      const row = onTopOf === undefined ? null : await rebased(flushed)
      const base = row?.base_version ?? workshop.draft?.base_version ?? agent.spec.number ?? 0
      const spec = await drafts.save(chatId, agentId, {
        revision: row?.revision ?? flushed,
        base_version: base,
        message,
      })
      await client.invalidateQueries({ queryKey: keys.agents(workspaceId) })
      void client.invalidateQueries({ queryKey: keys.versions(agentId) })
      say(t('savedAs', { version: `v${spec.number}`, name }))
      return spec
    } finally {
      end()
    }
  }

  const discard = async () => {
    const { content } = workshop
    const revision = workshop.isMine ? await workshop.flush() : (workshop.draft?.revision ?? null)
    const row = await during('doing.discarding', async () =>
      revision === null ? null : drafts.discard(chatId, agentId, revision),
    )
    if (!row) return
    workshop.learnRow(row)
    say(t('draftDiscarded', { name }), { label: t('undo'), run: () => void take(content) })
  }

  const release = async () => {
    const revision = await workshop.flush()
    if (revision === null) return
    const row = await drafts.release(chatId, agentId, revision).catch(() => null)
    if (row) workshop.learnRow(row)
  }

  return { doing, elsewhere, take, apply, save, discard, release }
}
