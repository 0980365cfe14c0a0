"""Execute boards: start the tasks whose turn it is, store what their runs bring, and put the answer together.

`advance_board` may be called at any time and by anybody: it writes what follows from the rows of the board, and nothing the
second time. Whoever ends a run of a board calls the same functions in its own transaction (`update_boards`). None of this
knows who has made the plan. All changes of a board are made while its chat and then the board are locked.
"""

import logging
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Sum

from actors.models import Actor
from approvals.selectors import classify_texts_of_deciders, find_highest
from boards.hooks import board_ended, board_paused
from boards.models import ENDED_TASK_STATES, Board, BoardTask, TaskEdge, TaskResult
from boards.run_kinds import BOARD_ANSWER, BOARD_TASK
from boards.services.agents import explain_refusal, find_agent_to_answer, find_agents_for_tasks
from boards.services.estimates import estimate_tasks
from boards.services.loaded_board import LoadedBoard, get_current_result, get_read_texts
from boards.services.task_inputs import build_answer_input, build_task_context
from chats import services as chats
from chats.hooks import message_posted
from chats.models import ChatActor, Message
from chats.services import RowChange
from chats.services.text_sources import has_run_texts_from_outside
from common.clock import now
from common.sql_constant import SqlConstant
from common.writing import RowUpdate
from events.rows import (
    BoardPause,
    BoardReason,
    BoardState,
    BoardTaskState,
    FailureRule,
    JoinRule,
    TextsOfOthers,
)
from llm.messages import ToolCall
from llm.structured import InvalidAnswer, parse_json
from runs.errors import LeaseLost, RunNotAllowed
from runs.kinds.base import finish_run
from runs.kinds.chat import record_history
from runs.models import NOT_ENDED, Run, RunState
from runs.permissions import get_chat_of_run
from runs.prepared_queries import LAST_TEXTS
from runs.runtime.dispatch import dispatch_run
from runs.runtime.messages import build_passed_on_answer
from runs.runtime.steps import ToolResult
from runs.runtime.sub_agents import list_runs_to_stop
from runs.runtime.tasks import MAX_DATA_CHARACTERS
from runs.services.agent_states import publish_agent_states
from runs.services.runs import build_stop_changes
from runs.services.tasks import start_task_run

logger = logging.getLogger(__name__)

MAX_SECONDS = 3_600
"""How long a run of a board may take, besides the limits of its agent. The time that people need to decide does not count."""
FINAL_CODES = ("stopped", "rights_lost", "no_tasks", "no_version", "agent_taken_down", "agent_gone", "price_unknown")
"""Codes of runs that would fail again: their tasks are not tried again."""
PERSON_GONE = ("rights_lost", "The person for whom the board works is gone.")
BUDGET_CODE = "budget_used_up"
"""The code of a run that a budget has ended: its task waits until the board is resumed."""
MAX_BOARDS_PER_SWEEP = 100
NOT_PAUSED = {"pause_reason": "", "paused_at": None, "paused_by": None}
"""The fields of a board that is not paused, as each ended one is not."""


@transaction.atomic
def advance_board(board_id: UUID) -> None:
    """Write what follows from the rows of a board: results of runs that have ended, the state of its tasks, new runs, its
    answer. The second of two calls in a row writes nothing."""
    chat_id = Board.objects.filter(pk=board_id).values_list("chat", flat=True).first()
    if chat_id is None:
        return
    chats.lock_chat(chat_id)
    loaded = lock_boards([board_id])[0]
    _find_ended_runs(loaded)
    advance(loaded)
    save(loaded)


def lock_boards(ids: Iterable[UUID]) -> list[LoadedBoard]:
    """Lock boards, whose chat is locked, in the order of their ids, and return them with their tasks."""
    needed = ("chat", "on_behalf_of", "aggregator", "supervisor_run__agent")
    locked = Board.objects.select_related(*needed).select_for_update(of=("self",), no_key=True)
    locked = locked.filter(pk__in=list(ids))
    return [LoadedBoard(board) for board in locked.order_by("pk")]


