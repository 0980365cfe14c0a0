"""Make boards: by hand, or by the run of a supervisor, whose plan comes later. Who has made a plan changes nothing for its
tasks."""

from collections.abc import Sequence
from uuid import UUID

from django.db import IntegrityError, transaction

from actors.models import Actor
from boards.models import Board, BoardTask, TaskEdge
from boards.plan import PlannedTask, find_problems
from boards.services import engine
from boards.services.agents import find_agent_to_answer, find_agents_for_tasks
from boards.services.estimates import estimate_tasks
from chats import services as chats
from chats.models import Chat
from chats.permissions import ChatVerb, get_chat_for
from chats.services import RowChange
from common.clock import now
from common.errors import Conflict, Forbidden, Invalid, LimitReached, TooLarge, build_duplicate_id_error
from common.ids import new_id
from common.text import remove_invisible, to_storable, to_storable_json
from common.writing import RowUpdate, insert
from events import audit
from events.rows import BoardReason, BoardState, PlannedBy, TextsOfOthers
from runs.models import Run

MAX_BOARDS_UNDER_WAY = 20
"""Boards of one chat that have not ended."""
MAX_INPUT = 20_000
"""Characters of what a board is for."""
NO_REQUEST = "–"
"""What a board is for whose message has no text, or was deleted."""


