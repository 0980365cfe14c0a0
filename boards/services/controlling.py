"""What people do with a board: start, stop, pause, resume and answer it, and try a task again."""

from typing import Any
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from approvals.selectors import find_highest
from boards.hooks import board_resumed
from boards.models import Board, BoardTask
from boards.permissions import BoardVerb, get_board_for
from boards.plan import MAX_DESCRIPTION, MAX_PARAMETER_CHARACTERS, TOO_LONG, count_characters, is_too_long
from boards.services import engine
from boards.services.loaded_board import LoadedBoard, get_read_texts
from common.errors import Code, Conflict, Invalid, NotFound, TooLarge
from common.text import remove_invisible, to_storable, to_storable_json
from events import audit
from events.rows import BoardPause, BoardReason, BoardState, BoardTaskState, TextsOfOthers

MAX_TRIES = 20
"""Attempts at one task of a board, also those that people ask for: each result is a part of the row of the task."""


@transaction.atomic
def start_board(actor: Actor, board_id: UUID) -> Board:
    """Start a planned board; also one that waits for a person because of its estimate. Starting one that has started changes
    nothing. Raises `NotFound`, `Forbidden`, `Conflict` (`board_ended`)."""
    loaded = _lock(actor, board_id, BoardVerb.CONTROL)
    board = loaded.board
    if board.state != BoardState.DECOMPOSED:
        return board
    loaded.set(started_by=actor)
    _end_pause(loaded)
    engine.begin(loaded, by=actor)
    return _save(loaded, actor, "board.started")


@transaction.atomic
def stop_board(actor: Actor, board_id: UUID) -> Board:
    """Stop a board with all its runs; it has failed then. What its tasks have brought stays. Stopping a stopped one changes
    nothing. Raises `NotFound`, `Forbidden`, and `Conflict` (`board_ended`) if it has ended otherwise."""
    board = get_board_for(actor, board_id, BoardVerb.STOP, lock=True)
    if board.reason_code == BoardReason.STOPPED:
        return board
    loaded = _load(board_id)
    engine.stop(loaded, by=actor)
    return _save(loaded, actor, "board.stopped")


@transaction.atomic
def pause_board(actor: Actor, board_id: UUID) -> Board:
    """Start nothing more of a board until it is resumed. The runs of its tasks go on to their ends. Pausing a paused one changes
    nothing. Raises `NotFound`, `Forbidden`, `Conflict` (`board_ended`)."""
    loaded = _lock(actor, board_id, BoardVerb.STOP)
    if loaded.board.is_paused:
        return loaded.board
    engine.pause(loaded, BoardPause.PERSON, by=actor)
    return _save(loaded, actor, "board.paused")


@transaction.atomic
def resume_board(actor: Actor, board_id: UUID, *, limit_micro: int | None = None) -> Board:
    """Let a paused board go on. `limit_micro`: what it may cost from now on, in all; null: as before. Resuming one that is not
    paused only sets the limit. Raises `NotFound`, `Forbidden`, `Conflict` (`board_ended`)."""
    verb = BoardVerb.CONTROL if limit_micro is None else BoardVerb.RAISE_LIMIT
    loaded = _lock(actor, board_id, verb)
    board = loaded.board
    if limit_micro is not None:
        loaded.set(limit_micro=limit_micro)
    if board.is_paused:
        is_before_start = board.state == BoardState.DECOMPOSED
        _end_pause(loaded)
        loaded.new_rows.append(engine.build_message(loaded, "TASKS_RESUMED", actor=actor))
        if is_before_start:
            engine.begin(loaded, by=actor)
        else:
            engine.advance(loaded)
    return _save(loaded, actor, "board.resumed")


@transaction.atomic
def answer_board(actor: Actor, board_id: UUID) -> Board:
    """Have the answer put together from what there is: the tasks that have not ended are cancelled. Raises `NotFound`,
    `Forbidden`, and `Conflict` if the board has ended (`board_ended`) or is not executed."""
    loaded = _lock(actor, board_id, BoardVerb.CONTROL)
    if loaded.board.state != BoardState.EXECUTING:
        raise Conflict("The tasks of this board are not being worked on.", code=Code.INVALID)
    _end_pause(loaded)
    engine.cancel_tasks(loaded, "answered")
    engine.advance(loaded)
    return _save(loaded, actor, "board.answered")