def save(loaded: LoadedBoard, *, by: Actor | None = None) -> None:
    """Write the changes of a board and, after them, stop the runs that are to be stopped."""
    chat_id = loaded.board.chat_id
    if changes := loaded.prepare_changes():
        chats.save_changes(chat_id, changes)
    if loaded.runs_to_stop:
        chats.save_changes(chat_id, build_stop_changes(loaded.runs_to_stop, by=by))


def update_boards(ended: Sequence[Run]) -> list[RowChange]:
    """Return the changes that follow for boards when runs end, before that is written. A listener of `runs_ended`."""
    task_ids = [run.trigger_id for run in ended if run.kind == BOARD_TASK.name and run.trigger_id]
    # A supervisor has waited. A run that was claimed once and has not waited for anything cannot have a board.
    others = [run.pk for run in ended if run.kind == BOARD_ANSWER.name or _may_be_supervisor(run)]
    if not task_ids and not others:
        return []
    is_concerned = Q(answer_run__in=others) | Q(supervisor_run__in=others)
    if task_ids:
        is_concerned |= Q(pk__in=BoardTask.objects.filter(pk__in=task_ids).values("board"))
    ids = list(Board.objects.filter(is_concerned).values_list("pk", flat=True))
    if not ids:
        return []
    changes: list[RowChange] = []
    for loaded in lock_boards(ids):
        for run in ended:
            _end_run(loaded, run)
        advance(loaded)
        ended_ids = {run.pk for run in ended}
        loaded.runs_to_stop = [run for run in loaded.runs_to_stop if run.pk not in ended_ids]
        if not loaded.runs_to_stop:
            changes += loaded.prepare_changes()
            continue
        # The ends of these runs call this function again, which must find the board as it is now.
        stopper = next((run.stopped_by for run in ended if run.stopped_by_id is not None), None)
        if written := loaded.prepare_changes():
            chats.save_changes(loaded.board.chat_id, written)
        changes += build_stop_changes(loaded.runs_to_stop, by=stopper)
        for run in ended:  # whoever ends them may save its changes with the chat that it has locked
            run.get_chat().refresh_from_db(fields=["version"])
    return changes


def _may_be_supervisor(run: Run) -> bool:
    return run.chat_id is not None and run.parent_id is None and (run.attempt > 1 or run.waiting_since is not None)


def advance_boards() -> None:
    """Advance the boards for which a run has ended without that being stored, or which would have work but do none. Called by the
    sweeper. An error is logged; the others are advanced all the same."""
    ended = Run.objects.exclude(state__in=[SqlConstant(state) for state in NOT_ENDED])
    running = BoardTask.objects.filter(board=OuterRef("pk"), state=BoardTaskState.RUNNING)
    has_ended_run = Q(Exists(running.filter(run__in=ended)))
    has_ended_run |= Q(Exists(ended.filter(pk=OuterRef("answer_run"))))
    has_ended_run |= Q(Exists(ended.filter(pk=OuterRef("supervisor_run"))), answers_ended=0)
    is_idle = Q(state=BoardState.EXECUTING, pause_reason="") & ~Q(Exists(running))
    under_way = Board.objects.filter(has_ended_run | is_idle, ended_at=None)
    for id in under_way.order_by("pk").values_list("pk", flat=True)[:MAX_BOARDS_PER_SWEEP]:
        try:
            advance_board(id)
        except Exception:
            logger.exception("Board %s could not be advanced", id)


def advance(loaded: LoadedBoard) -> None:
    """Start the tasks of a board whose turn it is, start its answer again if a budget has ended it, or end the board. Nothing
    starts while it is paused, or before it has started."""
    board = loaded.board
    if board.state == BoardState.AGGREGATING and board.answers_ended and board.answer_run_id is None:
        if not board.is_paused:
            _start_answer(loaded)
        return
    if board.state != BoardState.EXECUTING:
        return
    while _release_tasks(loaded) or _start_tasks(loaded):
        if loaded.board.has_ended:
            return
    if not loaded.board.is_paused and not loaded.list_in_state(
        BoardTaskState.PENDING, BoardTaskState.READY, BoardTaskState.RUNNING
    ):
        _end_or_aggregate(loaded)