@transaction.atomic
def create_board(
    actor: Actor,
    chat_id: UUID,
    *,
    id: UUID,
    user_input: str,
    tasks: Sequence[PlannedTask],
    reasoning: str = "",
    requires_aggregation: bool = False,
    aggregator_id: UUID | None = None,
    max_at_once: int = 3,
    limit_micro: int | None = None,
    start: bool = True,
) -> tuple[Board, bool]:
    """Create a board in a chat from a plan that a person has written, and start it unless `start` is false. Return it, and whether
    it is new: the same `id` again returns the first one. If its estimate is above what the workspace has set, it waits for a person
    (`start_board`).

    `aggregator_id`: the agent that puts the answer together, if several tasks or `requires_aggregation` need one; null: that
    of the last task. Raises `NotFound`, `Forbidden`, `Invalid` with a hint for each problem of the plan, `LimitReached`, and
    `Conflict` (`id_taken`).
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.POST, lock=True)
    if actor.is_agent:
        raise Forbidden("Only a person writes a plan by hand.")
    if stored := Board.objects.filter(pk=id).first():
        # Another person may have started it since.
        if (stored.chat_id, stored.on_behalf_of_id, stored.planned_by) != (chat.id, actor.id, PlannedBy.PERSON):
            raise build_duplicate_id_error("board")
        return stored, False
    if problems := find_problems(tasks):
        raise Invalid("The plan is not valid.", hints=problems[:10])
    check_boards_under_way(chat)
    needs_answer = requires_aggregation or len(tasks) > 1
    if needs_answer and aggregator_id is None:
        planned = [task.agent_id for task in reversed(tasks)]
        able = find_agent_to_answer(chat, planned)
        aggregator_id = able.id if able else planned[0]
    agents = _get_agents(chat, tasks, also=aggregator_id)
    board = Board(
        id=id,
        workspace_id=chat.workspace_id,
        chat=chat,
        planned_by=PlannedBy.PERSON,
        user_input=_clean(user_input, "what the board is for"),
        max_at_once=max_at_once,
        limit_micro=limit_micro,
        aggregator_id=aggregator_id if needs_answer else None,
        estimate_micro=estimate_tasks(chat.workspace_id, [task.agent_id for task in tasks]),
        on_behalf_of=actor,
        started_by=actor,
    )
    rows = _add_plan(board, tasks, agents, reasoning, requires_aggregation=needs_answer, read_texts=TextsOfOthers.NONE)
    try:
        with transaction.atomic():
            chats.save_changes(chat.id, [board, *rows])
    except IntegrityError:
        raise build_duplicate_id_error("board") from None
    audit.record(actor, "board.created", workspace_id=chat.workspace_id, object_id=board.id)
    if not start:
        return board, True
    loaded = engine.lock_boards([board.id])[0]
    engine.begin_or_ask(loaded, chat.workspace.boards_ask_above_micro, by=actor)
    engine.save(loaded)
    return loaded.board, True


def open_board(run: Run, *, call_id: str, user_input: str, max_at_once: int, limit_micro: int | None) -> Board:
    """Return a new board (`init`) of the run of a supervisor, which is about to plan, or the one that it has. The chat is
    locked; the caller saves a new board with its other changes."""
    if stored := Board.objects.filter(supervisor_run=run).first():
        return stored
    return Board(
        id=new_id(),
        workspace_id=run.workspace_id,
        chat_id=run.get_chat_id(),
        planned_by=PlannedBy.MODEL,
        user_input=to_storable(user_input)[:MAX_INPUT] or NO_REQUEST,
        supervisor_run=run,
        call_id=call_id,
        aggregator_id=run.agent_id,
        max_at_once=max_at_once,
        limit_micro=limit_micro,
        on_behalf_of_id=run.on_behalf_of_id,
        started_by_id=run.triggered_by_id,
    )


def decompose_board(
    board: Board,
    tasks: Sequence[PlannedTask],
    *,
    call_id: str,
    reasoning: str,
    requires_aggregation: bool,
    read_texts: TextsOfOthers,
    agents: dict[UUID, Actor],
) -> list[RowChange]:
    """Give a board that has none (`init`) its plan, and return the changes of its chat, which is locked: the board, new or
    stored, and its tasks.

    The caller has checked the plan (`find_problems`) and the `agents` of its tasks, by their ids. `read_texts`: the highest
    class of texts that the run of the supervisor had read when it planned.
    """
    if board.state != BoardState.INIT:
        raise Conflict("This board has a plan already.")
    board.call_id, board.error = call_id, ""
    needs_answer = requires_aggregation or len(tasks) > 1
    rows = _add_plan(board, tasks, agents, reasoning, requires_aggregation=needs_answer, read_texts=read_texts)
    return [build_change(board, *PLAN_FIELDS), *rows]


def fail_plan(board: Board, problems: Sequence[str]) -> list[RowChange]:
    """End a board whose plan was not valid a second time, and return the changes of its chat, which is locked."""
    board.state, board.reason_code, board.ended_at = BoardState.FAILED, BoardReason.PLAN_INVALID, now()
    board.error = " ".join(problems)[:600]
    for name, value in engine.NOT_PAUSED.items():
        setattr(board, name, value)
    return [build_change(board, "state", "reason_code", "ended_at", "error", "call_id", *engine.NOT_PAUSED)]


def check_boards_under_way(chat: Chat, *, besides: UUID | None = None) -> None:
    """Raise `LimitReached` if the chat has, besides this board, as many that have not ended as it may have."""
    others = Board.objects.filter(chat=chat, ended_at=None).exclude(pk__in=[besides] if besides else [])
    if others.count() >= MAX_BOARDS_UNDER_WAY:
        raise LimitReached(
            f"This chat has {MAX_BOARDS_UNDER_WAY} boards that have not ended.", hints=["Stop one of them first."]
        )


PLAN_FIELDS = (
    "state",
    "call_id",
    "error",
    "reasoning",
    "requires_aggregation",
    "read_texts",
    "task_count",
    "estimate_micro",
)


def _get_agents(chat: Chat, tasks: Sequence[PlannedTask], *, also: UUID | None) -> dict[UUID, Actor]:
    """Return the agents of the tasks, and one more. Raises `Invalid` for one that may not be given tasks here."""
    ids = [task.agent_id for task in tasks] + ([also] if also else [])
    agents = find_agents_for_tasks(chat.workspace_id, ids)
    hints = [
        f"tasks.{index}.agent_id: This agent is not of this workspace, or accepts no tasks."
        for index, task in enumerate(tasks)
        if task.agent_id not in agents
    ]
    if also and also not in agents:
        hints.append("aggregator_id: This agent is not of this workspace, or accepts no tasks.")
    if hints:
        raise Invalid("The plan is not valid.", hints=hints[:10])
    return agents


def _add_plan(
    board: Board,
    tasks: Sequence[PlannedTask],
    agents: dict[UUID, Actor],
    reasoning: str,
    *,
    requires_aggregation: bool,
    read_texts: TextsOfOthers,
) -> list[BoardTask]:
    """Set the plan of a board, insert the edges of its tasks, and return its new tasks."""
    board.state, board.task_count = BoardState.DECOMPOSED, len(tasks)
    board.read_texts = read_texts.value
    board.reasoning = remove_invisible(to_storable(reasoning)).strip()
    board.requires_aggregation = requires_aggregation
    if not requires_aggregation and board.supervisor_run_id is None:
        board.aggregator = None
    rows = [
        BoardTask(
            id=new_id(),
            board=board,
            chat_id=board.chat_id,
            number=number,
            agent=agents[task.agent_id],
            agent_name=agents[task.agent_id].name,
            description=_clean(task.description, f"what task {number} is about"),
            parameters=to_storable_json(task.parameters),
            output_schema=None if task.output_schema is None else to_storable_json(task.output_schema),
            read_texts=read_texts.value,
            file_ids=task.file_ids,
            after=sorted(set(task.after)),
            join=task.join,
            on_failure=task.on_failure,
            max_attempts=task.max_attempts,
        )
        for number, task in enumerate(tasks, 1)
    ]
    numbered = {task.number: task for task in rows}
    # The database checks the foreign keys at the end of the transaction.
    insert([TaskEdge(board=board, source=numbered[after], target=task) for task in rows for after in task.after])
    for task in rows:
        task.stored_results = []
    return rows


def _clean(text: str, what: str) -> str:
    """Return a text as it is stored. Raises `Invalid` for a blank one, and `TooLarge`."""
    text = remove_invisible(to_storable(text)).strip()
    if not text:
        raise Invalid(f"Say {what}.")
    if len(text) > MAX_INPUT:
        raise TooLarge(f"It has at most {MAX_INPUT:,} characters.")
    return text


def build_change(board: Board, *fields: str) -> RowChange:
    """Return the change that stores these fields of a board, which are set, or the board, if it is new."""
    if board._state.adding:
        return board
    return RowUpdate(board).set(**{name: getattr(board, name) for name in fields})