@transaction.atomic
def retry_task(
    actor: Actor,
    board_id: UUID,
    number: int,
    *,
    description: str | None = None,
    parameters: dict[str, Any] | None = None,
) -> Board:
    """Try a failed task of a board again while the board works on others, with another description or other parameters if they
    are given.

    Raises `NotFound`, `Forbidden`, `Invalid`, `TooLarge`, and `Conflict` if the board has ended (`board_ended`), the task has
    not failed, was tried `MAX_TRIES` times, or the tasks that follow it were decided by its failure: then the board is run
    again from this task (`fork_board`).
    """
    loaded = _lock(actor, board_id, BoardVerb.CONTROL)
    task = loaded.tasks.get(number)
    if task is None:
        raise NotFound("This board has no such task.")
    is_undecided = all(not target.has_ended and target.attempt == 0 for target in loaded.list_targets(task))
    can_be_tried = task.state == BoardTaskState.FAILED and task.attempt < MAX_TRIES
    if not can_be_tried or loaded.board.state != BoardState.EXECUTING or not is_undecided:
        raise Conflict(
            "Only a task that has failed is tried again, while nothing follows from its failure yet.",
            code=Code.INVALID,
            hints=["Run the board again from this task."],
        )
    changed = build_changed_text(task, description, parameters, by=actor, person_id=loaded.board.on_behalf_of_id)
    loaded.set_task(task, state=BoardTaskState.READY, ended_at=None, reason_code="", **changed)
    if changed and is_too_long(loaded.tasks.values()):
        raise TooLarge(TOO_LONG)
    for target in loaded.list_targets(task):
        if target.state == BoardTaskState.READY:
            loaded.set_task(target, state=BoardTaskState.PENDING)  # it waits for the result of the next attempt
    engine.advance(loaded)
    return _save(loaded, actor, "board.task_retried")


def build_changed_text(
    task: BoardTask,
    description: str | None,
    parameters: dict[str, Any] | None,
    *,
    by: Actor,
    person_id: UUID | None,
) -> dict[str, Any]:
    """Return the fields of a task with another text. What stays as it was is still of whoever has written it. The text of the
    person whom the board works for (`person_id`) is nobody else's; that of anybody else is of others. Raises `Invalid`,
    `TooLarge`."""
    fields: dict[str, Any] = {}
    if description is not None:
        text = remove_invisible(to_storable(description)).strip()[:MAX_DESCRIPTION]
        if not text:
            raise Invalid("Say what the task is about.")
        if text != task.description:
            fields |= {"description": text, "replaced_description": task.description}
    if parameters is not None:
        changed = to_storable_json(parameters)
        if count_characters(changed) > MAX_PARAMETER_CHARACTERS:
            raise TooLarge(f"The parameters have at most {MAX_PARAMETER_CHARACTERS:,} characters.")
        if changed != task.parameters:
            fields["parameters"] = changed
    if not fields:
        return fields
    has_own_parameters = "parameters" in fields or not task.parameters
    # The schema of a plan by a model has texts, too.
    is_own = "description" in fields and has_own_parameters and task.output_schema is None
    kept = TextsOfOthers.NONE if is_own else get_read_texts(task)
    added = TextsOfOthers.NONE if by.id == person_id else TextsOfOthers.OTHERS
    return fields | {"read_texts": find_highest([kept, added]).value}


def _lock(actor: Actor, board_id: UUID, verb: BoardVerb) -> LoadedBoard:
    """Lock the chat of a board and then the board. Raises `Conflict` if it has ended."""
    get_board_for(actor, board_id, verb, lock=True)
    return _load(board_id)


def _load(board_id: UUID) -> LoadedBoard:
    """Lock a board whose chat is locked. Raises `Conflict` if it has ended."""
    loaded = engine.lock_boards([board_id])[0]
    if loaded.board.has_ended:
        raise Conflict("This board has ended.", code=Code.BOARD_ENDED, hints=["Run it again from one of its tasks."])
    return loaded


def _end_pause(loaded: LoadedBoard) -> None:
    if loaded.board.is_paused:
        loaded.set(**engine.NOT_PAUSED)
        board_resumed.call(loaded.board)


def _save(loaded: LoadedBoard, actor: Actor, action: str) -> Board:
    engine.save(loaded, by=actor)
    audit.record(actor, action, workspace_id=loaded.board.workspace_id, object_id=loaded.board.id)
    return loaded.board