def _release_tasks(loaded: LoadedBoard) -> bool:
    """Set each pending task to ready, or skip it, if all tasks that it follows have ended. Return whether one was skipped."""
    has_skipped = False
    for task in loaded.list_in_state(BoardTaskState.PENDING):
        sources = loaded.list_sources(task)
        # A source that is tried again has settled its edge, but has not ended.
        if any(edge.state == TaskEdge.OPEN or not source.has_ended for edge, source in sources):
            continue
        taken = [source for edge, source in sources if edge.state == TaskEdge.TAKEN]
        if sources and not taken:
            loaded.end_task(task, BoardTaskState.SKIPPED, "not_taken")
            has_skipped = True
        elif _is_join_fulfilled(JoinRule(task.join), taken):
            loaded.set_task(task, state=BoardTaskState.READY)
        else:
            loaded.end_task(task, BoardTaskState.SKIPPED, "join")
            has_skipped = True
    return has_skipped


def _is_join_fulfilled(join: JoinRule, taken: Sequence[BoardTask]) -> bool:
    succeeded = [task.state == BoardTaskState.SUCCEEDED for task in taken]
    return join == JoinRule.SETTLED or (any(succeeded) if join == JoinRule.ANY and taken else all(succeeded))


def _start_tasks(loaded: LoadedBoard) -> bool:
    """Start the tasks whose turn it is, the lowest numbers first. Return whether one ended at once, because its agent may not
    do it any more."""
    board = loaded.board
    ready = loaded.list_in_state(BoardTaskState.READY)
    free = board.max_at_once - len(loaded.list_in_state(BoardTaskState.RUNNING))
    if board.is_paused or not ready or free <= 0:
        return False
    starting = _choose_affordable(loaded, ready[:free])
    agents = find_agents_for_tasks(board.workspace_id, [task.agent_id for task in starting])
    has_ended = False
    for task in starting:
        if board.on_behalf_of is not None and task.agent_id in agents:
            _start_task(loaded, task, board.on_behalf_of)
        else:
            code, text = explain_refusal(task.agent) if board.on_behalf_of else PERSON_GONE
            loaded.set_task(task, attempt=task.attempt + 1, started_at=task.started_at or now())
            loaded.add_result(_build_result(task, task.attempt, success=False, error=text, error_code=code))
            _fail_task(loaded, task, code)
            has_ended = True
            if board.has_ended:
                break
    return has_ended


def _choose_affordable(loaded: LoadedBoard, tasks: Sequence[BoardTask]) -> list[BoardTask]:
    """Return the first of these tasks that the limit of the board covers, with what those that are being done may still cost,
    as far as that is known (`estimate_tasks`). If it covers none and none is being done, the board is paused."""
    board = loaded.board
    if board.limit_micro is None:
        return [*tasks]
    running = loaded.list_in_state(BoardTaskState.RUNNING)
    left = board.limit_micro - board.cost_micro
    left -= sum(estimate_tasks(board.workspace_id, [task.agent_id]) or 0 for task in running)
    chosen: list[BoardTask] = []
    for task in tasks:
        left -= estimate_tasks(board.workspace_id, [task.agent_id]) or 0
        if left <= 0:
            break
        chosen.append(task)
    if not chosen and not running:
        pause(loaded, BoardPause.BUDGET)
    return chosen


