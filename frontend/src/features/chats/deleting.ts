/** Deleting messages for everybody: at once, or after a while in which it can be undone. */
import { deleteMessage, type RunRow } from '@/api'
import { getErrorText } from '@/lib/errors'
import { t } from '@/lib/language'
import { type ChatState, isActive, upsertRows } from '@/realtime'
import { removeToast, showToast, toasts } from '@/ui/toast'
import { type DeletableRow, pendingDeletions } from './deletions'
import { canStop } from './stopRights'

/** The messages that will be deleted unless that is undone, by the id of the toast that offers it. */
const waiting = new Map<number, DeletableRow>()

/** Returns the runs that have begun to answer a message, and that this person may stop. Deleting it does not stop them. */
export const listRunsAnswering = (chat: ChatState, id: string, me: string, isEditor: boolean): RunRow[] =>
  [...chat.rows.run.values()].filter(
    run =>
      (run.trigger_id === id || run.answered_ids?.includes(id)) &&
      isActive(run) &&
      canStop(run, me, isEditor) &&
      // A queued run has begun if it is queued again after an attempt.
      (run.state !== 'queued' || run.attempt > 0),
  )

/** Deletes a message once the toast that offers to undo it is gone, or the page is left. */
export function deleteWithUndo(row: DeletableRow): void {
  if (pendingDeletions.get().has(row.id)) return
  mark(row.id, true)
  const toast = showToast(t('messageDeleted'), {
    label: t('undo'),
    run: () => {
      if (waiting.delete(toast)) mark(row.id, false)
    },
  })
  waiting.set(toast, row)
}

/** Deletes a message at once. */
export async function deleteNow(row: DeletableRow, stopRuns = false): Promise<void> {
  mark(row.id, true)
  try {
    upsertRows(row.chat_id, [await deleteMessage(row.id, stopRuns)])
  } catch (error) {
    showToast(getErrorText(error))
  }
  mark(row.id, false)
}

function mark(id: string, isPending: boolean): void {
  const ids = new Set(pendingDeletions.get())
  if (isPending) ids.add(id)
  else ids.delete(id)
  pendingDeletions.set(ids)
}

/** Sends the deletions whose toast is gone; with `all`, all of them. */
function sendDue(all = false): void {
  const shown = new Set(toasts.get()?.map(({ id }) => id))
  for (const [toast, row] of waiting) {
    if (!all && shown.has(toast)) continue
    waiting.delete(toast)
    if (shown.has(toast)) removeToast(toast)
    void deleteNow(row)
  }
}

// A toast that is closed by its action is removed only after the action has run.
toasts.subscribe(() => sendDue())

// A page in the background may never run again.
if (typeof document !== 'undefined') {
  document.addEventListener('visibilitychange', () => document.visibilityState === 'hidden' && sendDue(true))
  addEventListener('pagehide', () => sendDue(true))
}
