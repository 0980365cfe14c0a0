"""A supervisor plans by a call of a tool, waits for its board without a slot, and answers from the results."""

import json

import pytest
from django.db import transaction

from boards import services
from boards.models import Board
from chats import services as chats
from memory.models import HistoryEntry
from notifications.models import Notification
from runs.models import Run
from runs.services import runs
from tests.boards.fixtures import PlanTasks
from tests.factories.agents import change_spec
from tests.factories.usage import BudgetFactory
from usage.models import Budget

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("receiving_engine")]

PLAN = (
    {"agent": "weather", "description": "Find dry days"},
    {"agent": "finance", "description": "Add it up", "after": [1]},
)


def test_BRD8_a_supervisor_waits_for_its_board_and_answers_from_the_results(environment, boards, supervisor):
    environment.model.script(system="You are Weather.", text="19 to 22 November.")
    environment.model.script(system="You are Finance.", text="89,080.")
    supervisor.script_plan(*PLAN, then={"text": "Go on 19 November."})
    supervisor.ask()
    board = boards.wait_until_ended(supervisor.get_board())
    run = supervisor.get_run()
    assert (board.state, board.final_response, board.planned_by) == ("completed", "Go on 19 November.", "model")
    assert (board.supervisor_run, board.aggregator, board.user_input) == (run, supervisor.agent, "@lead plan it")
    assert (board.on_behalf_of, board.started_by) == (boards.team.alice, boards.team.alice)
    assert (board.reasoning, board.requires_aggregation) == ("Each does what it can.", True)
    assert (run.state, run.attempt) == ("completed", 2)
    [result] = [row for row in environment.log("TOOL_RESPONSE") if row.run_id == run.id]
    assert result.payload["tool_call_id"] == board.call_id
    assert (result.payload["status"], result.payload["quotes_agents"]) == ("ok", True)
    brought = json.loads(result.payload["text"])
    assert [(one["agent"], one["text"]) for one in brought["results"]] == [
        ("Weather", "19 to 22 November."),
        ("Finance", "89,080."),
    ]
    assert brought["missing"] == []
    first = Run.objects.filter(kind="board_task").earliest("pk")
    assert (first.path, first.root) == ([supervisor.agent.id, boards.weather.id], None)
    assert [row.type for row in environment.log("TASKS_STARTED", "TASKS_ENDED")] == ["TASKS_ENDED"]


def test_BRD8_a_waiting_supervisor_has_no_slot_and_answers_other_messages(environment, boards, supervisor):
    environment.model.script(system="You are Weather.", mode="nofirst")
    supervisor.script_plan(*PLAN)
    supervisor.ask()
    board = supervisor.get_board()
    environment.wait(lambda: Run.objects.filter(state="waiting_board").exists())
    environment.wait(lambda: Run.objects.filter(kind="board_task", state="running").exists())
    run = supervisor.get_run()
    assert (run.lease_owner, run.lease_until) == ("", None)
    environment.model.script(system="You lead.", match="hello", text="Hello.")
    environment.post("@lead hello")
    environment.wait(lambda: environment.list_answers(by=supervisor.agent) == ["Hello."])
    services.stop_board(boards.team.alice, board.id)
    board = boards.wait_until_ended(board)
    run.refresh_from_db()
    assert (board.state, board.reason_code, run.state) == ("failed", "stopped", "stopped")
    assert run.waiting_since is not None


def test_BRD8_the_whole_wait_counts_as_waited(environment, boards, supervisor):
    environment.model.script(system="You are Weather.", text="Dry.", first=0.5)
    supervisor.script_plan(*PLAN)
    supervisor.ask()
    boards.wait_until_ended(supervisor.get_board())
    assert supervisor.get_run().waited_seconds >= 0.5


def test_BRD9_an_invalid_plan_is_repaired_once(environment, boards, supervisor):
    environment.model.script(system="You are Weather.", text="Dry.")
    repaired = {"name": PlanTasks.name, "arguments": json.dumps({"tasks": [PLAN[0]], "requires_aggregation": False})}
    supervisor.script_plan({"agent": "nobody", "description": "x"}, then={"calls": [repaired], "text": ""})
    supervisor.ask()
    board = boards.wait_until_ended(supervisor.get_board())
    [refused, *_] = [row for row in environment.log("TOOL_RESPONSE") if row.run_id == supervisor.get_run().id]
    assert refused.payload["status"] == "error"
    assert "There is no agent nobody." in refused.payload["text"]
    assert (board.state, board.error, boards.list_states(board)) == ("completed", "", ["succeeded"])


def test_BRD9_the_board_of_a_plan_that_is_repaired_does_not_count_against_itself(
    environment, boards, supervisor, monkeypatch
):
    monkeypatch.setattr("boards.services.planning.MAX_BOARDS_UNDER_WAY", 1)
    environment.model.script(system="You are Weather.", text="Dry.")
    repaired = {"name": PlanTasks.name, "arguments": json.dumps({"tasks": [PLAN[0]]})}
    supervisor.script_plan({"agent": "nobody", "description": "x"}, then={"calls": [repaired], "text": ""})
    supervisor.ask()
    board = boards.wait_until_ended(supervisor.get_board())
    assert (board.state, board.error, board.final_response) == ("completed", "", "Dry.")