def _start_task(loaded: LoadedBoard, task: BoardTask, person: Actor) -> None:
    """Start the run of the next attempt at a task. The concurrency key is that of the attempt, so there is one run of each."""
    board, attempt = loaded.board, task.attempt + 1
    sources = [source for edge, source in loaded.list_sources(task) if edge.state == TaskEdge.TAKEN]
    loaded.load_results(sources)
    context, file_ids = build_task_context(task, sources)
    results = [result for source in sources if (result := get_current_result(source))]
    read_texts = find_highest([get_read_texts(task), *(TextsOfOthers(result.read_texts) for result in results)])
    run = start_task_run(
        person,
        board.chat,
        task.agent,
        kind=BOARD_TASK,
        author=person if board.supervisor_run is None else board.supervisor_run.agent,
        text=task.description,
        context=context,
        file_ids=file_ids,
        max_seconds=MAX_SECONDS,
        read_texts=read_texts,
        output_schema=task.output_schema,
        subject_id=task.id,
        key=f"{BOARD_TASK.name}:{task.id}:{attempt}",
        # Otherwise supervisors whose members write to each other would never stop.
        agent_hops=0 if board.supervisor_run is None else board.supervisor_run.agent_hops,
        is_dispatched=False,
    )
    loaded.new_rows.append(run)
    loaded.started_runs.append(run)
    loaded.set_task(
        task,
        state=BoardTaskState.RUNNING,
        attempt=attempt,
        epoch=board.epoch,
        run=run,
        started_at=task.started_at or now(),
    )


def _find_ended_runs(loaded: LoadedBoard) -> None:
    """End the attempts whose runs have ended without that being stored here."""
    board = loaded.board
    ids = [task.run_id for task in loaded.list_in_state(BoardTaskState.RUNNING)]
    ids += [board.answer_run_id, board.supervisor_run_id]
    ended = Run.objects.filter(pk__in=[id for id in ids if id]).exclude(state__in=NOT_ENDED).select_related("agent")
    for run in ended.order_by("pk"):
        _end_run(loaded, run)


def _end_run(loaded: LoadedBoard, run: Run) -> None:
    """Store what the end of a run means for a board: of a task, of the answer, or of the supervisor. Other runs mean nothing."""
    board = loaded.board
    if run.kind == BOARD_TASK.name:
        task = next((task for task in loaded.tasks.values() if task.id == run.trigger_id), None)
        if task is not None:
            _end_attempt(loaded, task, run)
    elif run.pk == board.answer_run_id or (run.pk == board.supervisor_run_id and not board.answers_ended):
        _end_answer(loaded, run)


def _end_attempt(loaded: LoadedBoard, task: BoardTask, run: Run) -> None:
    """Store the result of the run of an attempt, unless it is stored. A late result changes nothing else."""
    board = loaded.board
    loaded.load_results([task])
    if any(result.run_id == run.pk for result in task.stored_results):
        return
    attempt = int(run.concurrency_key.rpartition(":")[2])
    is_current = task.state == BoardTaskState.RUNNING and (task.run_id, task.epoch) == (run.pk, board.epoch)
    result = _build_result_of_run(board, task, attempt, run, is_late=not is_current)
    loaded.add_result(result)
    if run.answer_message is not None:
        loaded.answers[result.pk] = run.answer_message
    if not is_current:
        return
    if result.success:
        loaded.end_task(task, BoardTaskState.SUCCEEDED)
    elif result.error_code == BUDGET_CODE:
        loaded.set_task(task, state=BoardTaskState.READY)
        pause(loaded, BoardPause.BUDGET)
    elif result.error_code not in FINAL_CODES and _count_tries(task) < task.max_attempts:
        loaded.set_task(task, state=BoardTaskState.READY)
    else:
        _fail_task(loaded, task, result.error_code)


def _count_tries(task: BoardTask) -> int:
    """Return how often a task was tried, without the attempts that a budget has ended."""
    return len([result for result in task.stored_results if not result.is_late and result.error_code != BUDGET_CODE])


def _fail_task(loaded: LoadedBoard, task: BoardTask, code: str) -> None:
    """Set a task to failed for good; the board fails with it, if it says so."""
    loaded.end_task(task, BoardTaskState.FAILED, code)
    if task.on_failure == FailureRule.STOP:
        fail_board(loaded, BoardReason.TASK_FAILED, f"Task {task.number} has failed.")


