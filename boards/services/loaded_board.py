"""A locked board with its tasks and edges in memory, and what is to be written of them."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Q

from boards.models import Board, BoardTask, TaskEdge, TaskResult
from chats.models import Message
from chats.services import RowChange
from common.clock import now
from common.writing import RowUpdate
from events.rows import BoardTaskState, TextsOfOthers
from runs.models import Run
from runs.runtime.dispatch import dispatch_siblings


class BoardChanged(Exception):
    """A row of a board is not as it was when the board was locked. This is a bug; nothing is written."""


class LoadedBoard:
    """A board that the current transaction has locked, after its chat. Its tasks are written only if they are still in the
    state, the attempt and the epoch that they had when they were loaded; each edge is settled once."""

    def __init__(self, board: Board) -> None:
        self.board = board
        tasks = BoardTask.objects.filter(board=board).select_related("agent").order_by("number")
        self.tasks = {task.number: task for task in tasks}
        self._by_id = {task.id: task for task in self.tasks.values()}
        self.edges = list(TaskEdge.objects.filter(board=board))
        self.new_rows: list[RowChange] = []
        """New runs and messages, and updates of runs."""
        self.started_runs: list[Run] = []
        """The new runs of tasks, which are dispatched together on commit."""
        self.answers: dict[UUID, Message] = {}
        """The answers that new results are taken from, by the ids of the results. They may not be stored yet."""
        self.runs_to_stop: list[Run] = []
        """Active runs of this board that are to be stopped, once all other changes are written."""
        self._board_update = RowUpdate(board, only_if={"state": board.state, "epoch": board.epoch}, error=BoardChanged)
        self._updates = {
            task.id: RowUpdate(
                task,
                only_if={"state": task.state, "attempt": task.attempt, "epoch": task.epoch},
                error=BoardChanged,
            )
            for task in self.tasks.values()
        }
        self._settled: dict[str, list[TaskEdge]] = {TaskEdge.TAKEN: [], TaskEdge.SKIPPED: []}

    def set(self, **values: Any) -> None:
        """Set fields of the board."""
        self._board_update.set(**values)

    def set_task(self, task: BoardTask, **values: Any) -> None:
        """Set fields of a task."""
        self._updates[task.id].set(**values)

    def end_task(self, task: BoardTask, state: BoardTaskState, reason_code: str = "") -> None:
        """Set a final state of a task, and settle the edges to those that follow it."""
        self.set_task(task, state=state, reason_code=reason_code[:40], ended_at=now())
        is_taken = state in (BoardTaskState.SUCCEEDED, BoardTaskState.FAILED)
        for edge in self.edges:
            # A task that is tried again after it had failed has settled its edges already.
            if edge.source_id == task.id and edge.state == TaskEdge.OPEN:
                edge.state = TaskEdge.TAKEN if is_taken else TaskEdge.SKIPPED
                self._settled[edge.state].append(edge)

    def list_sources(self, task: BoardTask) -> list[tuple[TaskEdge, BoardTask]]:
        """Return the edges to a task, with the tasks that it follows, in the order of their numbers."""
        found = [(edge, self._by_id[edge.source_id]) for edge in self.edges if edge.target_id == task.id]
        return sorted(found, key=lambda pair: pair[1].number)

    def list_targets(self, task: BoardTask) -> list[BoardTask]:
        """Return the tasks that follow a task."""
        return [self._by_id[edge.target_id] for edge in self.edges if edge.source_id == task.id]

    def list_in_state(self, *states: BoardTaskState) -> list[BoardTask]:
        """Return the tasks in these states, in the order of their numbers."""
        return [task for task in self.tasks.values() if task.state in states]

    def load_results(self, tasks: Iterable[BoardTask]) -> None:
        """Load the results of these tasks, unless they are loaded."""
        missing = {task.id: task for task in tasks if not hasattr(task, "stored_results")}
        for task in missing.values():
            task.stored_results = []
        for result in TaskResult.objects.filter(task__in=missing).order_by("attempt", "pk") if missing else ():
            missing[result.task_id].stored_results.append(result)

    def add_result(self, result: TaskResult) -> None:
        """Insert a result of a task."""
        task = self._by_id[result.task_id]
        self.load_results([task])
        result.save(force_insert=True)
        task.stored_results.append(result)
        self.set_task(task, cost_micro=task.cost_micro + result.cost_micro)
        self.set(cost_micro=self.board.cost_micro + result.cost_micro)

    def prepare_changes(self) -> list[RowChange]:
        """Write the settled edges, have the new runs dispatched on commit, and return the changes of the chat, which the caller
        saves: those of the board, of its tasks, and the new rows. Raises `BoardChanged` if an edge was settled already."""
        for state, edges in self._settled.items():
            if edges:
                ids = [edge.pk for edge in edges]
                written = TaskEdge.objects.filter(Q(state=TaskEdge.OPEN), pk__in=ids).update(state=state)
                if written != len(ids):
                    raise BoardChanged(f"An edge of board {self.board.pk} was settled already.")
                edges.clear()
        changed = [update for update in self._updates.values() if update.fields]
        self.load_results(update.row for update in changed)
        dispatch_siblings(self.started_runs)
        self.started_runs = []
        of_board = [self._board_update] if self._board_update.fields else []
        return [*of_board, *changed, *self.new_rows]


def get_current_result(task: BoardTask) -> TaskResult | None:
    """Return the result of the last attempt at a task that counts, or null. Its results must be loaded."""
    return next((result for result in reversed(task.stored_results) if not result.is_late), None)


def get_read_texts(task: BoardTask) -> TextsOfOthers:
    """Return whose texts the description and the parameters of a task may contain."""
    return TextsOfOthers(task.read_texts)
