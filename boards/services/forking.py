"""Run a board again from one of its tasks: a new board, which reuses the results of the others. The first one stays as it is."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from actors.models import Actor
from approvals.selectors import find_highest
from boards.models import Board, BoardTask, TaskEdge, TaskResult
from boards.permissions import BoardVerb, get_board_for
from boards.plan import TOO_LONG, is_too_long
from boards.selectors import list_tasks
from boards.services import engine
from boards.services.controlling import build_changed_text
from boards.services.estimates import estimate_tasks
from boards.services.loaded_board import get_current_result, get_read_texts
from boards.services.planning import check_boards_under_way
from chats import services as chats
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Code, Conflict, NotFound, TooLarge, build_duplicate_id_error
from common.ids import new_id
from common.writing import insert
from events import audit
from events.rows import BoardState, BoardTaskState, PlannedBy, TextsOfOthers


@transaction.atomic
def fork_board(
    actor: Actor,
    board_id: UUID,
    *,
    id: UUID,
    number: int,
    description: str | None = None,
    parameters: dict[str, Any] | None = None,
) -> tuple[Board, bool]:
    """Run an ended board again from a task, with another description or other parameters if they are given. Return the new board,
    which has started or waits for a person (`create_board`), and whether it is new: the same `id` again returns the first one.

    The task, those that follow it, and all that have brought no result are done again; the results of the others are reused.
    It works for the actor, so the texts of a board of another person are of others. Raises `NotFound`, `Forbidden`, `Invalid`,
    `TooLarge`, `LimitReached`, and `Conflict` for a board that has not ended or has no plan, and for an id that something else has
    (`id_taken`).
    """
    source = get_board_for(actor, board_id, BoardVerb.CONTROL, lock=True)
    chat = get_chat_for(actor, source.chat_id, ChatVerb.POST)
    if stored := Board.objects.filter(pk=id).first():
        if (stored.forked_from_id, stored.forked_at, stored.started_by_id) != (source.id, number, actor.id):
            raise build_duplicate_id_error("board")
        return stored, False
    if not source.has_ended:
        raise Conflict(
            "This board has not ended.",
            code=Code.INVALID,
            hints=["Try its failed task again, or stop the board first."],
        )
    tasks = {task.number: task for task in list_tasks().filter(board=source)}
    if number not in tasks:
        raise NotFound("This board has no such task.")
    check_boards_under_way(chat)
    again = _find_tasks_after(number, tasks.values())
    added = TextsOfOthers.NONE if source.on_behalf_of_id == actor.id else TextsOfOthers.OTHERS
    board = Board(
        id=id,
        workspace_id=source.workspace_id,
        chat=chat,
        planned_by=PlannedBy.FORK,
        state=BoardState.DECOMPOSED,
        user_input=source.user_input,
        read_texts=find_highest([TextsOfOthers(source.read_texts), added]).value,
        reasoning=source.reasoning,
        requires_aggregation=source.requires_aggregation,
        task_count=source.task_count,
        max_at_once=source.max_at_once,
        limit_micro=source.limit_micro,
        aggregator_id=source.aggregator_id if source.requires_aggregation else None,
        forked_from=source,
        forked_at=number,
        on_behalf_of=actor,
        started_by=actor,
    )
    copies = {
        task.number: _copy_task(board, task, is_reused=task.number not in again, added=added) for task in tasks.values()
    }
    changed = build_changed_text(copies[number], description, parameters, by=actor, person_id=actor.id)
    for field, value in changed.items():
        setattr(copies[number], field, value)
    if changed and is_too_long(copies.values()):
        raise TooLarge(TOO_LONG)
    done_again = [copy.agent_id for copy in copies.values() if copy.state == BoardTaskState.PENDING]
    board.estimate_micro = estimate_tasks(chat.workspace_id, done_again)
    results = [
        _copy_result(copies[task.number], result, added=added)
        for task in tasks.values()
        if copies[task.number].state == BoardTaskState.SUCCEEDED and (result := get_current_result(task))
    ]
    insert(
        [TaskEdge(board=board, source=copies[after], target=copy) for copy in copies.values() for after in copy.after]
    )
    insert(results)
    for result in results:
        result.task.stored_results = [result]
    try:
        with transaction.atomic():
            chats.save_changes(chat.id, [board, *copies.values()])
    except IntegrityError:
        raise build_duplicate_id_error("board") from None
    loaded = engine.lock_boards([board.id])[0]
    engine.begin_or_ask(loaded, chat.workspace.boards_ask_above_micro, by=actor)
    engine.save(loaded)
    audit.record(actor, "board.forked", workspace_id=chat.workspace_id, object_id=board.id, forked_from=str(source.id))
    return loaded.board, True


def _find_tasks_after(number: int, tasks: Iterable[BoardTask]) -> set[int]:
    """Return the number and those of all tasks that follow it, directly or not."""
    found = {number}
    followers = {task.number: set(task.after) for task in tasks}
    while new := {other for other, after in followers.items() if after & found} - found:
        found |= new
    return found


def _copy_task(board: Board, task: BoardTask, *, is_reused: bool, added: TextsOfOthers) -> BoardTask:
    """Return the task of the new board. It has succeeded if the result of the first one is reused, and waits otherwise. `added`:
    the class that all texts of the first board have at least, for the person of the new one."""
    is_done = is_reused and task.state == BoardTaskState.SUCCEEDED and get_current_result(task) is not None
    copy = BoardTask(
        id=new_id(),
        board=board,
        chat_id=board.chat_id,
        number=task.number,
        agent_id=task.agent_id,
        agent_name=task.agent_name,
        description=task.description,
        parameters=task.parameters,
        output_schema=task.output_schema,
        read_texts=find_highest([get_read_texts(task), added]).value,
        file_ids=task.file_ids,
        after=task.after,
        join=task.join,
        on_failure=task.on_failure,
        max_attempts=task.max_attempts,
        state=BoardTaskState.SUCCEEDED if is_done else BoardTaskState.PENDING,
        attempt=1 if is_done else 0,
        ended_at=now() if is_done else None,
    )
    copy.stored_results = []
    return copy


def _copy_result(task: BoardTask, result: TaskResult, *, added: TextsOfOthers) -> TaskResult:
    """Return the result of a reused task, which refers to the original one. It has cost nothing here. `added`: as for
    `_copy_task`."""
    return TaskResult(
        task=task,
        attempt=1,
        success=True,
        data=result.data,
        follows_schema=result.follows_schema,
        file_ids=result.file_ids,
        message_id=result.message_id,
        execution_time=0.0,
        description=result.description,
        read_texts=find_highest([TextsOfOthers(result.read_texts), added]).value,
        run_id=result.run_id,
        reused_from_id=result.reused_from_id or result.pk,
    )