def _build_result_of_run(board: Board, task: BoardTask, attempt: int, run: Run, *, is_late: bool) -> TaskResult:
    message = run.answer_message
    if message is None and run.state == RunState.COMPLETED:
        message = LAST_TEXTS.first([run.pk])
    error, code = _explain_end(run)
    data: dict[str, Any] | None = None
    file_ids: list[UUID] = []
    if run.state == RunState.COMPLETED and message is not None:
        files = Message.objects.filter(run_id=run.pk, type="FILE_MESSAGE").order_by("seq")
        file_ids = [UUID(payload["file_id"]) for payload in files.values_list("payload", flat=True)]
        try:
            data = _build_data(task, message.text, file_ids)
        except InvalidAnswer as problem:
            error, code = f"The result does not follow the schema of the task. {problem}", "answer_invalid"
    totals = Run.objects.filter(root=run.pk).aggregate(
        cost=Sum("cost_micro"), input=Sum("input_tokens"), output=Sum("output_tokens")
    )
    is_success = data is not None
    started_at = run.started_at or run.created_at or now()
    return _build_result(
        task,
        attempt,
        success=is_success,
        data=data,
        follows_schema=is_success and task.output_schema is not None,
        file_ids=file_ids if is_success else [],
        message_id=message.pk if is_success and message is not None else None,
        error=None if is_success else error,
        error_code="" if is_success else code,
        execution_time=max(((run.ended_at or now()) - started_at).total_seconds(), 0.0),
        read_texts=_classify_result(board, task, run),
        run_id=run.pk,
        is_late=is_late,
        input_tokens=run.input_tokens + (totals["input"] or 0),
        output_tokens=run.output_tokens + (totals["output"] or 0),
        cost_micro=run.cost_micro + (totals["cost"] or 0),
    )


def _build_data(task: BoardTask, text: str, file_ids: Sequence[UUID]) -> dict[str, Any]:
    """Return the data of an answer. Its run has checked it by the schema of the task, if there is one (`build_result_form`). Raises
    `InvalidAnswer` for a text that is no JSON then."""
    if task.output_schema is not None:
        return parse_json(text)
    # The whole text is in the message.
    return {"text": text[:MAX_DATA_CHARACTERS], "files": [str(id) for id in file_ids]}


def _explain_end(run: Run) -> tuple[str, str]:
    """Return the error and its code of a run that has brought nothing."""
    if run.state == RunState.STOPPED:
        return "A person has stopped this task." if run.stopped_by_id else "This task was stopped.", "stopped"
    return run.error or "The agent gave no answer.", run.error_code or "empty_answer"


def _classify_result(board: Board, task: BoardTask, run: Run) -> TextsOfOthers:
    """Return whose texts the answer of a run may contain: those that it was given, those from outside that it has read, and those
    of the people who have decided about its calls. What is not known is from outside."""
    given = TextsOfOthers((run.input or {}).get("read_texts") or "")
    is_outside = run.has_outside_texts is not False or run.agent.workspace_id != board.workspace_id
    if is_outside or has_run_texts_from_outside(board.chat_id, run.pk):
        return TextsOfOthers.OUTSIDE
    return find_highest([given, classify_texts_of_deciders(run.pk, run.on_behalf_of_id)])


def _build_result(
    task: BoardTask,
    attempt: int,
    *,
    success: bool,
    execution_time: float = 0.0,
    read_texts: TextsOfOthers = TextsOfOthers.NONE,
    **columns: object,
) -> TaskResult:
    return TaskResult(
        task=task,
        attempt=attempt,
        success=success,
        execution_time=execution_time,
        description=task.description,
        read_texts=read_texts.value,
        **columns,
    )