def test_BRD9_after_a_second_invalid_plan_the_supervisor_answers_alone(environment, boards, supervisor):
    bad = {
        "name": PlanTasks.name,
        "arguments": json.dumps({"tasks": [{"agent": "weather", "description": "x", "after": [1]}]}),
    }
    supervisor.script_plan({"agent": "nobody", "description": "x"}, then={"calls": [bad]})
    supervisor.ask()
    board = supervisor.get_board()
    environment.wait(lambda: boards.read(board).state == "failed")
    board = boards.read(board)
    assert (board.reason_code, board.error, board.task_count) == ("plan_invalid", "Task 1 follows itself.", 0)
    assert not Run.objects.filter(kind="board_task").exists()
    environment.model.script(system="You lead.", text="I answer alone.")
    [run] = environment.wait_until_idle()
    assert run.state == "completed"
    assert environment.list_answers(by=supervisor.agent)[-1] == "I answer alone."
    assert Board.objects.count() == 1


def test_BRD9_a_supervisor_may_answer_without_repairing_its_plan(environment, boards, supervisor):
    supervisor.script_plan({"agent": "nobody", "description": "x"}, then={"text": "I answer alone."})
    supervisor.ask()
    board = boards.wait_until_ended(supervisor.get_board())
    assert (board.state, board.reason_code, board.error) == ("failed", "plan_invalid", "There is no agent nobody.")
    assert environment.list_answers(by=supervisor.agent) == ["I answer alone."]
    assert boards.list_messages("TASKS_ENDED", "TASKS_STOPPED") == []


def test_BRD10_stopping_a_supervisor_stops_its_board(environment, boards, supervisor):
    environment.model.script(system="You are Weather.", mode="nofirst")
    supervisor.script_plan(*PLAN)
    supervisor.ask()
    board = supervisor.get_board()
    environment.wait(lambda: Run.objects.filter(kind="board_task", state="running").exists())
    runs.stop_run(boards.team.alice, supervisor.get_run().id)
    board = boards.wait_until_ended(board)
    assert (board.state, board.reason_code, board.stopped_by) == ("failed", "stopped", None)
    assert boards.list_states(board) == ["cancelled", "cancelled"]
    assert {run.state for run in environment.runs()} == {"stopped"}


@pytest.mark.parametrize("estimate", [6, None])
def test_BRD11_a_board_above_an_amount_waits_for_a_person(environment, boards, supervisor, monkeypatch, estimate):
    environment.model.script(system="You are Weather.", text="Dry.")
    monkeypatch.setattr(PlanTasks, "ask_above_micro", 5)
    monkeypatch.setattr("boards.services.waiting.estimate_tasks", lambda workspace_id, agent_ids: estimate)
    supervisor.script_plan(PLAN[0])
    supervisor.ask()
    board = supervisor.get_board()
    environment.wait(lambda: Run.objects.filter(state="waiting_board").exists())
    board = boards.read(board)
    assert (board.state, board.pause_reason, board.estimate_micro) == ("decomposed", "estimate", estimate)
    assert not Run.objects.filter(kind="board_task").exists()
    services.start_board(boards.team.alice, board.id)
    board = boards.wait_until_ended(board)
    assert (board.state, board.pause_reason) == ("completed", "")


def test_BRD8_a_board_without_results_lets_its_supervisor_say_so(environment, boards, supervisor):
    environment.model.script(system="You are Weather.", mode="status", status=400)
    supervisor.script_plan(PLAN[0], then={"text": "Nothing came of it."})
    supervisor.ask()
    board = boards.wait_until_ended(supervisor.get_board())
    assert (board.state, board.reason_code) == ("failed", "no_results")
    assert environment.list_answers(by=supervisor.agent) == ["Nothing came of it."]


def test_BRD4_a_supervisor_passes_the_result_of_its_only_task_on(environment, boards, supervisor):
    """Its model is not asked a second time. What follows from any answer follows from this one, too."""
    text = "19 to 22 November, @bob and @robin."
    change_spec(supervisor.agent.current_spec, memory="agent")
    environment.model.script(system="You are Weather.", text=text)
    supervisor.script_plan(PLAN[0], then={"text": "This is not asked for."})
    supervisor.ask()
    board = boards.wait_until_ended(supervisor.get_board())
    run, team = supervisor.get_run(), boards.team
    assert (board.state, board.final_response) == ("completed", text)
    assert (run.state, run.attempt) == ("completed", 1)
    [message] = [row for row in environment.log("TEXT_MESSAGE") if row.author == supervisor.agent]
    assert (message.text, message.payload["mentions"]) == (text, [str(team.bob.id), str(team.robin.id)])
    assert Notification.objects.get(message_id=message.id).person == team.bob
    assert Run.objects.get(agent=team.robin).trigger_id == message.id, "it wakes the agent that it mentions"
    assert HistoryEntry.objects.get().run_id == run.id
    assert not [sent for sent in environment.model.requests if "This is not asked for." in json.dumps(sent.body)]
    assert len([sent for sent in environment.model.requests if "You lead." in json.dumps(sent.body)]) == 1
    [result] = [row for row in environment.log("TOOL_RESPONSE") if row.run_id == run.id]
    assert (result.payload["tool_call_id"], result.payload["status"]) == (board.call_id, "ok")


