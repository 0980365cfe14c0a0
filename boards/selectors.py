"""Reads of boards."""

from typing import Any
from uuid import UUID

from django.db.models import Prefetch, QuerySet

from boards.models import Board, BoardTask, TaskEdge, TaskResult
from events.rows import BoardDetailRow, BoardSettingsRow, TextsOfOthers
from workspaces.models import Workspace


def list_tasks() -> QuerySet[BoardTask]:
    """Return the tasks of all boards in the order of their numbers, with their results."""
    results: Any = Prefetch("results", TaskResult.objects.order_by("attempt", "pk"), to_attr="stored_results")
    return BoardTask.objects.prefetch_related(results).order_by("board", "number")


def build_detail(board: Board) -> BoardDetailRow:
    """Return a board with its tasks."""
    return BoardDetailRow(board=board.to_row(), tasks=[task.to_row() for task in list_tasks().filter(board=board)])


def build_settings_row(workspace: Workspace) -> BoardSettingsRow:
    """Return what a workspace has set for its boards."""
    return BoardSettingsRow(ask_above_micro=workspace.boards_ask_above_micro, revision=workspace.boards_revision)


def list_boards(chat_id: UUID) -> QuerySet[Board]:
    """Return the boards of a chat."""
    return Board.objects.filter(chat=chat_id)


def list_boards_of_message(chat_id: UUID, message_id: UUID) -> list[Board]:
    """Return the boards that supervisors have made for a message of the chat, and those that repeat them."""
    rows = Board.objects.filter(chat=chat_id).order_by("pk")
    found = last = list(rows.filter(supervisor_run__trigger_id=message_id))
    while last:
        last = list(rows.filter(forked_from__in=last))
        found = [*found, *last]
    return found


def list_results(board: Board) -> QuerySet[TaskResult]:
    """Return the results of a board, in the order of the numbers of their tasks and of their attempts."""
    results = TaskResult.objects.filter(task__board=board).select_related("task")
    return results.order_by("task__number", "attempt", "pk")


def find_answers_from_outside(chat_id: UUID) -> list[UUID]:
    """Return the id of a result from outside that the answer of a board in the chat was put together from; empty if there is none.
    The agent that wrote it need not be in the chat, and may have called no tool. A listener of `find_answers_from_outside`."""
    results = TaskResult.objects.filter(task__board__chat=chat_id, task__board__requires_aggregation=True)
    return list(results.filter(read_texts=TextsOfOthers.OUTSIDE).values_list("pk", flat=True)[:1])


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return all boards of a deleted workspace, to purge them. A listener of `collect_rows_to_purge`."""
    boards = Board.objects.filter(workspace=workspace)
    tasks = BoardTask.objects.filter(board__workspace=workspace)
    return [TaskResult.objects.filter(task__in=tasks), TaskEdge.objects.filter(board__in=boards), tasks, boards]
