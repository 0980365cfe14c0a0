"""Runs of supervisors that wait for their boards (`waiting_board`).

Such a run has no lease and no slot, and blocks no concurrency key: a later message gets a run of its own. The whole wait
counts as waited. The board queues the run again when its tasks have ended, and the run goes on from its stored rows.
"""

import json
from collections.abc import Sequence

from boards.models import Board
from boards.plan import find_problems
from boards.selectors import list_tasks
from boards.services import engine
from boards.services.agents import find_agents_for_tasks
from boards.services.estimates import estimate_tasks
from boards.services.planning import check_boards_under_way, decompose_board, fail_plan, open_board
from boards.services.task_inputs import build_results
from boards.waits import MAX_TASKS_OF_MODEL, BoardWait
from chats import services as chats
from chats.models import Message
from chats.services import RowChange
from chats.services.text_sources import classify_texts_of_others
from common.clock import now
from common.errors import LimitReached
from common.writing import RowUpdate
from events.rows import BoardReason, BoardState, TextsOfOthers
from llm.messages import ToolCall
from runs.models import KindName, Run, RunState
from runs.runtime.dispatch import dispatch_run
from runs.runtime.steps import ToolResult, ToolStatus, WaitingCall
from runs.runtime.waits import WaitKind

NOT_VALID = "The plan was not valid, and no task was started. {problems} Call this tool once more with a valid plan."
NOT_VALID_TWICE = (
    "The plan was not valid a second time, and no task was started. {problems} Answer yourself now, and say that the tasks could"
    " not be given to others, and why."
)
ALREADY_PLANNED = "You have made a plan for this message already. Answer now."


class BoardWaits(WaitKind[BoardWait]):
    """Calls that make a plan: the run waits until the tasks of its board have ended."""

    name = BoardWait.kind

    def find_refusal(self, run: Run, wait: BoardWait, others: Sequence[BoardWait]) -> str:
        if run.kind != KindName.CHAT:
            return "You were given this task by another agent, and make no plan for others. Do it yourself."
        return "One plan is made at a time: not this one." if others else ""

    def start(self, update: RowUpdate[Run], calls: Sequence[WaitingCall]) -> list[RowChange]:
        """Open the board of the run and start it, or store what is wrong with its plan; then the run goes on at once."""
        run, waiting = update.row, calls[0]
        wait = waiting.wait
        if not isinstance(wait, BoardWait):
            raise TypeError(f"The call {waiting.call.id} makes no plan.")
        update.set(lease_owner="", lease_until=None)
        board = open_board(
            run,
            call_id=waiting.call.id,
            user_input=_read_request(run),
            max_at_once=wait.max_at_once,
            limit_micro=wait.limit_micro,
        )
        changes: list[RowChange] = []
        if board.state == BoardState.INIT:
            changes = self._start_board(run, board, waiting.call.id, wait)
        if board.state in (BoardState.DECOMPOSED, BoardState.EXECUTING):
            update.set(state=RunState.WAITING_BOARD, waiting_since=now())
        else:
            update.set(state=RunState.QUEUED, dispatched_at=None if run.is_isolated else now())
            dispatch_run(run)
        return changes

    def _start_board(self, run: Run, board: Board, call_id: str, wait: BoardWait) -> list[RowChange]:
        """Give a board its plan and let it begin. Return the changes that are not written yet."""
        chat = run.get_chat()
        agents = find_agents_for_tasks(run.workspace_id, [task.agent_id for task in wait.tasks])
        problems = [*wait.problems] or find_problems(wait.tasks, max_tasks=min(wait.max_tasks, MAX_TASKS_OF_MODEL))
        problems = problems or [
            f"The agent of task {number} is gone, or accepts no tasks."
            for number, task in enumerate(wait.tasks, 1)
            if task.agent_id not in agents
        ]
        try:
            check_boards_under_way(chat, besides=board.id)
        except LimitReached as error:
            problems = [error.message]
        if problems:
            is_second = not board._state.adding
            if is_second:
                board.call_id = call_id
                return fail_plan(board, problems)
            board.error = " ".join(problems)[:600]
            return [board]
        # Written first, so that it is loaded and begins like any other.
        changes = decompose_board(
            board,
            wait.tasks,
            call_id=call_id,
            reasoning=wait.reasoning,
            requires_aggregation=wait.requires_aggregation,
            read_texts=_classify_read_texts(run),
            agents=agents,
        )
        board.estimate_micro = estimate_tasks(run.workspace_id, [task.agent_id for task in wait.tasks])
        chats.save_changes(chat.id, changes)
        [loaded] = engine.lock_boards([board.id])
        engine.begin_or_ask(loaded, wait.ask_above_micro)
        board.state = loaded.board.state
        return loaded.prepare_changes()

    def find_results(self, run: Run, calls: Sequence[ToolCall]) -> dict[str, ToolResult]:
        board = Board.objects.filter(supervisor_run=run, call_id__in=[call.id for call in calls]).first()
        if board is None or board.state in (BoardState.INIT, BoardState.DECOMPOSED, BoardState.EXECUTING):
            return {}
        call = next(call for call in calls if call.id == board.call_id)
        if board.reason_code == BoardReason.PLAN_INVALID:
            return {call.id: ToolResult(call, "error", NOT_VALID_TWICE.format(problems=board.error))}
        results = build_results(board, list(list_tasks().filter(board=board)))
        text = json.dumps(results | ({"error": board.error} if board.error else {}), ensure_ascii=False)
        status: ToolStatus = "error" if board.state == BoardState.FAILED else "ok"
        return {call.id: ToolResult(call, status, text, quotes_agents=True)}

    def find_refused(self, run: Run, calls: Sequence[ToolCall]) -> dict[str, ToolResult]:
        board = Board.objects.filter(supervisor_run=run).first() if calls else None
        if board is None:
            return {}
        if board.state == BoardState.INIT:
            text = NOT_VALID.format(problems=board.error)
            return {call.id: ToolResult(call, "error", text) for call in calls if call.id == board.call_id}
        return {call.id: ToolResult(call, "error", ALREADY_PLANNED) for call in calls if call.id != board.call_id}


BOARD_WAITS = BoardWaits()


def _read_request(run: Run) -> str:
    """Return the text of the message that the run answers."""
    message = Message.objects.filter(pk=run.trigger_id, chat=run.chat_id).first() if run.trigger_id else None
    return message.text if message is not None else ""


def _classify_read_texts(run: Run) -> TextsOfOthers:
    """Return the highest class of texts that the run has read until now, which its plan carries. What is not known is from
    outside."""
    if run.has_outside_texts is not False or run.agent.workspace_id != run.workspace_id:
        return TextsOfOthers.OUTSIDE
    found = classify_texts_of_others(
        run.get_chat_id(), agent_id=run.agent_id, workspace_id=run.workspace_id, person_id=run.on_behalf_of_id
    )
    return TextsOfOthers(found or "")
