/** The actions of an open chat. */
import { stopBoard, stopRun, type ThumbValue } from '@/api'
import { useActions } from '@/lib/actions'
import { chatState, isActive, isEnded, upsertRows } from '@/realtime'
import { findRowToCompare } from './comparison'
import type { ChatContextValue } from './components/ChatContext'
import { type CopyFormat, findMarkdown } from './copying'
import { findRowToDelete } from './deletions'
import { isOwnText } from './edits'
import { findRowToPin } from './pins'
import { openChoiceOf } from './reactions'
import { canStop, getBoardRights } from './stopRights'
import { findShownRows } from './subAgents'
import { isSystemMessage } from './system'
import { findAnswer } from './thumbs'

const loadAnswerPlaces = () => import('./answerPlaces')

interface ChatActions {
  context: ChatContextValue
  focusComposer(): void
}

const findFocusedId = () => document.activeElement?.closest<HTMLElement>('[data-message]')?.dataset['message']

function replyToFocused({ chatId, reply }: ChatContextValue): boolean {
  const id = findFocusedId()
  const row = id ? chatState(chatId).rows.message.get(id) : undefined
  // A system message has no text that a reply could quote.
  if (!row || isSystemMessage(row) || ('is_deleted' in row.payload && row.payload.is_deleted)) return false
  reply(row)
  return true
}

function editFocused({ chatId, edit, me }: ChatContextValue): boolean {
  const id = findFocusedId()
  const row = id ? chatState(chatId).rows.message.get(id) : undefined
  if (!isOwnText(row, me)) return false
  edit?.(row)
  return true
}

function deleteFocused({ chatId, remove, me, isEditor }: ChatContextValue): boolean {
  const id = findFocusedId()
  const row = id ? findRowToDelete(chatState(chatId), id, me, isEditor) : undefined
  if (row) remove?.(row)
  return row !== undefined
}

function togglePinOfFocused({ chatId, togglePin }: ChatContextValue): boolean {
  const id = findFocusedId()
  const row = id ? findRowToPin(chatState(chatId), id) : undefined
  if (row) togglePin?.(row)
  return row !== undefined
}

function reactToFocused({ chatId }: ChatContextValue): boolean {
  const id = findFocusedId()
  return id !== undefined && openChoiceOf(findShownRows(chatState(chatId), id), id)
}

function copyFocused({ chatId, copy }: ChatContextValue, format: CopyFormat): boolean {
  const id = findFocusedId()
  if (!id || !findMarkdown(chatState(chatId), id)) return false
  copy(id, format)
  return true
}

function compareFocused({ chatId, me, compare, findActor }: ChatContextValue): boolean {
  const id = findFocusedId()
  const isPerson = (actorId: string | null) => findActor(actorId)?.kind === 'human'
  const row = id ? findRowToCompare(chatState(chatId), id, me, isPerson) : undefined
  if (row) compare?.(row)
  return row !== undefined
}

function toggleThumbOfFocused({ chatId, toggleThumb, findActor }: ChatContextValue, value: ThumbValue): boolean {
  const id = findFocusedId()
  const row = id ? findAnswer(chatState(chatId), id, findActor) : undefined
  if (row) toggleThumb?.(row, value)
  return row !== undefined
}

function askAgainAtFocused({ chatId, askOtherAnswer, findActor }: ChatContextValue): boolean {
  const runId = findAnswer(chatState(chatId), findFocusedId() ?? '', findActor)?.run_id
  if (runId) askOtherAnswer?.(runId)
  return Boolean(runId)
}

/** Shows the previous or the next answer in the place of the focused one. */
async function showNeighbourOf(chatId: string, id: string, step: -1 | 1): Promise<void> {
  const { showNeighbour } = await loadAnswerPlaces()
  showNeighbour(chatState(chatId), id, step)
}

function showNeighbourOfFocused({ chatId }: ChatContextValue, step: -1 | 1): boolean {
  const id = findFocusedId()
  if (id) void showNeighbourOf(chatId, id, step)
  return id !== undefined
}

/** Returns a function that stops all active boards and runs of the chat that the reader may stop; null if there is none. */
function getStopAll({ chatId, me, isEditor }: ChatContextValue): (() => void) | null {
  const { rows } = chatState(chatId)
  const boards = [...rows.board.values()].filter(
    board => !isEnded(board) && getBoardRights(board, me, isEditor).control,
  )
  // The runs of a board are stopped with it.
  const boardCalls = new Set([...rows.board_task.values()].map(task => task.id))
  const runs = [...rows.run.values()].filter(
    run => isActive(run) && canStop(run, me, isEditor) && !boardCalls.has(run.metadata?.call_id ?? ''),
  )
  if (boards.length + runs.length === 0) return null
  return () => {
    for (const { id } of boards)
      stopBoard(id).then(
        ({ board, tasks }) => upsertRows(chatId, [board, ...tasks]),
        () => undefined,
      )
    for (const run of runs)
      stopRun(run.id).then(
        row => upsertRows(chatId, [row]),
        () => undefined,
      )
  }
}

export function useChatActions({ context, focusComposer }: ChatActions): void {
  useActions(() => ({
    'composer.focus': focusComposer,
    'message.reply': () => replyToFocused(context),
    'message.edit': context.edit && (() => editFocused(context)),
    'message.delete': context.remove && (() => deleteFocused(context)),
    'message.pin': context.togglePin && (() => togglePinOfFocused(context)),
    'message.react': context.canReact ? () => reactToFocused(context) : null,
    'message.copyText': () => copyFocused(context, 'text'),
    'message.copyMarkdown': () => copyFocused(context, 'markdown'),
    'message.compare': context.compare && (() => compareFocused(context)),
    'message.good': context.toggleThumb && (() => toggleThumbOfFocused(context, 'up')),
    'message.bad': context.toggleThumb && (() => toggleThumbOfFocused(context, 'down')),
    'message.otherAnswer': context.askOtherAnswer && (() => askAgainAtFocused(context)),
    'answer.previous': () => showNeighbourOfFocused(context, -1),
    'answer.next': () => showNeighbourOfFocused(context, 1),
    'runs.stop': getStopAll(context),
  }))
}
