"""What people do with a board: stop it in any state, pause it, try a task again, run it again, let it cost more; and who may."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from actors.models import Actor
from agents.services.shipped import find_shipped_sub_agent, get_shipped_agent
from boards import services
from boards.models import Board, BoardTask, TaskEdge, TaskResult
from boards.permissions import BoardVerb, get_board_for
from boards.selectors import build_settings_row
from boards.services.agents import find_agents_for_tasks
from boards.services.estimates import estimate_tasks
from boards.services.planning import fail_plan
from chats import services as chats
from common.clock import now
from common.errors import Code, Conflict, Forbidden, Invalid, LimitReached, NotFound, TooLarge
from common.ids import new_id
from events.models import AuditRecord
from events.rows import Policy
from llm.messages import Answer, Usage
from notifications.models import Notification
from runs.models import NOT_ENDED, Run
from runs.runtime.steps import LoopEnded, ModelAnswered, StepId
from runs.services.claims import claim_run
from tests.boards.fixtures import BoardEnvironment
from tests.boards.test_board_property import MODEL
from tests.chaos import IS_CHAOS, N
from tests.factories.boards import BoardFactory, BoardTaskFactory, TaskResultFactory
from tests.factories.files import FileFactory
from tests.factories.runs import RunFactory
from tests.people import make_team
from tests.recorder import Recorder
from tools.registry import build_agent_tool_name
from tools.services.workspace_tools import set_policy
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)


def answer(run_id, text="Done.", owner="test:1:a"):
    """Claim a run as a worker, and store its answer."""
    claimed = claim_run(run_id, owner)
    assert claimed is not None
    return finish(claimed, text)


def finish(claimed, text="Done."):
    run = claimed.row
    claimed.has_outside_texts = False  # as `prepare` finds out
    step = StepId(run.steps_done + 1, run.get_message_id())
    Recorder(claimed, MODEL).record_answer(ModelAnswered(step, Answer(text, "", (), Usage(1, 2), "stop", "demo")))


def fail(run_id, code="no_version"):
    claimed = claim_run(run_id, "test:1:a")
    assert claimed is not None
    Recorder(claimed, MODEL).record_loop_end(LoopEnded("failed", code, "It failed."))


# --- stopping -------------------------------------------------------------------------------------------------------


def reach_state(boards, name):
    """Return a board in this state, and the claimed run that is executed, if there is one."""
    board = boards.create(
        boards.plan("Find dry days"), boards.plan("Add it up", boards.finance, after=[1]), start=name != "decomposed"
    )
    if name in ("executing", "paused"):
        claimed = claim_run(boards.run_of(board, 1).id, "test:1:a")
        if name == "paused":
            services.pause_board(boards.team.alice, board.id)
        return board, claimed
    if name == "aggregating":
        answer(boards.run_of(board, 1).id)
        answer(boards.run_of(board, 2).id)
        return board, claim_run(boards.read(board).answer_run_id, "test:1:a")
    return board, None


@pytest.mark.parametrize("state", ["decomposed", "queued", "executing", "paused", "aggregating"])
def test_BRD10_a_board_is_stopped_in_any_state_and_what_comes_later_changes_nothing(boards, state):
    board, claimed = reach_state(boards, state)
    services.stop_board(boards.team.alice, board.id)
    board = boards.read(board)
    assert (board.state, board.reason_code, board.pause_reason, board.epoch) == ("failed", "stopped", "", 1)
    assert board.stopped_by == boards.team.alice
    expected = ["succeeded"] * 2 if state == "aggregating" else ["cancelled"] * 2
    assert boards.list_states(board) == expected
    assert not TaskEdge.objects.filter(board=board, state="").exists()
    running = Run.objects.filter(state__in=NOT_ENDED)
    assert [run.stop_requested_at is not None for run in running] == ([True] if claimed else [])
    if claimed is not None:
        finish(claimed, "Too late.")
        late = TaskResult.objects.filter(is_late=True)
        assert [result.text for result in late] == ([] if state == "aggregating" else ["Too late."])
    assert (boards.read(board).state, boards.list_states(board)) == ("failed", expected)
    assert not Run.objects.filter(state__in=NOT_ENDED).exists()
    assert services.stop_board(boards.team.alice, board.id).epoch == 1
    with pytest.raises(Conflict) as refused:
        services.answer_board(boards.team.alice, board.id)
    assert refused.value.code == Code.BOARD_ENDED
    assert [message.type for message in boards.list_messages("TASKS_STOPPED", "TASKS_ENDED")] == ["TASKS_STOPPED"]


def test_BRD10_a_person_who_leaves_ends_the_tasks_that_wait_for_them(boards):
    """A task that the person has given is stopped once, although its run waits for them."""
    board = boards.create(boards.plan("Find dry days"), by=boards.team.bob)
    run = boards.run_of(board, 1)
    Run.objects.filter(pk=run.pk).update(state="waiting_approval", attempt=1)
    with transaction.atomic():
        chats.remove_participant(boards.team.alice, boards.team.chat.id, boards.team.bob.id)
    assert (boards.read(board).state, boards.list_states(board)) == ("failed", ["failed"])
    assert [message.payload["code"] for message in boards.list_messages("TASKS_ENDED")] == ["no_results"]
    assert len(boards.list_messages("RUN_STOPPED", "RUN_FAILED")) == 1


def test_BRD5_a_task_that_fails_its_board_stops_the_runs_of_the_others(boards):
    """An empty answer is stored with all that follows from it, also with the ends of other runs."""
    board = boards.create(
        boards.plan("Find dry days", on_failure="stop", max_attempts=1),
        boards.plan("Add it up", boards.finance),
        boards.plan("Say the sum", boards.travel),
    )
    claimed, running = (claim_run(boards.run_of(board, number).id, "test:1:a") for number in (1, 2))
    finish(claimed, "")
    board = boards.read(board)
    assert (board.state, board.reason_code, boards.list_states(board)) == (
        "failed",
        "task_failed",
        ["failed", "cancelled", "cancelled"],
    )
    assert list(Run.objects.order_by("pk").values_list("state", flat=True)) == ["failed", "running", "stopped"]
    assert running is not None
    assert Run.objects.get(pk=running.row.pk).stop_requested_at is not None


def test_BRD5_an_answer_is_kept_although_the_next_task_fails_the_board_at_once(boards):
    board = boards.create(
        boards.plan("Find dry days"),
        boards.plan("Add it up", boards.finance),
        boards.plan("Plan", boards.travel, after=[1], on_failure="stop"),
    )
    Actor.objects.filter(pk=boards.travel.pk).update(status="deleted")
    answer(boards.run_of(board, 1).id, "19 November")
    board = boards.read(board)
    assert (board.state, boards.list_states(board)) == ("failed", ["succeeded", "cancelled", "failed"])
    assert boards.list_results(board) == [(1, 1, True, "19 November"), (3, 1, False, "agent_gone")]


@pytest.mark.parametrize("stop_runs", [False, True])
def test_MSG11_a_deleted_message_is_not_the_request_of_its_boards_any_more(boards, stop_runs):
    team = boards.team
    with transaction.atomic():
        message, _ = chats.post_message(team.bob, team.chat.id, text="My code is 4711")
    answering = {"trigger_id": message.id, "on_behalf_of": team.bob, "waiting_since": now()}
    run = RunFactory.create(chat=team.chat, agent=team.robin, state="waiting_board", **answering)
    fields = {"chat": team.chat, "on_behalf_of": team.bob, "user_input": message.text}
    board = BoardFactory.create(**fields, supervisor_run=run, planned_by="model")
    ended = BoardFactory.create(**fields, ended=True, planned_by="fork", forked_from=board, forked_at=1)
    for one in (board, ended):
        BoardTaskFactory.create(board=one, agent=boards.weather)
    again, _ = services.fork_board(team.bob, ended.id, id=new_id(), number=1)
    other = boards.create(boards.plan("Find dry days"))
    services.start_board(team.bob, board.id)
    services.pause_board(team.alice, board.id)
    assert Notification.objects.get(type="board_paused").excerpt == message.text
    with transaction.atomic():
        chats.delete_message(team.bob, message.id, stop_runs=stop_runs)
    requests = Board.objects.exclude(pk=other.pk).values_list("user_input", flat=True)
    assert list(requests) == ["–"] * 3
    assert boards.read(other).user_input == "Four days in Kyoto"
    assert (boards.read(board).has_ended, boards.read(again).has_ended) == (stop_runs, False)
    assert Notification.objects.get(type="board_paused").excerpt == ""


# --- pausing --------------------------------------------------------------------------------------------------------


def test_BRD12_a_paused_board_starts_nothing_and_goes_on_where_it_was(boards):
    board = boards.create(boards.plan("Find dry days"), boards.plan("Add it up", boards.finance, after=[1]))
    first = boards.run_of(board, 1)
    services.pause_board(boards.team.alice, board.id)
    services.pause_board(boards.team.alice, board.id)
    answer(first.id)
    assert boards.list_states(board) == ["succeeded", "ready"]
    services.advance_board(board.id)
    assert Run.objects.count() == 1
    services.resume_board(boards.team.alice, board.id)
    assert boards.list_states(board) == ["succeeded", "running"]
    types = [message.type for message in boards.list_messages("TASKS_PAUSED", "TASKS_RESUMED")]
    assert types == ["TASKS_PAUSED", "TASKS_RESUMED"]


def test_BRD12_a_board_is_not_answered_while_it_is_paused(boards):
    board = boards.create(boards.plan("Find dry days"))
    services.pause_board(boards.team.alice, board.id)
    answer(boards.run_of(board, 1).id)
    assert (boards.read(board).state, boards.list_states(board)) == ("executing", ["succeeded"])
    services.resume_board(boards.team.alice, board.id)
    assert boards.read(board).state == "completed"


def test_BRD12_a_board_that_was_paused_while_it_was_answered_is_not_paused_once_it_has_ended(boards):
    board, claimed = reach_state(boards, "aggregating")
    services.pause_board(boards.team.alice, board.id)
    finish(claimed)
    done = boards.read(board)
    assert (done.state, done.pause_reason, done.paused_at, done.paused_by) == ("completed", "", None, None)


def test_BRD12_a_board_that_was_paused_before_its_plan_was_repaired_is_not_paused_once_it_has_failed(boards):
    alice, run = boards.team.alice, RunFactory.create(chat=boards.team.chat, agent=boards.team.robin, state="queued")
    board = BoardFactory.create(chat=boards.team.chat, on_behalf_of=alice, supervisor_run=run, state="init")
    services.pause_board(alice, board.id)
    chats.save_changes(board.chat_id, fail_plan(boards.read(board), ["Task 1 follows itself."]))
    assert (boards.read(board).state, boards.read(board).pause_reason) == ("failed", "")
    Run.objects.filter(pk=run.pk).update(state="completed", ended_at=now())
    Board.objects.filter(pk=board.pk).update(state="init", reason_code="", ended_at=None)
    services.pause_board(alice, board.id)
    services.advance_board(board.id)
    assert (boards.read(board).state, boards.read(board).pause_reason) == ("failed", "")


def test_BRD12_a_used_up_budget_pauses_a_board_which_can_be_resumed_or_answered(boards):
    board = boards.create(boards.plan("Find dry days"), boards.plan("Add it up", boards.finance))
    answer(boards.run_of(board, 1).id)
    fail(boards.run_of(board, 2).id, "budget_used_up")
    paused = boards.read(board)
    assert (paused.state, paused.pause_reason, paused.paused_by) == ("executing", "budget", None)
    assert boards.list_states(board) == ["succeeded", "ready"]
    services.answer_board(boards.team.alice, board.id)
    answered = boards.read(board)
    assert (answered.state, answered.pause_reason) == ("aggregating", "")
    assert boards.list_states(board) == ["succeeded", "cancelled"]
    assert boards.task(board, 2).reason_code == "answered"
    assert Notification.objects.filter(type="board_paused").count() == 1


def test_BRD12_a_budget_that_ends_the_answer_pauses_the_board_and_another_run_answers_it(boards):
    board = boards.create(boards.plan("Find dry days"), boards.plan("Add it up", boards.finance))
    answer(boards.run_of(board, 1).id)
    answer(boards.run_of(board, 2).id)
    first = boards.read(board).answer_run_id
    for number in (1, 2):
        fail(boards.read(board).answer_run_id, "budget_used_up")
        paused = boards.read(board)
        assert (paused.state, paused.pause_reason, paused.answers_ended) == ("aggregating", "budget", number)
        services.advance_boards()
        services.advance_board(board.id)
        assert boards.read(board).version == paused.version, "advancing it changes nothing"
        services.resume_board(boards.team.alice, board.id)
    again = boards.read(board)
    assert (again.state, again.pause_reason, again.answer_run_id != first) == ("aggregating", "", True)
    answer(again.answer_run_id, "All in all, go.")
    done = boards.read(board)
    assert (done.state, done.final_response, boards.list_states(board)) == (
        "completed",
        "All in all, go.",
        ["succeeded"] * 2,
    )
    assert Run.objects.filter(kind="board_answer").count() == 3
    assert Notification.objects.filter(type="board_paused").count() == 2


def test_BRD12_a_board_starts_nothing_that_its_limit_does_not_cover(boards):
    earlier = BoardFactory.create(chat=boards.team.chat, on_behalf_of=boards.team.alice, ended=True)
    for number in (1, 2, 3):
        task = BoardTaskFactory.create(board=earlier, agent=boards.weather, number=number)
        TaskResultFactory.create(task=task, cost_micro=number * 10)
    board = boards.create(boards.plan("One"), boards.plan("Two"), boards.plan("Three"), limit_micro=50)
    assert board.estimate_micro == 60
    assert boards.list_states(board) == ["running", "running", "ready"], "two of 20 are less than 50, three are not"
    for number in (1, 2):
        run = boards.run_of(board, number)
        Run.objects.filter(pk=run.pk).update(cost_micro=24)
        answer(run.id)
    paused = boards.read(board)
    assert (paused.pause_reason, paused.cost_micro, boards.task(board, 1).cost_micro) == ("budget", 48, 24)
    with pytest.raises(Forbidden):
        services.resume_board(boards.team.bob, board.id, limit_micro=100)
    services.resume_board(boards.team.alice, board.id, limit_micro=100)
    assert boards.list_states(board)[2] == "running"


# --- trying again ---------------------------------------------------------------------------------------------------


def test_BRD13_a_failed_task_is_tried_again_while_nothing_follows_from_its_failure(boards):
    board = boards.create(
        boards.plan("Find dry days"),
        boards.plan("Add it up", boards.finance),
        boards.plan("Plan", boards.travel, after=[1, 2], join="settled"),
        boards.plan("Compare", boards.travel, after=[2]),
    )
    fail(boards.run_of(board, 2).id)
    assert boards.list_states(board) == ["running", "failed", "pending", "skipped"]
    with pytest.raises(Conflict) as refused:
        services.retry_task(boards.team.alice, board.id, 2)
    assert refused.value.hints == ["Run the board again from this task."]
    board = boards.create(
        boards.plan("Find dry days"),
        boards.plan("Add it up", boards.finance, parameters={"people": 6}),
        boards.plan("Plan", boards.travel, after=[1, 2], join="settled"),
    )
    fail(boards.run_of(board, 2).id)
    services.retry_task(boards.team.alice, board.id, 2, description="Add it up in TWD")
    task = boards.task(board, 2)
    assert (task.state, task.attempt, task.description, task.replaced_description) == (
        "running",
        2,
        "Add it up in TWD",
        "Add it up",
    )
    answer(boards.run_of(board, 1).id)
    assert boards.list_states(board) == ["succeeded", "running", "pending"], "the join waits for the second try"
    answer(boards.run_of(board, 2).id)
    assert boards.list_states(board) == ["succeeded", "succeeded", "running"]
    descriptions = TaskResult.objects.filter(task=task).order_by("attempt").values_list("description", flat=True)
    assert list(descriptions) == ["Add it up", "Add it up in TWD"]
    with pytest.raises(NotFound):
        services.retry_task(boards.team.alice, board.id, 9)


def test_BRD13_a_task_that_was_ready_waits_for_the_second_try(boards):
    """It was not started, because the board is paused, so nothing follows from the failure yet."""
    board = boards.create(
        boards.plan("Find dry days"),
        boards.plan("Plan", boards.travel, after=[1], join="settled"),
        boards.plan("Write about both", boards.travel, after=[1, 2], join="any"),
    )
    services.pause_board(boards.team.alice, board.id)
    fail(boards.run_of(board, 1).id)
    assert boards.list_states(board) == ["failed", "ready", "pending"]
    services.retry_task(boards.team.alice, board.id, 1)
    services.resume_board(boards.team.alice, board.id)
    assert boards.list_states(board) == ["running", "pending", "pending"]
    answer(boards.run_of(board, 1).id, "19 November")
    [read] = boards.run_of(board, 2).input["context"]["results"]
    assert read["text"] == "19 November"
    assert boards.list_edges(board) == [(1, 2, "taken"), (1, 3, "taken"), (2, 3, "")]


def test_BRD14_a_board_is_run_again_from_a_task_and_reuses_the_other_results(boards):
    board = boards.create(
        boards.plan("Find dry days"),
        boards.plan("Add it up", boards.finance),
        boards.plan("Plan", boards.travel, after=[1]),
        boards.plan("Say the sum", boards.travel, after=[2], join="settled"),
    )
    answer(boards.run_of(board, 1).id, "19 November")
    fail(boards.run_of(board, 2).id)
    with pytest.raises(Conflict, match="has not ended"):
        services.fork_board(boards.team.alice, board.id, id=new_id(), number=2)
    answer(boards.run_of(board, 3).id, "Arashiyama")
    answer(boards.run_of(board, 4).id, "No sum")
    answer(boards.read(board).answer_run_id, "Go, but no sum.")
    before = boards.read(board).version, boards.list_results(board)
    id = new_id()
    fork, is_new = services.fork_board(boards.team.alice, board.id, id=id, number=2, description="In TWD")
    again, is_again = services.fork_board(boards.team.alice, board.id, id=id, number=2, description="In TWD")
    assert (is_new, is_again, again) == (True, False, fork)
    assert (fork.planned_by, fork.forked_from, fork.forked_at, fork.state) == ("fork", board, 2, "executing")
    assert boards.list_states(fork) == ["succeeded", "running", "succeeded", "pending"]
    assert boards.list_edges(fork) == [(1, 3, "taken"), (2, 4, "")]
    task = boards.task(fork, 2)
    assert (task.description, task.replaced_description, task.attempt) == ("In TWD", "Add it up", 1)
    reused = TaskResult.objects.get(task__board=fork, task__number=1)
    assert reused.reused_from is not None
    assert (reused.text, reused.cost_micro, reused.reused_from.task.board) == ("19 November", 0, board)
    assert Run.objects.filter(kind="board_task", trigger_id=boards.task(fork, 1).id).count() == 0
    answer(boards.run_of(fork, 2).id, "89,080")
    answer(boards.run_of(fork, 4).id, "It is 89,080")
    answer(boards.read(fork).answer_run_id, "Go.")
    assert boards.read(fork).state == "completed"
    assert (boards.read(board).version, boards.list_results(board)) == before
    second, _ = services.fork_board(boards.team.alice, fork.id, id=new_id(), number=4)
    assert boards.list_states(second) == ["succeeded", "succeeded", "succeeded", "running"]
    assert TaskResult.objects.get(task__board=second, task__number=1).reused_from == reused.reused_from


@pytest.mark.parametrize(
    ("change", "is_in_chat"), [("accepts_tasks", True), ("status", True), ("accepts_tasks", False)]
)
def test_BRD14_a_board_whose_supervisor_gets_no_tasks_is_answered_by_another_agent(boards, change, is_in_chat):
    """A supervisor that accepts no tasks has answered in its own run. What the tasks have cost is not lost."""
    team = boards.team
    run = RunFactory.create(chat=team.chat, agent=team.robin, state="completed")
    plan = {"planned_by": "model", "task_count": 2, "requires_aggregation": True, "aggregator": team.robin}
    board = BoardFactory.create(chat=team.chat, on_behalf_of=team.alice, supervisor_run=run, ended=True, **plan)
    for number, agent in enumerate((boards.weather, boards.finance), 1):
        BoardTaskFactory.create(board=board, agent=agent, number=number)
    Actor.objects.filter(pk=team.robin.pk).update(**{change: {"accepts_tasks": False, "status": "deleted"}[change]})
    if is_in_chat:
        with transaction.atomic():
            chats.add_participant(team.alice, team.chat.id, boards.weather.id)
    again, _ = services.fork_board(team.alice, board.id, id=new_id(), number=1)
    answer(boards.run_of(again, 1).id)
    answer(boards.run_of(again, 2).id)
    again = boards.read(again)
    answering = boards.weather if is_in_chat else boards.finance
    assert (again.state, again.aggregator) == ("aggregating", answering)
    answer(again.answer_run_id, "Go.")
    assert boards.read(again).final_response == "Go."


# --- whose texts a changed task has ---------------------------------------------------------------------------------


CITY = {"city": "Kyoto"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "outside"),
        ({"description": "Find dry days"}, "outside"),
        ({"description": " Find dry\u200b days ", "parameters": CITY}, "outside"),
        ({"parameters": {"city": "Nara"}}, "outside"),
        ({"description": "Find wet days"}, "outside"),
        ({"description": "Find wet days", "parameters": CITY}, "outside"),
        ({"description": "Find wet days", "parameters": {"city": "Nara"}}, ""),
        ({"description": "Find wet days", "parameters": {}}, ""),
    ],
)
def test_BRD15_only_what_a_person_has_changed_becomes_their_own(boards, changes, expected):
    board = boards.create(boards.plan("Find dry days", parameters=CITY), boards.plan("Add it up", boards.finance))
    board.tasks.update(read_texts="outside")
    fail(boards.run_of(board, 1).id)
    services.retry_task(boards.team.alice, board.id, 1, **changes)
    services.stop_board(boards.team.alice, board.id)
    Board.objects.filter(pk=board.id).update(state="failed")
    assert boards.task(board, 1).read_texts == expected
    assert boards.run_of(board, 1).input["read_texts"] == expected
    board.tasks.update(description="Find dry days", parameters=CITY, read_texts="outside")
    fork, _ = services.fork_board(boards.team.alice, board.id, id=new_id(), number=1, **changes)
    assert [boards.task(fork, number).read_texts for number in (1, 2)] == [expected, "outside"]


def test_BRD15_FAIR8_the_texts_of_another_person_are_of_others(boards):
    """An editor runs the board of a suggester again. It works for the editor, but the texts stay those of the suggester."""
    alice, bob = boards.team.alice, boards.team.bob
    board = boards.create(boards.plan("Find dry days"), boards.plan("Add it up", boards.finance), by=bob)
    answer(boards.run_of(board, 1).id)
    fail(boards.run_of(board, 2).id)
    services.stop_board(bob, board.id)
    again, _ = services.fork_board(alice, board.id, id=new_id(), number=2)
    assert (again.on_behalf_of, again.read_texts) == (alice, "others")
    assert [task.read_texts for task in again.tasks.all()] == ["others", "others"]
    assert TaskResult.objects.get(task__board=again, success=True).read_texts == "others"
    assert boards.run_of(again, 2).input["read_texts"] == "others"
    services.stop_board(alice, again.id)
    own, _ = services.fork_board(alice, again.id, id=new_id(), number=2, description="Add up my trip")
    assert (own.read_texts, boards.task(own, 2).read_texts) == ("others", "")
    own.tasks.update(read_texts="")
    Board.objects.filter(pk=own.id).update(requires_aggregation=True)
    answer(boards.run_of(own, 2).id)
    answering = Run.objects.filter(pk=boards.read(own).answer_run_id, input__read_texts="others")
    assert answering.exists(), "it reads what Bob has asked for"
    of_bob, _ = services.fork_board(bob, board.id, id=new_id(), number=2)
    assert (of_bob.read_texts, boards.task(of_bob, 2).read_texts) == ("", "")


def test_BRD15_FAIR8_the_text_of_an_editor_is_of_others_in_the_board_of_a_suggester(boards):
    board = boards.create(boards.plan("Find dry days"), boards.plan("Add it up", boards.finance), by=boards.team.bob)
    fail(boards.run_of(board, 1).id)
    services.retry_task(boards.team.alice, board.id, 1, description="Find wet days")
    run = boards.run_of(board, 1)
    assert (run.on_behalf_of, run.input["text"], run.input["read_texts"]) == (
        boards.team.bob,
        "Find wet days",
        "others",
    )


def test_BRD15_the_answer_reads_the_descriptions_of_tasks_without_a_result(boards):
    board = boards.create(boards.plan("Find dry days"), boards.plan("Obey the page", boards.finance))
    board.tasks.filter(number=2).update(read_texts="outside")
    answer(boards.run_of(board, 1).id)
    services.answer_board(boards.team.alice, board.id)
    assert TaskResult.objects.get(is_late=False).read_texts == ""
    answering = Run.objects.filter(pk=boards.read(board).answer_run_id, input__read_texts="outside")
    assert answering.filter(input__context__missing__0__description="Obey the page").exists()


# --- limits ---------------------------------------------------------------------------------------------------------


def test_BRD20_the_texts_of_a_plan_and_of_a_changed_task_are_limited(boards):
    long = {"text": "x" * 19_000}
    with pytest.raises(Invalid) as refused:
        boards.create(*(boards.plan("x" * 2_000, parameters=long) for _ in range(5)))
    assert refused.value.hints == [
        "The descriptions, parameters and schemas of a plan have at most 100,000 characters."
    ]
    assert not Board.objects.exists()
    board = boards.create(boards.plan("Find dry days"), boards.plan("Add it up", boards.finance))
    fail(boards.run_of(board, 1).id)
    too_long = {"text": "x" * 20_000}
    with pytest.raises(TooLarge):
        services.retry_task(boards.team.alice, board.id, 1, parameters=too_long)
    assert boards.list_states(board) == ["failed", "running"]
    services.stop_board(boards.team.alice, board.id)
    with pytest.raises(TooLarge):
        services.fork_board(boards.team.alice, board.id, id=new_id(), number=1, parameters=too_long)
    assert Board.objects.count() == 1


def test_BRD20_the_texts_of_a_plan_are_limited_together_also_when_tasks_are_changed(boards):
    """Every client that opens the chat loads them."""
    alice, long = boards.team.alice, "x" * 19_000
    board = boards.create(*(boards.plan(f"Find {number}") for number in range(1, 5)), max_at_once=4)
    for number in (1, 2, 3):
        fail(boards.run_of(board, number).id)
    for number in (1, 2):
        services.retry_task(alice, board.id, number, description=long, parameters={"text": long})
    with pytest.raises(TooLarge):
        services.retry_task(alice, board.id, 3, description=long, parameters={"text": long})
    assert boards.list_states(board) == ["running", "running", "failed", "running"]
    services.stop_board(alice, board.id)
    with pytest.raises(TooLarge):
        services.fork_board(alice, board.id, id=new_id(), number=3, description=long, parameters={"text": long})
    assert (Board.objects.count(), boards.task(board, 3).description) == (1, "Find 3")
    services.fork_board(alice, board.id, id=new_id(), number=3, description=long)


def test_BRD20_a_task_is_tried_a_limited_number_of_times(boards):
    board = boards.create(boards.plan("Find dry days"), boards.plan("Add it up", boards.finance))
    fail(boards.run_of(board, 1).id)
    BoardTask.objects.filter(board=board, number=1).update(attempt=20)
    with pytest.raises(Conflict) as refused:
        services.retry_task(boards.team.alice, board.id, 1)
    assert refused.value.hints == ["Run the board again from this task."]
    assert boards.list_states(board) == ["failed", "running"]


def test_BRD20_the_tasks_of_a_supervisor_count_the_messages_of_agents_that_led_to_it(boards):
    """Otherwise two supervisors whose members write to each other would never stop."""
    run = RunFactory.create(chat=boards.team.chat, agent=boards.team.robin, state="waiting_board", agent_hops=3)
    board = BoardFactory.create(chat=boards.team.chat, on_behalf_of=boards.team.alice, supervisor_run=run)
    BoardTaskFactory.create(board=board, agent=boards.weather)
    services.start_board(boards.team.alice, board.id)
    assert boards.run_of(board, 1).agent_hops == 3


# --- making them ----------------------------------------------------------------------------------------------------


def test_a_board_that_is_created_twice_is_there_once(boards):
    id, bob = new_id(), boards.team.bob
    board = boards.create(boards.plan("Find dry days"), id=id, start=False, by=bob)
    assert boards.create(boards.plan("Find dry days"), id=id, start=False, by=bob) == board
    services.start_board(boards.team.alice, board.id)
    assert boards.create(boards.plan("Find dry days"), id=id, start=False, by=bob) == board, "also when it was started"
    assert Board.objects.count() == 1
    with pytest.raises(Conflict) as refused:
        boards.create(boards.plan("x"), id=id)
    assert refused.value.code == Code.ID_TAKEN


@pytest.mark.parametrize(
    ("after", "hint"),
    [
        ([[2], [1]], "The tasks 2, 1 wait for each other."),
        ([[1]], "Task 1 follows itself."),
        ([[3], []], "Task 1 follows task 3, which is not in the plan."),
    ],
)
def test_BRD1_a_plan_has_no_circle(boards, after, hint):
    with pytest.raises(Invalid) as refused:
        boards.create(*(boards.plan("Look", after=numbers) for numbers in after))
    assert refused.value.hints == [hint]
    assert not Board.objects.exists()


def test_SEC3_agents_and_boards_of_another_team_are_not_used(boards):
    with transaction.atomic():
        others = make_team("2")
    with pytest.raises(Invalid, match="plan is not valid"):
        boards.create(boards.plan("Find dry days", others.robin))
    with pytest.raises(Invalid):
        boards.create(boards.plan("Find dry days"), boards.plan("x"), aggregator_id=others.robin.id)
    file = FileFactory.create(chat=others.chat, uploaded_by=others.alice)
    board = boards.create(boards.plan("Find dry days", file_ids=[file.id]))
    assert boards.run_of(board, 1).input["file_ids"] == [], "only files of the chat go along"
    for verb in BoardVerb:
        with pytest.raises(NotFound):
            get_board_for(others.alice, board.id, verb)
    assert Board.objects.count() == 1


@pytest.mark.parametrize(("policy", "is_used"), [(None, True), (Policy.ASK, False), (Policy.OFF, False)])
def test_a_public_agent_gets_tasks_only_if_no_click_is_wanted(boards, policy, is_used):
    browser = find_shipped_sub_agent("browser")
    assert browser is not None
    if policy is not None:
        with transaction.atomic():
            set_policy(boards.team.alice, boards.team.workspace.id, build_agent_tool_name(browser.id), policy=policy)
    found = find_agents_for_tasks(boards.team.workspace.id, [browser.id, boards.weather.id])
    assert set(found) == {boards.weather.id} | ({browser.id} if is_used else set())
    jobs_only = get_shipped_agent("merger")
    assert find_agents_for_tasks(boards.team.workspace.id, [jobs_only.id]) == {}


def test_SEC2_the_person_the_starter_and_editors_control_a_board(boards):
    board = boards.create(boards.plan("Find dry days"), by=boards.team.bob, start=False)
    for verb in BoardVerb:
        for actor in (boards.team.alice, boards.team.bob):
            assert get_board_for(actor, board.id, verb) == board
    of_alice = boards.create(boards.plan("Find dry days"), start=False)
    assert get_board_for(boards.team.bob, of_alice.id, BoardVerb.SEE) == of_alice
    for verb in (BoardVerb.STOP, BoardVerb.CONTROL, BoardVerb.RAISE_LIMIT):
        with pytest.raises(Forbidden, match="the one who has started it"):
            get_board_for(boards.team.bob, of_alice.id, verb)


def test_BRD20_a_chat_has_a_limited_number_of_boards_under_way(boards, monkeypatch):
    monkeypatch.setattr("boards.services.planning.MAX_BOARDS_UNDER_WAY", 1)
    boards.create(boards.plan("Find dry days"), start=False)
    with pytest.raises(LimitReached):
        boards.create(boards.plan("Find dry days"))


def test_people_are_notified_of_the_end_of_a_board_unless_they_have_ended_it(boards):
    board = boards.create(boards.plan("Find dry days"), by=boards.team.bob)
    answer(boards.run_of(board, 1).id)
    stopped = boards.create(boards.plan("Find dry days"), by=boards.team.bob)
    services.stop_board(boards.team.bob, stopped.id)
    [notified] = Notification.objects.filter(type__startswith="board")
    [ended] = boards.list_messages("TASKS_ENDED")
    assert (notified.person, notified.type, notified.message_id) == (boards.team.bob, "board_ended", ended.id)
    assert notified.excerpt == "Four days in Kyoto"


def test_an_estimate_needs_three_results_of_each_agent_in_this_workspace(boards):
    board = BoardFactory.create(chat=boards.team.chat, on_behalf_of=boards.team.alice, ended=True)
    agents = [boards.weather.id, boards.weather.id]
    for number, cost in enumerate((900, 10, 30, 20), 1):
        assert (estimate_tasks(boards.team.workspace.id, agents) is None) == (number <= 3)
        task = BoardTaskFactory.create(board=board, agent=boards.weather, number=number)
        TaskResultFactory.create(task=task, cost_micro=cost)
    assert estimate_tasks(boards.team.workspace.id, agents) == 50
    assert estimate_tasks(boards.team.workspace.id, [*agents, boards.finance.id]) is None
    assert estimate_tasks(boards.team.elsewhere.id, agents) is None


# --- at the same time -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["start", "stop", "resume", "retry", "fork", "answer", "create"])
def test_BRD3_the_same_request_six_times_at_once_has_one_effect(boards, action):
    alice, id = boards.team.alice, new_id()
    board = boards.create(
        boards.plan("Find dry days", max_attempts=1), boards.plan("Add it up", boards.finance), start=action != "start"
    )
    if action in ("retry", "fork"):
        fail(boards.run_of(board, 1).id)
    if action == "resume":
        services.pause_board(alice, board.id)
    if action == "fork":
        services.stop_board(alice, board.id)

    def create():
        tasks = [boards.plan("Find dry days")]
        return services.create_board(alice, boards.team.chat.id, id=id, user_input="Kyoto", tasks=tasks)[0]

    requests = {
        "start": lambda: services.start_board(alice, board.id),
        "stop": lambda: services.stop_board(alice, board.id),
        "resume": lambda: services.resume_board(alice, board.id),
        "retry": lambda: services.retry_task(alice, board.id, 1),
        "fork": lambda: services.fork_board(alice, board.id, id=id, number=1)[0],
        "answer": lambda: services.answer_board(alice, board.id),
        "create": create,
    }

    def send(_):
        try:
            return requests[action]().id
        except Conflict:
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(send, range(6)))
    expected = {
        "start": ({board.id}, 6, 2, ["TASKS_STARTED"]),
        "stop": ({board.id}, 6, 2, ["TASKS_STARTED", "TASKS_STOPPED"]),
        "resume": ({board.id}, 6, 2, ["TASKS_STARTED", "TASKS_PAUSED", "TASKS_RESUMED"]),
        "retry": ({board.id}, 1, 3, ["TASKS_STARTED"]),
        "fork": ({id}, 6, 4, ["TASKS_STARTED", "TASKS_STOPPED", "TASKS_STARTED"]),
        "answer": ({board.id}, 1, 2, ["TASKS_STARTED", "TASKS_ENDED"]),
        "create": ({id}, 6, 3, ["TASKS_STARTED"] * 2),
    }
    done = [answer for answer in answers if answer is not None]
    types = [message.type for message in boards.list_messages() if message.type.startswith("TASKS_")]
    assert (set(done), len(done), Run.objects.filter(kind="board_task").count(), types) == expected[action]


@pytest.mark.parametrize("round", range(15 * N if IS_CHAOS else 1))
def test_BRD5_a_join_of_25_tasks_is_done_once_under_12_finishers(boards, round):
    numbers = list(range(1, 26))
    board = boards.create(
        *(boards.plan(f"Look at day {number}") for number in numbers),
        boards.plan("Put it together", boards.travel, after=numbers),
        max_at_once=25,
    )
    runs = [claim_run(boards.run_of(board, number).id, "test:1:a") for number in numbers]

    def finish_as_worker(claimed):
        try:
            finish(claimed)
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as threads:
        list(threads.map(finish_as_worker, runs))
    assert boards.list_states(board) == ["succeeded"] * 25 + ["running"]
    assert TaskEdge.objects.filter(board=board, state="taken").count() == 25
    assert Run.objects.filter(trigger_id=BoardTask.objects.get(board=board, number=26).id).count() == 1


def set_costs(boards: BoardEnvironment, agent: Actor, *costs: int) -> None:
    """Let tasks of an agent have cost so much before."""
    earlier = BoardFactory.create(chat=boards.team.chat, on_behalf_of=boards.team.alice, ended=True)
    for number, cost in enumerate(costs, 1):
        TaskResultFactory.create(
            task=BoardTaskFactory.create(board=earlier, agent=agent, number=number), cost_micro=cost
        )


def test_BRD11_a_board_by_hand_above_the_amount_of_the_workspace_waits_for_its_starter_or_an_editor(boards):
    team = boards.team
    services.change_board_settings(team.alice, team.workspace.id, ask_above_micro=30, revision=1)
    set_costs(boards, boards.weather, 20, 20, 20)
    cheap = boards.create(boards.plan("Find dry days"), by=team.bob)
    assert (cheap.state, cheap.pause_reason, cheap.estimate_micro) == ("executing", "", 20)
    board = boards.create(boards.plan("Find dry days"), boards.plan("Find wet days"), by=team.bob)
    assert (board.state, board.pause_reason, board.estimate_micro) == ("decomposed", "estimate", 40)
    assert boards.list_states(board) == ["pending", "pending"]
    [paused] = boards.list_messages("TASKS_PAUSED")
    assert (paused.payload["board_id"], paused.payload["code"]) == (str(board.id), "estimate")
    assert Notification.objects.get(type="board_waits").person == team.bob
    with pytest.raises(NotFound):
        services.start_board(team.charlie, board.id)
    assert boards.read(board).pause_reason == "estimate"
    services.start_board(team.bob, board.id)
    started = boards.read(board)
    assert (started.state, started.pause_reason, boards.list_states(board)) == ("executing", "", ["running"] * 2)
    other = boards.create(boards.plan("Find dry days"), boards.plan("Find wet days"), by=team.bob)
    services.resume_board(team.alice, other.id)
    assert boards.read(other).state == "executing", "an editor may let it start, too"


def test_BRD11_a_board_by_hand_whose_cost_is_not_known_waits_and_so_does_one_that_is_run_again(boards):
    first = boards.create(boards.plan("Find dry days"))
    assert first.state == "executing", "the workspace has set no amount"
    answer(boards.run_of(first, 1).id)
    services.change_board_settings(boards.team.alice, boards.team.workspace.id, ask_above_micro=0, revision=1)
    board = boards.create(boards.plan("Find dry days"))
    assert (board.state, board.pause_reason, board.estimate_micro) == ("decomposed", "estimate", None)
    fork, _ = services.fork_board(boards.team.alice, first.id, id=new_id(), number=1)
    assert (fork.state, fork.pause_reason) == ("decomposed", "estimate")
    services.start_board(boards.team.alice, fork.id)
    assert boards.list_states(fork) == ["running"]


def test_the_settings_of_boards_are_changed_by_editors_and_recorded(boards):
    team = boards.team
    with pytest.raises(Forbidden):
        services.change_board_settings(team.bob, team.workspace.id, ask_above_micro=1, revision=1)
    services.change_board_settings(team.alice, team.workspace.id, ask_above_micro=2_000_000, revision=1)
    with pytest.raises(Conflict):
        services.change_board_settings(team.alice, team.workspace.id, ask_above_micro=None, revision=1)
    row = build_settings_row(Workspace.objects.get(pk=team.workspace.pk))
    assert (row.ask_above_micro, row.revision) == (2_000_000, 2)
    record = AuditRecord.objects.get(action="workspace.boards_changed")
    assert (record.actor_id, record.facts["ask_above_micro"]) == (team.alice.id, 2_000_000)