def _end_or_aggregate(loaded: LoadedBoard) -> None:
    """End a board whose tasks have all ended: fail it if none has brought a result, complete it with the result of its only
    task, or have the answer put together."""
    board = loaded.board
    succeeded = loaded.list_in_state(BoardTaskState.SUCCEEDED)
    if not succeeded:
        fail_board(loaded, BoardReason.NO_RESULTS, "No task brought a result.")
    elif board.requires_aggregation or not _may_pass_on(board):
        loaded.set(state=BoardState.AGGREGATING)
        if board.supervisor_run_id is not None:
            queue_supervisor(loaded)
        else:
            _start_answer(loaded)
    else:
        loaded.set(state=BoardState.AGGREGATING)
        loaded.load_results(succeeded)
        result = get_current_result(succeeded[0])
        text, is_cut = _read_whole_text(loaded, result) if result else ("", False)
        _pass_on_answer(loaded, text, is_cut=is_cut)
        _complete_board(loaded, text)


def _read_whole_text(loaded: LoadedBoard, result: TaskResult) -> tuple[str, bool]:
    """Return the text of a result, of which its data may have the beginning only, and whether its model did not finish."""
    message = loaded.answers.get(result.pk)
    if message is None and result.message_id is not None:
        message = Message.objects.filter(pk=result.message_id).first()
    if message is None or result.follows_schema:
        return result.text, False
    return message.text, bool(message.payload.get("incomplete"))


def _may_pass_on(board: Board) -> bool:
    """Return whether the supervisor, if there is one, may answer. If it or its person has lost the right to post, which the tasks
    need not have noticed, its run is queued, and fails when it is claimed."""
    if board.supervisor_run is None:
        return True
    try:
        get_chat_of_run(board.supervisor_run)
    except RunNotAllowed:
        return False
    return True


def _pass_on_answer(loaded: LoadedBoard, text: str, *, is_cut: bool) -> None:
    """Let the supervisor, if there is one, answer with the result of the only task. Its model is not asked. What follows from an
    answer in the chat follows from this one, too. The hook of the end of its run is not called: it would call this module, and
    all that follows for the board is done here."""
    board, run = loaded.board, loaded.board.supervisor_run
    if run is None or run.state != RunState.WAITING_BOARD:
        return
    run.chat = board.chat
    payload = Message.objects.values_list("payload", flat=True).get(
        run_id=run.pk, type="TOOL_CALL", payload__call_id=board.call_id
    )
    call = ToolCall(payload["call_id"], payload["name"], payload["arguments"])
    update = RowUpdate(run, only_if={"state": RunState.WAITING_BOARD, "attempt": run.attempt}, error=LeaseLost)
    cost = run.cost_micro + (Run.objects.filter(root=run.pk).aggregate(cost=Sum("cost_micro"))["cost"] or 0)
    loaded.set(cost_micro=board.cost_micro + cost)
    brought, message = build_passed_on_answer(
        run, text, ToolResult(call, "ok", text[:MAX_DATA_CHARACTERS]), incomplete=is_cut
    )
    loaded.new_rows += [brought, message, *message_posted.call(board.chat, message), finish_run(update)]
    record_history(run, run.spec, "completed", None)
    publish_agent_states([run])


def _complete_board(loaded: LoadedBoard, text: str) -> None:
    loaded.set(state=BoardState.COMPLETED, final_response=text or "–", ended_at=now(), **NOT_PAUSED)
    _report_end(loaded, build_message(loaded, "TASKS_ENDED"))


