/** The actions on a draft. Those that need the text of the draft store all edits of this person first. */
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
import { getCodeText, getErrorText } from '@/lib/errors'
import { type PlainTextKey, useTexts } from '@/lib/language'
import { showToast } from '@/ui/toast'
import type { LostText } from './draftBackup'
import type { Workshop } from './draftSession'
import { findOtherDraft, type OtherDraft, releaseOtherDraft } from './otherDraft'

/** The running action, as the key of its text ("Applying"). */
export type Doing = Extract<PlainTextKey, `doing.${string}`>

interface DraftTarget {
  chatId: string
  agent: AgentRow
  workspaceId: string
  /** Navigates to a suggestion. */
  onSuggestion(id: string): void
}

export interface DraftActions {
  doing: Doing | null
  /** Another draft that this person is editing, which prevents acquiring this one. */
  elsewhere: OtherDraft | null
  /** Releases the lock of the other draft, whose text is kept, and acquires this one. */
  releaseElsewhere(): Promise<DraftRow | null>
  /** Acquires the lock, and stores `content` if it is given. Returns null and shows the error when that failed. */
  acquire(content?: SpecContent): Promise<DraftRow | null>
  /** Applies the draft. Returns null and shows the error when that failed. */
  apply(): Promise<DraftRow | null>
  /**
   * Saves the draft as the next version. Returns null while another action runs, and when the text could not be stored before.
   * Throws `stale_base` when another version was saved meanwhile, and `suggestions_unused` when suggestions that were merged into the
   * draft are not in it, besides those of `unused`.
   */
  save(message: string, unused: readonly string[]): Promise<SpecRow | null>
  /** Ends the draft and makes a suggestion of it. */
  suggest(note: string): Promise<boolean>
  /** Makes a suggestion of a lost text. */
  suggestLostText(lost: LostText, note: string): Promise<boolean>
  /**
   * Makes production the base of the draft. With `mergeProduction`, its changes are merged in; otherwise the text stays
   * as it is.
   */
  rebase(mergeProduction: boolean): Promise<DraftRow | null>
  discard(): Promise<void>
  release(): Promise<void>
  /** Passes the lock to a person who requested the draft. */
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

  // A ref, because a double click arrives before the button is rendered as busy.
  const isRunning = useRef(false)
  const begin = (action: Doing) => {
    if (isRunning.current) return false
    isRunning.current = true
    setDoing(action)
    return true
  }
  const end = () => {
    isRunning.current = false
    setDoing(null)
  }

  const runAction = async <T>(action: Doing, run: () => Promise<T>): Promise<T | null> => {
    if (!begin(action)) return null
    setElsewhere(null)
    try {
      return await run()
    } catch (error) {
      if (error instanceof ApiError && error.code === 'other_draft_locked') {
        setElsewhere(findOtherDraft(error))
      } else showToast(getErrorText(error))
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

  const releaseElsewhere = async () => {
    if (!elsewhere) return null
    const closed = await runAction('doing.opening', () => releaseOtherDraft(elsewhere))
    return closed ? acquire() : null
  }

  /** Stores all edits. Returns the revision, or null after showing the error. */
  const flushOrNotify = async () => {
    const revision = await workshop.flush()
    const problem = workshop.getProblem()
    if (revision === null && problem) showToast(getCodeText(problem))
    return revision
  }

  const apply = async () => {
    const row = await runAction('doing.applying', async () => {
      const revision = await flushOrNotify()
      return revision === null ? null : drafts.apply(chatId, agentId, revision)
    })
    if (row) workshop.upsertRow(row)
    return row
  }

  const save = async (message: string, unused: readonly string[]): Promise<SpecRow | null> => {
    if (!begin('doing.saving')) return null
    try {
      const revision = await flushOrNotify()
      if (revision === null) return null
      const base = workshop.draft?.base_version ?? agent.spec.number ?? 0
      // What is read of the draft could arrive after its end, and would not be found.
      await client.cancelQueries({ queryKey: keys.draft(workshop.draft?.id ?? '') })
      const spec = await drafts.save(chatId, agentId, {
        revision,
        base_version: base,
        message,
        unused_suggestions: [...unused],
      })
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
        const revision = await flushOrNotify()
        return revision === null ? null : drafts.suggest(chatId, agentId, { revision, note })
      }),
    )
  const suggestLostText = async ({ id, content, base_version }: LostText, note: string) =>
    finishSuggestion(
      await runAction('doing.suggesting', () =>
        drafts.suggestText(chatId, agentId, { id, content, base_version, note }),
      ),
    )

  const rebase = async (mergeProduction: boolean) => {
    const row = await runAction('doing.rebasing', async () => {
      const revision = await flushOrNotify()
      return revision === null ? null : drafts.rebase(chatId, agentId, revision, mergeProduction)
    })
    if (row) workshop.upsertRow(row)
    return row
  }

  const discard = async () => {
    const { content, draft } = workshop
    const flushed = workshop.isMine ? await workshop.flush() : (draft?.revision ?? null)
    // Edits that cannot be stored do not prevent discarding: they become a lost text, and Undo restores the stored text.
    const revision = flushed ?? workshop.getStoredRevision()
    const restored = flushed === null ? draft?.written : content
    const row = await runAction('doing.discarding', async () =>
      revision === null ? null : drafts.discard(chatId, agentId, revision),
    )
    if (!row) return
    workshop.upsertRow(row)
    showToast(t('draftDiscarded', { name }), { label: t('undo'), run: () => void acquire(restored) })
  }

  const release = async () => {
    const revision = await workshop.flush()
    if (revision === null) return
    const row = await drafts.release(chatId, agentId, revision).catch(() => null)
    if (row) workshop.upsertRow(row)
  }

  const handOver = async (to: string) => {
    const row = await runAction('doing.handingOver', async () => {
      const revision = await flushOrNotify()
      return revision === null ? null : drafts.handOver(chatId, agentId, { revision, to })
    })
    if (row) workshop.upsertRow(row)
  }

  return {
    doing,
    elsewhere,
    releaseElsewhere,
    acquire,
    apply,
    save,
    suggest,
    suggestLostText,
    rebase,
    discard,
    release,
    handOver,
  }
}
