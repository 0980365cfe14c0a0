/** What can be done with a draft, with everything typed stored first. */
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import {
  type AgentRow,
  ApiError,
  type DraftRow,
  drafts,
  keys,
  type SpecContent,
  type SpecRow,
  type SuggestionRow,
} from '@/api'
import { errorText, textOfError } from '@/lib/errors'
import { type PlainTextKey, useTexts } from '@/lib/language'
import { showToast } from '@/ui/toast'
import type { LostText } from './draftBackup'
import type { Workshop } from './draftSession'
import { closeDraft, findOtherDraft, type OtherDraft } from './otherDraft'

/** What is going on, as the key of its text ("Applying"). */
export type Doing = Extract<PlainTextKey, `doing.${string}`>

interface DraftTarget {
  chatId: string
  agent: AgentRow
  workspaceId: string
  /** Goes to a suggestion. */
  onSuggestion(id: string): void
}

export interface DraftActions {
  doing: Doing | null
  /** Where this person writes already, when that stands in the way. */
  elsewhere: OtherDraft | null
  /** Closes that other draft, whose text stays, and takes this one. */
  closeElsewhere(): Promise<DraftRow | null>
  /** Returns null, and shows why, when the lock could not be acquired. */
  acquire(content?: SpecContent): Promise<DraftRow | null>
  /** Returns null, and shows why, when the draft could not be applied. */
  apply(): Promise<DraftRow | null>
  /** Saves as the next version. Raises `stale_base` when another version came between. */
  save(message: string): Promise<SpecRow | null>
  /** The draft goes and becomes a suggestion. */
  suggest(note: string): Promise<boolean>
  /** A text that came too late for its draft becomes a suggestion. */
  offer(lost: LostText, note: string): Promise<boolean>
  /** Onto today's production: with what it changed brought in, or with the text as it is. */
  rebase(merge: boolean): Promise<DraftRow | null>
  discard(): Promise<void>
  release(): Promise<void>
  /** To somebody who has asked for it. */
  handOver(to: string): Promise<void>
}

export function useDraftActions(
  { chatId, agent, workspaceId, onSuggestion }: DraftTarget,
  workshop: Workshop,
): DraftActions {
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

  const runAction = async <T>(what: Doing, work: () => Promise<T>): Promise<T | null> => {
    if (!begin(what)) return null
    setElsewhere(null)
    try {
      return await work()
    } catch (error) {
      if (error instanceof ApiError && error.code === 'other_draft_locked') {
        setElsewhere(findOtherDraft(error))
      } else showToast(textOfError(error))
      return null
    } finally {
      end()
    }
  }

  const acquire = async (content?: SpecContent) => {
    const row = await runAction('doing.opening', () =>
      drafts.write(chatId, agentId, { revision: null, ...(content ? { content } : {}) }),
    )
    if (row) workshop.resume(row)
    return row
  }

  const closeElsewhere = async () => {
    if (!elsewhere) return null
    const closed = await runAction('doing.opening', () => closeDraft(elsewhere))
    return closed ? acquire() : null
  }

  /** Store what was typed. Returns null, and shows why, when that failed. */
  const flushOrExplain = async () => {
    const revision = await workshop.flush()
    const problem = workshop.problem()
    if (revision === null && problem) showToast(errorText(problem))
    return revision
  }

  const apply = async () => {
    const row = await runAction('doing.applying', async () => {
      const revision = await flushOrExplain()
      return revision === null ? null : drafts.apply(chatId, agentId, revision)
    })
    if (row) workshop.learnRow(row)
    return row
  }

  const save = async (message: string): Promise<SpecRow | null> => {
    if (!begin('doing.saving')) return null
    try {
      const revision = await flushOrExplain()
      if (revision === null) return null
      const base = workshop.draft?.base_version ?? agent.spec.number ?? 0
      const spec = await drafts.save(chatId, agentId, { revision, base_version: base, message })
      void client.invalidateQueries({ queryKey: keys.agents(workspaceId) })
      void client.invalidateQueries({ queryKey: keys.versions(agentId) })
      showToast(t('savedAs', { version: `v${spec.number}` }))
      return spec
    } finally {
      end()
    }
  }

  const finishSuggestion = (made: SuggestionRow | null) => {
    if (!made) return false
    void client.invalidateQueries({ queryKey: keys.suggestions(workspaceId) })
    showToast(t('suggested', { name }), { label: t('sys.see'), run: () => onSuggestion(made.id) })
    return true
  }
  const suggest = async (note: string) =>
    finishSuggestion(
      await runAction('doing.suggesting', async () => {
        const revision = await flushOrExplain()
        return revision === null ? null : drafts.suggest(chatId, agentId, { revision, note })
      }),
    )
  const offer = async ({ id, content, base_version }: LostText, note: string) =>
    finishSuggestion(
      await runAction('doing.suggesting', () =>
        drafts.suggestText(chatId, agentId, { id, content, base_version, note }),
      ),
    )

  const rebase = async (merge: boolean) => {
    const row = await runAction('doing.rebasing', async () => {
      const revision = await flushOrExplain()
      return revision === null ? null : drafts.rebase(chatId, agentId, revision, merge)
    })
    if (row) workshop.learnRow(row)
    return row
  }

  const discard = async () => {
    const { content } = workshop
    const revision = workshop.isMine ? await workshop.flush() : (workshop.draft?.revision ?? null)
    const row = await runAction('doing.discarding', async () =>
      revision === null ? null : drafts.discard(chatId, agentId, revision),
    )
    if (!row) return
    workshop.learnRow(row)
    showToast(t('draftDiscarded', { name }), { label: t('undo'), run: () => void acquire(content) })
  }

  const release = async () => {
    const revision = await workshop.flush()
    if (revision === null) return
    const row = await drafts.release(chatId, agentId, revision).catch(() => null)
    if (row) workshop.learnRow(row)
  }

  const handOver = async (to: string) => {
    const row = await runAction('doing.handingOver', async () => {
      const revision = await flushOrExplain()
      return revision === null ? null : drafts.handOver(chatId, agentId, { revision, to })
    })
    if (row) workshop.learnRow(row)
  }

  return { doing, elsewhere, closeElsewhere, acquire, apply, save, suggest, offer, rebase, discard, release, handOver }
}