@pytest.mark.parametrize("is_paused", [True, False])
def test_BRD4_RUN11_a_long_result_is_passed_on_whole_and_says_that_it_was_not_finished(
    environment, boards, supervisor, is_paused
):
    """The data of a result have the beginning of its text only."""
    text = "x" * 19_000 + " and no en"
    environment.model.script(system="You are Weather.", text=text, finish="length", first=0.5)
    supervisor.script_plan(PLAN[0])
    supervisor.ask()
    board = supervisor.get_board()
    if is_paused:
        services.pause_board(boards.team.alice, board.id)
        environment.wait(lambda: boards.list_states(board) == ["succeeded"])
        services.resume_board(boards.team.alice, board.id)
    board = boards.wait_until_ended(board)
    [answer] = [row for row in environment.log("TEXT_MESSAGE") if row.author == supervisor.agent]
    assert (answer.text, answer.payload["incomplete"], board.final_response) == (text, True, text)
    [result] = [row for row in environment.log("TOOL_RESPONSE") if row.run_id == supervisor.get_run().id]
    assert len(result.payload["text"]) == 16_000


def test_BRD4_nothing_is_passed_on_for_a_person_who_has_left(environment, boards, supervisor):
    """The board was paused when they left, and an editor resumes it."""
    team = boards.team
    environment.model.script(system="You are Weather.", text="Dry. @robin has to know.", first=0.3)
    supervisor.script_plan(PLAN[0])
    environment.post("@lead plan it", by=team.bob)
    board = supervisor.get_board()
    services.pause_board(team.alice, board.id)
    environment.wait(lambda: boards.list_states(board) == ["succeeded"])
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    services.resume_board(team.alice, board.id)
    environment.submit_queued_runs()
    board = boards.wait_until_ended(board)
    assert (board.state, board.reason_code, boards.list_states(board)) == ("failed", "answer_failed", ["succeeded"])
    assert (supervisor.get_run().state, supervisor.get_run().error_code) == ("failed", "rights_lost")
    assert environment.list_answers(by=supervisor.agent) == []
    assert not Run.objects.filter(agent=team.robin).exists()


@pytest.mark.parametrize("is_passed_on", [True, False])
def test_MSG11_a_result_that_is_passed_on_says_that_it_answers_the_earlier_text(
    environment, boards, supervisor, is_passed_on
):
    """A supervisor whose model answers reads the message as it is then."""
    environment.model.script(system="You are Weather.", text="Dry.", first=0.5)
    supervisor.script_plan(PLAN[0], requires_aggregation=not is_passed_on)
    supervisor.ask()
    environment.wait(lambda: Run.objects.filter(state="waiting_board").exists())
    message = environment.log("TEXT_MESSAGE")[0]
    with transaction.atomic():
        chats.edit_message(boards.team.alice, message.id, text="@lead plan it for May", edited_at=None)
    boards.wait_until_ended(supervisor.get_board())
    [answer] = [row for row in environment.log("TEXT_MESSAGE") if row.author == supervisor.agent]
    assert answer.payload.get("answers_earlier_text", False) == is_passed_on


def test_BRD12_a_budget_that_ends_the_answer_of_a_supervisor_pauses_its_board(environment, boards, supervisor):
    """Its run is over, so another run of the same agent answers when the board is resumed."""
    budget = BudgetFactory.create(workspace=boards.team.workspace, limit_micro=None, limit_tokens=1_000_000)
    environment.model.script(
        system="You are Weather.", text="Dry.", usage={"prompt_tokens": 1_000_000, "completion_tokens": 1}
    )
    supervisor.script_plan(PLAN[0], requires_aggregation=True)
    supervisor.ask()
    board = supervisor.get_board()
    environment.wait(lambda: boards.read(board).pause_reason == "budget")
    environment.wait_until_idle()
    paused, run = boards.read(board), supervisor.get_run()
    assert (paused.state, boards.list_states(board)) == ("aggregating", ["succeeded"])
    assert (run.state, run.error_code) == ("failed", "budget_used_up")
    Budget.objects.filter(pk=budget.pk).update(limit_tokens=9_000_000)
    environment.model.script(system="You lead.", match="Answer this request: @lead plan it", text="Go on 19 November.")
    services.resume_board(boards.team.alice, board.id)
    environment.submit_queued_runs()
    board = boards.wait_until_ended(board)
    assert (board.state, board.final_response) == ("completed", "Go on 19 November.")
    assert (board.supervisor_run_id, Run.objects.get(pk=board.answer_run_id).agent) == (run.id, supervisor.agent)
    assert environment.list_answers(by=supervisor.agent) == ["Go on 19 November."]
