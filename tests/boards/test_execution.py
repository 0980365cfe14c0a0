"""Boards by hand are executed by real runs: their order, the results that a task reads, failures, and the answer."""

import json
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from actors.models import Actor
from boards import services
from boards.models import TaskResult
from chats.models import Message
from common.clock import now
from files.models import File
from runs.models import NOT_ENDED, Run
from runs.services import runs
from runs.services.claims import claim_run
from tests.people import make_agent
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db(transaction=True)


def list_requests(environment, system):
    """Return the texts of the requests to the model of the agent with this prompt."""
    texts = [json.dumps(sent.body["messages"], ensure_ascii=False) for sent in environment.model.requests]
    return [text for text in texts if system in text]


@pytest.mark.usefixtures("receiving_engine")
def test_BRD3_each_task_is_done_by_one_run_of_its_agent_and_the_answer_by_another(environment, boards):
    environment.model.script(system="You are Weather.", text="19 to 22 November are dry.")
    environment.model.script(system="You are Finance.", text="It costs 89,080.")
    environment.model.script(system="You are Travel.", text="Arashiyama first.")
    environment.model.script(match="Answer this request", text="Go on 19 November; it costs 89,080.")
    board = boards.create(
        boards.plan("Find dry days", parameters={"city": "京都"}),
        boards.plan("Add it up", boards.finance),
        boards.plan("Plan each day", boards.travel, after=[1]),
        reasoning="The weather decides the days.",
    )
    board = boards.wait_until_ended(board)
    assert (board.state, board.reason_code, board.final_response) == (
        "completed",
        "",
        "Go on 19 November; it costs 89,080.",
    )
    assert boards.list_states(board) == ["succeeded"] * 3
    assert boards.list_edges(board) == [(1, 3, "taken")]
    assert boards.list_results(board) == [
        (1, 1, True, "19 to 22 November are dry."),
        (2, 1, True, "It costs 89,080."),
        (3, 1, True, "Arashiyama first."),
    ]
    found = [(run.kind, run.agent.name, run.trigger_id) for run in Run.objects.select_related("agent").order_by("pk")]
    assert sorted(found[:3], key=str) == sorted(
        [("board_task", task.agent_name, task.id) for task in board.tasks.all()], key=str
    )
    assert found[3:] == [("board_answer", "Robin", board.id)]
    [request] = list_requests(environment, "You are Weather.")
    assert "Find dry days" in request
    assert "京都" in request
    [request] = list_requests(environment, "You are Travel.")
    assert "19 to 22 November are dry." in request, "it reads the result of the task that it follows"
    assert "89,080" not in request, "and no other"
    answer = Message.objects.get(run_id=board.answer_run_id, type="TEXT_MESSAGE")
    assert (answer.author, answer.metadata, answer.counts_as_unread) == (boards.team.robin, None, True)
    started, ended = boards.list_messages("TASKS_STARTED", "TASKS_ENDED")
    assert (started.id, started.payload["actor_id"]) == (board.message_id, str(boards.team.alice.id))
    assert (ended.payload["tasks"], ended.payload["succeeded"]) == (3, 3)


@pytest.mark.usefixtures("receiving_engine")
def test_BRD4_the_only_task_answers_without_another_call_of_a_model(environment, boards):
    environment.model.script(system="You are Weather.", text="Dry.")
    board = boards.wait_until_ended(boards.create(boards.plan("Find dry days")))
    assert (board.state, board.final_response, board.requires_aggregation) == ("completed", "Dry.", False)
    assert len(environment.model.requests) == 1


@pytest.mark.usefixtures("receiving_engine")
def test_BRD5_a_task_that_fails_is_tried_again_and_the_others_go_on(environment, boards):
    environment.model.script(system="You are Weather.", text="Dry.")
    environment.model.script(system="You are Finance.", mode="status", status=400, error="No rates.")
    environment.model.script(match="Answer this request", text="Dry, but no sum.")
    board = boards.create(
        boards.plan("Find dry days"),
        boards.plan("Add it up", boards.finance),
        boards.plan("Compare the sum", boards.travel, after=[2]),
        boards.plan("Say what there is", after=[1, 2], join="settled"),
        boards.plan("Use one of them", after=[1, 2], join="any"),
    )
    board = boards.wait_until_ended(board)
    assert (board.state, board.final_response) == ("completed", "Dry, but no sum.")
    assert boards.list_states(board) == ["succeeded", "failed", "skipped", "succeeded", "succeeded"]
    assert [result[:3] for result in boards.list_results(board) if result[0] == 2] == [(2, 1, False), (2, 2, False)]
    assert boards.task(board, 3).reason_code == "join"
    assert len(list_requests(environment, "You are Finance.")) == 2, "the model is asked once for each attempt"
    [request] = list_requests(environment, "Answer this request")
    missing = request[request.index("missing") :]
    assert "Add it up" in missing
    assert "No rates." in missing or "could not" in missing
    [ended] = boards.list_messages("TASKS_ENDED")
    assert (ended.payload["tasks"], ended.payload["succeeded"]) == (5, 3)


