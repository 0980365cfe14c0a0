/** A run as the screen shows it: one of these, with what can be done about it then. */
import { type RunRow, retryRun, stopRun } from '@/api'
import { isActive, type LiveText, upsertRows } from '@/realtime'
import type { RunEnd } from './reply'

interface ActiveRun {
  run: RunRow
  stop(): Promise<void>
}

interface FinishedRun {
  runEnd: RunEnd
  retry(): Promise<void>
}

export type RunStatus =
  /** It has answered, or nothing is known of it. */
  | { status: 'idle' }
  /** It was asked for; its row is still to come. */
  | { status: 'expected' }
  | ({ status: 'queued' | 'working' | 'streaming' | 'awaiting_approval' | 'awaiting_child' } & ActiveRun)
  | ({ status: 'failed' | 'stopped' } & FinishedRun)

/** A run that has not ended. */
export type ActiveStatus = Extract<RunStatus, ActiveRun>
/** A run that ended without an answer. */
export type FinishedStatus = Extract<RunStatus, FinishedRun>

interface RunFacts {
  chatId: string
  runId: string
  run: RunRow | null
  /** What it streams now. */
  live: readonly LiveText[]
  /** The row that says how it ended. */
  runEnd: RunEnd | null
  /** Whether it was asked for just now. */
  isExpected?: boolean
}

export function runStatusOf({ chatId, runId, run, live, runEnd, isExpected = false }: RunFacts): RunStatus {
  if (run && isActive(run)) {
    const stop = async () => upsertRows(chatId, [await stopRun(runId)])
    return { status: live.length > 0 ? 'streaming' : activeStatusOf(run), run, stop }
  }
  if (isExpected && !run) return { status: 'expected' }
  if (!runEnd) return { status: 'idle' }
  return { status: runEnd.kind, runEnd, retry: async () => upsertRows(chatId, [await retryRun(runId)]) }
}

function activeStatusOf(run: RunRow): ActiveStatus['status'] {
  switch (run.state) {
    case 'queued':
      return 'queued'
    case 'waiting_approval':
      return 'awaiting_approval'
    case 'waiting_child':
      return 'awaiting_child'
    default:
      return 'working'
  }
}

/** The status if the run has not ended, else null. */
export const activeOf = (status: RunStatus): ActiveStatus | null => ('run' in status ? status : null)

/** The status if the run failed or was stopped, else null. */
export const finishedOf = (status: RunStatus): FinishedStatus | null => ('runEnd' in status ? status : null)

/** Whether an answer is still to come. */
export const isBusy = (status: RunStatus): boolean => status.status === 'expected' || activeOf(status) !== null
