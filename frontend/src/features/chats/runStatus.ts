/** The status of a run on the screen, with the actions that are possible in it. */
import { type RunRow, retryRun, stopRun } from '@/api'
import { isActive, type StreamingText, upsertRows } from '@/realtime'
import type { RunEnd } from './reply'

interface ActiveRun {
  run: RunRow
  stop(): Promise<void>
}

interface FailedOrStoppedRun {
  runEnd: RunEnd
  retry(): Promise<void>
}

export type RunStatus =
  /** It has answered, or it is not loaded. */
  | { status: 'idle' }
  /** It was requested, and its row has not arrived yet. */
  | { status: 'expected' }
  /** It ended without an answer, and a later run has answered, or has ended as well. */
  | { status: 'tried_again' }
  | ({ status: 'queued' | 'working' | 'streaming' | 'awaiting_approval' | 'awaiting_child' } & ActiveRun)
  | ({ status: 'failed' | 'stopped' } & FailedOrStoppedRun)

/** A run that has not ended. */
export type ActiveStatus = Extract<RunStatus, ActiveRun>
/** A run that ended without an answer. */
export type FailedOrStoppedStatus = Extract<RunStatus, FailedOrStoppedRun>

interface RunStatusInput {
  chatId: string
  runId: string
  run: RunRow | null
  /** Its streaming texts. */
  streaming: readonly StreamingText[]
  /** The end of the run, from its message. */
  runEnd: RunEnd | null
  /** Whether it was just requested. */
  isExpected?: boolean
  /** Whether a later run has tried the same again. */
  isTriedAgain?: boolean
}

export function getRunStatus(input: RunStatusInput): RunStatus {
  const { chatId, runId, run, streaming, runEnd, isExpected = false, isTriedAgain = false } = input
  if (run && isActive(run)) {
    const stop = async () => upsertRows(chatId, [await stopRun(runId)])
    return { status: streaming.length > 0 ? 'streaming' : toActiveStatus(run), run, stop }
  }
  if (isExpected && !run) return { status: 'expected' }
  if (!runEnd) return { status: 'idle' }
  if (isTriedAgain) return { status: 'tried_again' }
  return { status: runEnd.kind, runEnd, retry: async () => upsertRows(chatId, [await retryRun(runId)]) }
}

function toActiveStatus(run: RunRow): ActiveStatus['status'] {
  switch (run.state) {
    case 'queued':
      return 'queued'
    case 'waiting_approval':
      return 'awaiting_approval'
    case 'waiting_child':
    case 'waiting_board':
      return 'awaiting_child'
    default:
      return 'working'
  }
}

/** Returns the status if the run has not ended, else null. */
export const getActiveStatus = (status: RunStatus): ActiveStatus | null => ('run' in status ? status : null)

/** Returns the status if the run failed or was stopped, else null. */
export const getFailedOrStoppedStatus = (status: RunStatus): FailedOrStoppedStatus | null =>
  'runEnd' in status ? status : null

/** Returns whether an answer is still expected. */
export const isBusy = (status: RunStatus): boolean => status.status === 'expected' || getActiveStatus(status) !== null

/** Returns whether a run waits to start, or works without streaming a text at present. */
export const isPending = ({ status }: ActiveStatus): boolean => status === 'working' || status === 'queued'