def _start_answer(loaded: LoadedBoard) -> None:
    """Start the run that puts the answer of a board without a supervisor together. It is a reply in the chat, unlike what
    tasks write."""
    board = loaded.board
    loaded.load_results(loaded.tasks.values())
    text, context = build_answer_input(board, list(loaded.tasks.values()))
    results = [result for task in loaded.tasks.values() if (result := get_current_result(task))]
    # The descriptions of tasks without a result are read too.
    given = [board.read_texts, *(task.read_texts for task in loaded.tasks.values())]
    read_texts = find_highest(map(TextsOfOthers, [*given, *(result.read_texts for result in results)]))
    person, agent = board.on_behalf_of, board.aggregator
    if agent is None or agent.id not in find_agents_for_tasks(board.workspace_id, [agent.id]):
        # For example a supervisor that accepts no tasks: it answers in its own run, but gets no other one.
        agent = find_agent_to_answer(board.chat, [task.agent_id for task in reversed(loaded.tasks.values())])
    if person is None or agent is None:
        fail_board(loaded, BoardReason.ANSWER_FAILED, "The agent that was to answer, or the person for whom, is gone.")
        return
    run = start_task_run(
        person,
        board.chat,
        agent,
        kind=BOARD_ANSWER,
        author=person,
        text=text,
        context=context,
        max_seconds=MAX_SECONDS,
        read_texts=read_texts,
        subject_id=board.id,
        key=f"{BOARD_ANSWER.name}:{board.id}:{board.answers_ended + 1}",
    )
    if ChatActor.objects.filter(chat=board.chat_id, actor=agent, ended_at=None).exists():
        run.metadata = None
    loaded.new_rows.append(run)
    loaded.set(answer_run=run, aggregator=agent)


def _end_answer(loaded: LoadedBoard, run: Run) -> None:
    """Store what the end of the run that answers, or of the supervisor, means for a board. If a supervisor ends before its board,
    the board is stopped. If a budget has ended the answer, the board is paused, and another run answers when it is resumed."""
    board = loaded.board
    if board.has_ended:
        return
    if board.state == BoardState.INIT:
        # The supervisor has answered without repairing its plan.
        loaded.set(state=BoardState.FAILED, reason_code=BoardReason.PLAN_INVALID, ended_at=now(), **NOT_PAUSED)
        return
    cost = run.cost_micro + (Run.objects.filter(root=run.pk).aggregate(cost=Sum("cost_micro"))["cost"] or 0)
    loaded.set(cost_micro=board.cost_micro + cost)
    if board.state == BoardState.AGGREGATING and run.state == RunState.COMPLETED:
        message = run.answer_message or LAST_TEXTS.first([run.pk])
        _complete_board(loaded, message.text if message else "")
    elif board.state == BoardState.AGGREGATING and run.error_code == BUDGET_CODE:
        loaded.set(answer_run=None, answers_ended=board.answers_ended + 1)
        pause(loaded, BoardPause.BUDGET)
    elif run.state == RunState.STOPPED or board.state != BoardState.AGGREGATING:
        stop(loaded, by=run.stopped_by)
    else:
        fail_board(loaded, BoardReason.ANSWER_FAILED, run.error or "The answer failed.")


def fail_board(loaded: LoadedBoard, reason: BoardReason, text: str, *, by: Actor | None = None) -> None:
    """Fail a board: cancel the tasks that have not ended, stop their runs, and let its supervisor, if it waits, go on with
    what there is. If the board was stopped, its supervisor is stopped, too."""
    board = loaded.board
    cancel_tasks(loaded, "stopped" if reason == BoardReason.STOPPED else "failed")
    loaded.set(
        state=BoardState.FAILED,
        reason_code=reason,
        error=text[:600],
        ended_at=now(),
        **NOT_PAUSED,
    )
    if board.supervisor_run_id is not None:
        if reason == BoardReason.STOPPED:
            _add_runs_to_stop(loaded, [board.supervisor_run_id])
        else:
            queue_supervisor(loaded)
    if board.answer_run_id is not None:
        _add_runs_to_stop(loaded, [board.answer_run_id])
    if reason == BoardReason.STOPPED:
        _report_end(loaded, build_message(loaded, "TASKS_STOPPED", actor=by), by=by)
    else:
        _report_end(loaded, build_message(loaded, "TASKS_ENDED", code=reason))


def _report_end(loaded: LoadedBoard, message: Message, *, by: Actor | None = None) -> None:
    loaded.new_rows.append(message)
    board_ended.call(loaded.board, message, by)


def stop(loaded: LoadedBoard, *, by: Actor | None) -> None:
    """Stop a board with all its runs. A result that comes later changes nothing."""
    loaded.set(stopped_by=by)
    fail_board(loaded, BoardReason.STOPPED, "", by=by)