@pytest.mark.usefixtures("receiving_engine")
def test_BRD5_a_board_without_any_result_has_failed(environment, boards):
    environment.model.script(mode="status", status=400)
    board = boards.create(boards.plan("Find dry days", max_attempts=1), boards.plan("Add it up", after=[1]))
    board = boards.wait_until_ended(board)
    assert (board.state, board.reason_code) == ("failed", "no_results")
    assert boards.list_states(board) == ["failed", "skipped"]
    assert boards.list_edges(board) == [(1, 2, "taken")]
    assert len(environment.model.requests) == 1


@pytest.mark.usefixtures("receiving_engine")
def test_BRD5_a_task_may_fail_its_board(environment, boards):
    environment.model.script(system="You are Finance.", mode="status", status=400)
    environment.model.script(system="You are Weather.", mode="drip", count=3000, every=0.02)
    board = boards.create(
        boards.plan("Find dry days"), boards.plan("Add it up", boards.finance, max_attempts=1, on_failure="stop")
    )
    board = boards.wait_until_ended(board)
    assert (board.state, board.reason_code) == ("failed", "task_failed")
    assert boards.list_states(board) == ["cancelled", "failed"]
    assert [run.state for run in environment.runs(kind="board_task")] == ["stopped", "failed"]
    late = TaskResult.objects.get(is_late=True)
    assert (late.task.number, late.success, late.error_code) == (1, False, "stopped")


@pytest.mark.usefixtures("receiving_engine")
def test_BRD6_no_more_tasks_are_worked_on_than_the_board_allows(environment, boards):
    environment.model.script(system="You are Weather.", mode="nofirst")
    board = boards.create(*(boards.plan(f"Look at day {n}") for n in range(5)), max_at_once=2)
    environment.wait(lambda: len(environment.model.requests) == 2)
    assert boards.list_states(board) == ["running", "running", "ready", "ready", "ready"]
    services.stop_board(boards.team.alice, board.id)
    boards.wait_until_ended(board)
    assert len(environment.model.requests) == 2


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"accepts_tasks": False}, "no_tasks"),
        ({"status": "deleted"}, "agent_gone"),
        ({"status": "suspended"}, "agent_gone"),
    ],
)
@pytest.mark.usefixtures("receiving_engine")
def test_BRD7_an_agent_is_looked_at_again_when_its_task_begins(environment, boards, change, code):
    environment.model.script(system="You are Weather.", text="Dry.")
    environment.model.script(match="Answer this request", text="Dry.")
    board = boards.create(
        boards.plan("Find dry days"), boards.plan("Add it up", boards.finance, after=[1]), start=False
    )
    Actor.objects.filter(pk=boards.finance.pk).update(**change)
    services.start_board(boards.team.alice, board.id)
    board = boards.wait_until_ended(board)
    assert (board.state, boards.list_states(board)) == ("completed", ["succeeded", "failed"])
    task = boards.task(board, 2)
    assert (task.reason_code, task.run, task.attempt) == (code, None, 1)


@pytest.mark.usefixtures("receiving_engine")
def test_BRD7_a_board_ends_when_its_workspace_is_deleted(environment, boards):
    """What is under way stops, and the server of the model is asked no more."""
    environment.model.script(system="You are Weather.", mode="nofirst")
    workspace = boards.team.workspace
    board = boards.create(
        boards.plan("Find dry days", max_attempts=1),
        boards.plan("Add it up", boards.finance, after=[1], join="settled"),
        boards.plan("Find wet days", max_attempts=1),
        max_at_once=1,
    )
    environment.wait(lambda: len(environment.model.requests) == 1)
    workspaces.delete_workspace(boards.team.alice, workspace.id, name=workspace.name)
    board = boards.wait_until_ended(board)
    assert (board.state, board.reason_code) == ("failed", "no_results")
    assert not Run.objects.filter(state__in=NOT_ENDED).exists()
    assert len(environment.model.requests) == 1


@pytest.mark.usefixtures("receiving_engine")
def test_BRD4_a_board_whose_answer_fails_keeps_its_results(environment, boards):
    environment.model.script(system="You are Weather.", text="Dry.")
    environment.model.script(match="Answer this request", mode="status", status=400)
    board = boards.wait_until_ended(boards.create(boards.plan("Find dry days"), boards.plan("Find wet days")))
    assert (board.state, board.reason_code) == ("failed", "answer_failed")
    assert boards.list_states(board) == ["succeeded", "succeeded"]


