import { type ReactNode, Suspense, useMemo, useState } from 'react'
import { type BoardRow, type BoardTaskRow, useBoardAction } from '@/api'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { useLatest } from '@/lib/latest'
import { formatList } from '@/lib/names'
import { upsertRows } from '@/realtime'
import { lazy } from '@/ui/lazy'
import { showToast } from '@/ui/toast'
import { getBoardRights } from '../stopRights'
import { BoardContext, type BoardContextValue } from './boardContext'
import { useChat } from './ChatContext'

const RunAgainDialog = lazy(() => import('./RunAgainDialog').then(module => ({ default: module.RunAgainDialog })))

interface BoardProviderProps {
  board: BoardRow
  tasks: readonly BoardTaskRow[]
  children: ReactNode
}

/** Gives the parts of a board its rows and its actions, and shows the form that does a task again. */
export function BoardProvider({ board, tasks, children }: BoardProviderProps) {
  const { me, isEditor } = useChat()
  const [againId, setAgainId] = useState<string | null>(null)
  const reason = useBlockedReason(board)
  const { mutate, isPending } = useBoardAction({
    onSuccess: detail => upsertRows(board.chat_id, [detail.board, ...detail.tasks]),
    onError: error => showToast(getErrorText(error)),
  })
  const latest = useLatest(mutate)
  const value = useMemo<BoardContextValue>(() => {
    const rights = getBoardRights(board, me, isEditor)
    return {
      board,
      tasks,
      blocked: rights.control ? isPending : reason,
      blockedLimit: rights.raiseLimit ? isPending : reason,
      perform: request => latest.current(request),
      runAgain: task => setAgainId(task.id),
    }
  }, [board, tasks, me, isEditor, reason, isPending])
  const again = tasks.find(task => task.id === againId)
  return (
    <BoardContext value={value}>
      {children}
      {again ? (
        <Suspense fallback={null}>
          <RunAgainDialog task={again} onClose={() => setAgainId(null)} />
        </Suspense>
      ) : null}
    </BoardContext>
  )
}

/** Returns who may control a board, for those who may not. */
function useBlockedReason(board: BoardRow): string {
  const { t } = useTexts()
  const { findActor } = useChat()
  const ids = [...new Set([board.on_behalf_of, board.started_by])]
  const names = formatList(ids.flatMap(id => findActor(id)?.name ?? []))
  return names ? t('board.onlyFor', { names }) : t('board.onlyEditors')
}
