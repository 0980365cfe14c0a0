/** Who may stop a run or control a board: the person it works for, the person who triggered it, and editors. The server applies the same rule. */
import type { BoardRow, RunRow } from '@/api'

export const canStop = (run: RunRow, me: string, isEditor: boolean): boolean =>
  isEditor || run.on_behalf_of === me || run.triggered_by === me

/** Whether the reader may do something with a board. `control`: let it go on, retry its tasks, run it again. */
interface BoardRights {
  control: boolean
  raiseLimit: boolean
}

/** The person for whom a board works, the one who has started it, and editors control it. The server applies the same rule. */
export function getBoardRights(board: BoardRow, me: string, isEditor: boolean): BoardRights {
  const isStarter = board.started_by === me
  return { control: isEditor || isStarter || board.on_behalf_of === me, raiseLimit: isEditor || isStarter }
}
