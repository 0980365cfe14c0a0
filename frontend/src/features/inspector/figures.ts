import type { InspectedRunRow } from '@/api'
import type { PlainTextKey } from '@/lib/language'

/** The state of a run as the inspector names it. */
export function describeState(run: InspectedRunRow['run']): { key: PlainTextKey; tone: 'good' | 'bad' | 'plain' } {
  if (run.error_code === 'budget_used_up') return { key: 'inspector.state.budget', tone: 'bad' }
  switch (run.state) {
    case 'queued':
      return { key: 'inspector.state.queued', tone: 'plain' }
    case 'running':
      return { key: 'inspector.state.running', tone: 'plain' }
    case 'waiting_approval':
      return { key: 'inspector.state.waits', tone: 'plain' }
    case 'waiting_child':
      return { key: 'inspector.state.subAgents', tone: 'plain' }
    case 'waiting_board':
      return { key: 'inspector.state.board', tone: 'plain' }
    case 'completed':
      return { key: 'inspector.state.answered', tone: 'good' }
    case 'stopped':
      return { key: 'inspector.state.stopped', tone: 'plain' }
    case 'failed':
      return { key: 'inspector.state.failed', tone: 'bad' }
  }
}

export interface Bar {
  /** Percent of the whole time. */
  left: number
  width: number
}

/** Returns the bar of an entry of the timeline that began at `at`, in a run that began at `start` and has taken `total` ms. */
export function computeBar(at: string, seconds: number | null, start: number, total: number): Bar {
  const left = Math.min(100, Math.max(0, ((Date.parse(at) - start) / total) * 100))
  return { left, width: Math.min(100 - left, (((seconds ?? 0) * 1000) / total) * 100) }
}