def test_BRD3_an_end_that_was_not_stored_is_stored_by_the_sweeper(environment, boards, engine, monkeypatch, caplog):
    """If the hook fails when a run fails, the run ends all the same, and the board goes on later."""
    environment.engine = None
    environment.model.script(system="You are Weather.", text="Dry.")
    environment.model.script(match="Answer this request", text="Dry.")
    board = boards.create(boards.plan("Find dry days"), boards.plan("Add it up", boards.finance, max_attempts=1))
    run = boards.run_of(board, 2)
    with monkeypatch.context() as patch:
        patch.setattr("boards.services.engine.LoadedBoard", None)
        runs.stop_run(boards.team.alice, run.id)
    assert boards.task(board, 2).state == "running"
    assert "A listener of the end of the runs" in caplog.text
    services.advance_boards()
    assert (boards.task(board, 2).state, boards.task(board, 2).reason_code) == ("failed", "stopped")
    environment.engine = engine
    environment.submit_queued_runs()
    assert boards.wait_until_ended(board).state == "completed"


def test_BRD3_advancing_twice_changes_nothing(environment, boards):
    board = boards.create(
        boards.plan("Find dry days"), boards.plan("Add it up", boards.finance), boards.plan("Go", after=[1])
    )
    before = boards.read(board).chat.version, Run.objects.count(), boards.list_states(board)
    for _ in range(2):
        services.advance_board(board.id)
    services.advance_boards()
    assert (boards.read(board).chat.version, Run.objects.count(), boards.list_states(board)) == before


def test_RUN1_a_task_whose_worker_died_is_done_by_another(environment, boards, engine):
    environment.engine = None
    board = boards.create(boards.plan("Find dry days"))
    run = boards.run_of(board, 1)
    assert claim_run(run.id, "elsewhere:1:a") is not None
    Run.objects.filter(pk=run.pk).update(lease_until=now() - timedelta(seconds=1))
    environment.engine = engine
    environment.model.script(system="You are Weather.", text="Dry.")
    board = boards.wait_until_ended(board)
    assert (board.state, board.final_response) == ("completed", "Dry.")
    assert (boards.run_of(board, 1), boards.task(board, 1).attempt) == (run, 1)


def test_BRD3_a_second_run_of_an_attempt_is_refused(environment, boards):
    board = boards.create(boards.plan("Find dry days"))
    run = boards.run_of(board, 1)
    copy = Run.objects.get(pk=run.pk)
    copy.pk = board.pk
    copy._state.adding = True
    with pytest.raises(IntegrityError, match="one_run_per_key_of_task"), transaction.atomic():
        copy.save(force_insert=True)


@pytest.mark.usefixtures("receiving_engine")
def test_BRD19_a_task_writes_files_into_the_chat_and_those_that_follow_it_read_them(environment, boards):
    """Its agent is not in the chat; its person may post there."""
    with transaction.atomic():
        writer = make_agent(
            boards.team.workspace, boards.team.alice, "Writer", prompt="You write.", tools=["write_file"]
        )
        reader = make_agent(boards.team.workspace, boards.team.alice, "Reader", prompt="You read.", tools=["read_file"])
    table = {"name": "write_file", "arguments": json.dumps({"name": "rates.csv", "text": "JPY,0.21\n"})}
    environment.model.script(system="You write.", calls=[table], then={"text": "It is in the table."})
    environment.model.script(system="You read.", text="0.21.")
    environment.model.script(match="Answer this request", text="The rate is 0.21.")
    board = boards.create(boards.plan("Write the rates", writer), boards.plan("Read the rates", reader, after=[1]))
    board = boards.wait_until_ended(board)
    [file] = File.objects.all()
    assert (file.name, file.uploaded_by, file.chat) == ("rates.csv", writer, boards.team.chat)
    result = TaskResult.objects.get(task__board=board, task__number=1)
    assert (result.file_ids, result.data) == ([file.id], {"text": "It is in the table.", "files": [str(file.id)]})
    read = Run.objects.get(agent=reader).input or {}
    assert (result.to_row().files, read["file_ids"]) == ([file.id], [str(file.id)])
    [request] = list_requests(environment, "You read.")
    assert str(file.id) in request
    message = Message.objects.get(pk=file.id)
    task = boards.task(board, 1)
    metadata = message.metadata or {}
    assert (message.run_id, metadata["call_id"]) == (task.run_id, str(task.id)), "it is shown in the task"
    assert message.counts_as_unread is False