def cancel_tasks(loaded: LoadedBoard, reason_code: str) -> None:
    """Cancel the tasks that have not ended, and stop their runs. What these bring is late from now on."""
    board = loaded.board
    run_ids: list[UUID] = []
    for task in loaded.tasks.values():
        if task.state not in ENDED_TASK_STATES:
            if task.state == BoardTaskState.RUNNING and task.run_id is not None:
                run_ids.append(task.run_id)
            loaded.end_task(task, BoardTaskState.CANCELLED, reason_code)
    loaded.set(epoch=board.epoch + 1)
    _add_runs_to_stop(loaded, run_ids)


def _add_runs_to_stop(loaded: LoadedBoard, ids: Sequence[UUID]) -> None:
    """Have these runs stopped, with those below them. Runs that are not written yet are dropped instead."""
    new_ids = {row.pk for row in loaded.new_rows if isinstance(row, Run) and row.pk in ids}
    loaded.new_rows = [row for row in loaded.new_rows if not (isinstance(row, Run) and row.pk in new_ids)]
    for task in loaded.tasks.values():
        if task.run_id in new_ids:
            loaded.set_task(task, run=None)
    for run in Run.objects.filter(pk__in=list(ids)).order_by("pk"):
        loaded.runs_to_stop += list_runs_to_stop(run)


def queue_supervisor(loaded: LoadedBoard) -> None:
    """Queue the supervisor that waits for a board, which goes on with its results."""
    run = loaded.board.supervisor_run
    if run is None or run.state != RunState.WAITING_BOARD:
        return
    dispatch_run(run)
    update = RowUpdate(run, only_if={"state": RunState.WAITING_BOARD, "attempt": run.attempt}, error=LeaseLost)
    loaded.new_rows.append(update.set(state=RunState.QUEUED, dispatched_at=None if run.is_isolated else now()))


def pause(loaded: LoadedBoard, reason: BoardPause, *, by: Actor | None = None) -> None:
    """Start nothing more of a board until it is resumed. One that is paused already stays as it is."""
    if not loaded.board.is_paused:
        loaded.set(pause_reason=reason, paused_at=now(), paused_by=by)
        message = build_message(loaded, "TASKS_PAUSED", actor=by, code=reason)
        loaded.new_rows.append(message)
        board_paused.call(loaded.board, message, by)


def build_message(loaded: LoadedBoard, type_: str, *, actor: Actor | None = None, code: str | None = None) -> Message:
    """Return a system message about a board."""
    board = loaded.board
    return chats.build_system_message(
        board.chat_id,
        type_,  # type: ignore[arg-type]
        actor=actor,
        target=board.aggregator,
        board_id=board.id,
        tasks=board.task_count,
        succeeded=len(loaded.list_in_state(BoardTaskState.SUCCEEDED)),
        code=code,
    )


def begin_or_ask(loaded: LoadedBoard, ask_above_micro: int | None, *, by: Actor | None = None) -> None:
    """Let a planned board begin, or wait for a person if its estimate is above this amount or is not known. Null: none waits."""
    estimate = loaded.board.estimate_micro
    if ask_above_micro is not None and (estimate is None or estimate > ask_above_micro):
        pause(loaded, BoardPause.ESTIMATE)
    else:
        begin(loaded, by=by)


def begin(loaded: LoadedBoard, *, by: Actor | None) -> None:
    """Let a planned board begin, and say so in the chat if it is not shown in the reply of a supervisor. The edges of the
    results that it reuses are settled."""
    board = loaded.board
    loaded.set(state=BoardState.EXECUTING, started_at=now())
    if board.supervisor_run_id is None and board.message_id is None:
        message = build_message(loaded, "TASKS_STARTED", actor=by)
        loaded.set(message_id=message.id)
        loaded.new_rows.append(message)
    for task in loaded.list_in_state(BoardTaskState.SUCCEEDED):
        loaded.end_task(task, BoardTaskState.SUCCEEDED)
    advance(loaded)
