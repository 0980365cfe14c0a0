"""A kind of run that an app above `runs` registers: tasks in a chat that no other run has given."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction

from actors.models import Actor
from chats import services as chats
from chats.models import Chat, Message
from common.clock import now
from common.errors import Conflict
from runs import kinds
from runs.hooks import runs_ended
from runs.kinds import get_kind, register_kind
from runs.kinds.task import TaskRun
from runs.models import KIND_LABELS, Run, list_kind_choices
from runs.services import leases, runs
from runs.services.claims import claim_run
from runs.services.tasks import start_task_run
from tests.factories.runs import RunFactory
from tests.people import make_agent

pytestmark = pytest.mark.django_db(transaction=True)


class PlannedTask(TaskRun):
    """A task of a plan."""

    name = "planned"
    label = "planned task"
    retry_refusal = "Its plan gives this task again."


PLANNED = PlannedTask()


class Plan:
    """An app that gives tasks. `ended` has (kind, state, error code) of the runs of each call of its listener, which raises
    `error`."""

    def __init__(self, environment, agent):
        self.environment = environment
        self.team = environment.team
        self.agent = agent
        self.ended = []
        self.error = None

    def on_runs_ended(self, ended):
        if any(run.kind == PLANNED.name for run in ended):
            self.ended.append([(run.kind, run.state, run.error_code) for run in ended])
            if self.error is not None:
                raise self.error
            return [chats.build_system_message(self.team.chat.id, "WAKE_LIMIT_REACHED", target=self.agent)]
        return []

    def start(self, *, author: Actor | None = None, **task) -> Run:
        """Give the agent a task of Alice, or of this author, and submit its run to the engine, if there is one."""
        with transaction.atomic():
            chats.lock_chat(self.team.chat.id)
            chat = Chat.objects.get(pk=self.team.chat.id)
            options: dict[str, Any] = {
                "kind": PLANNED,
                "author": author or self.team.alice,
                "text": "Count the lamps.",
            } | task
            run = start_task_run(self.team.alice, chat, self.agent, **options)
            chats.save_changes(chat.id, [run])
        self.environment.submit_queued_runs()
        return run


@pytest.fixture
def plan(environment, monkeypatch):
    """A plan whose tasks are done by an agent that is not in the chat."""
    monkeypatch.setattr(kinds, "_kinds", dict(kinds._kinds))
    register_kind(PLANNED)
    assert (PLANNED.name, PLANNED.label) in list_kind_choices()
    with transaction.atomic():
        agent = make_agent(environment.team.workspace, environment.team.alice, "Counter", prompt="You count.", tools=[])
    plan = Plan(environment, agent)
    monkeypatch.setattr(runs_ended, "_listeners", (*runs_ended._listeners, plan.on_runs_ended))
    yield plan
    KIND_LABELS.pop(PLANNED.name)


def list_texts_of_requests(environment):
    return [json.dumps(sent.body["messages"], ensure_ascii=False) for sent in environment.model.requests]


@pytest.mark.usefixtures("receiving_engine")
def test_a_task_that_no_run_has_given_is_done_in_its_chat(environment, plan):
    environment.post("this is secret", wake="nobody")
    environment.model.script(match="Count", text="There are three.")
    started = plan.start(context={"house": "京都 🍁"})
    [run] = environment.wait_until_idle()
    assert run == started
    assert (run.kind, run.state, run.attempt, run.parent_id, run.root_id) == ("planned", "completed", 1, None, None)
    assert (run.tree_id, run.path, run.depth) == (run.id, [plan.team.alice.id, plan.agent.id], 1)
    assert (run.on_behalf_of, run.payer, run.trigger_id) == (plan.team.alice, plan.team.workspace, None)
    [request] = list_texts_of_requests(environment)
    for read in ("You count.", "A person, Alice, has given you the task", "Count the lamps.", "京都 🍁"):
        assert read in request
    assert "secret" not in request
    answer, noted = environment.log()[1:]
    assert (answer.author, answer.text, answer.counts_as_unread) == (plan.agent, "There are three.", False)
    assert answer.metadata["agent"]["path"] == [plan.team.alice.handle, plan.agent.handle]
    assert plan.ended == [[("planned", "completed", "")]]
    assert noted.type == "WAKE_LIMIT_REACHED", "the change of the listener is stored"
    run.refresh_from_db()
    assert run.version == noted.version == answer.version + 1, "all of it is in one frame"


@pytest.mark.usefixtures("receiving_engine")
def test_a_task_of_an_agent_names_it_and_is_below_it(environment, plan):
    environment.model.script(match="Count", text="Three.")
    plan.start(author=plan.team.robin)
    [run] = environment.wait_until_idle()
    assert (run.state, run.path, run.depth) == ("completed", [plan.team.robin.id, plan.agent.id], 1)
    [request] = list_texts_of_requests(environment)
    assert "Another agent, Robin, has given you the task" in request


@pytest.mark.usefixtures("receiving_engine")
def test_the_limits_and_files_of_a_task_come_from_its_input(environment, plan):
    environment.model.script(calls=[{"name": "current_time", "arguments": "{}"}])
    foreign = UUID(int=1)
    run = plan.start(max_steps=2, max_seconds=60, file_ids=[foreign])
    assert run.input["file_ids"] == [], "it was not posted in the chat"
    assert timedelta(seconds=50) < run.deadline_at - now() <= timedelta(seconds=60)
    [run] = environment.wait_until_idle()
    assert (run.state, run.error_code, run.limits["max_steps"]) == ("failed", "step_limit", 2)
    Run.objects.filter(pk=run.pk).update(deadline_at=now() - timedelta(seconds=1))
    run.refresh_from_db()
    assert run.compute_seconds_left(600) < 0


def make_writer(plan, tool):
    """Have the tasks done by an agent with this tool."""
    workspace = plan.team.workspace
    with transaction.atomic():
        plan.agent = make_agent(workspace, plan.team.alice, "Writer", prompt="You write.", tools=[tool])


@pytest.mark.usefixtures("receiving_engine")
def test_RUN19_a_task_waits_for_a_person(environment, plan):
    make_writer(plan, "ask_user")
    ask = {"name": "ask_user", "arguments": json.dumps({"question": "Which?"})}
    environment.model.script(match="Count", calls=[ask], then={"text": "Three."})
    plan.start()
    [approval] = environment.wait_until_waiting()
    assert plan.ended == []
    environment.decide(approval, "answered", answer="All.")
    [run] = environment.wait_until_idle()
    assert (run.state, run.attempt) == ("completed", 2)
    assert environment.list_answers(by=plan.agent) == ["Three."]
    assert plan.ended == [[("planned", "completed", "")]]


@pytest.mark.usefixtures("receiving_engine")
def test_RUN23_a_task_waits_for_a_sub_agent(environment, plan):
    make_writer(plan, "delegate")
    task = {"name": "delegate", "arguments": json.dumps({"name": "browser", "task": "Look."})}
    environment.model.script(match="Look.", text="I see three.")
    environment.model.script(match="Count", calls=[task], then={"text": "Three."})
    plan.start()
    run, child = environment.wait_until_idle()
    assert [(one.kind, one.state) for one in (run, child)] == [("planned", "completed"), ("sub_agent", "completed")]
    assert (child.parent, child.root, child.path) == (run, run, [*run.path, child.agent_id])
    assert (run.attempt, environment.list_answers(by=plan.agent)) == (2, ["Three."])
    assert plan.ended == [[("planned", "completed", "")]]


def test_RUN16_a_task_is_stopped_with_its_sub_agents_in_one_call_of_the_hook(environment, plan):
    run = RunFactory.create(
        chat=plan.team.chat,
        agent=plan.agent,
        kind="planned",
        path=[plan.team.alice.id, plan.agent.id],
        input={},
        state="waiting_child",
    )
    RunFactory.create(chat=plan.team.chat, agent=plan.agent, parent=run, root=run, input={}, state="waiting_approval")
    runs.stop_run(plan.team.alice, run.id)
    assert plan.ended == [[("planned", "stopped", ""), ("sub_agent", "stopped", "")]]
    assert [one.state for one in environment.runs()] == ["stopped", "stopped"]
    with pytest.raises(Conflict, match="Its plan gives this task again."):
        runs.retry_run(plan.team.alice, run.id)


def test_RUN16_a_running_task_is_stopped(environment, plan, engine):
    environment.model.script(match="Count", mode="drip", count=3000, every=0.02)
    run = plan.start()
    environment.wait(lambda: Run.objects.filter(pk=run.pk, state="running").exists())
    runs.stop_run(plan.team.alice, run.id)
    [run] = environment.wait_until_idle()
    assert run.state == "stopped"
    assert plan.ended == [[("planned", "stopped", "")]]


@pytest.mark.parametrize(
    ("who", "code"),
    [("the person", "rights_lost"), ("the agent that gave it", "rights_lost"), ("the agent that does it", "no_tasks")],
)
def test_SEC5_a_task_ends_if_one_of_those_it_works_for_may_not_go_on(environment, plan, engine, who, code):
    author = None
    if who == "the person":
        chats.remove_participant(plan.team.alice, plan.team.chat.id, plan.team.alice.id)
    elif who == "the agent that gave it":
        author = plan.team.robin
        chats.remove_participant(plan.team.alice, plan.team.chat.id, author.id)
    else:
        Actor.objects.filter(pk=plan.agent.pk).update(accepts_tasks=False)
    plan.start(author=author)
    [run] = environment.wait_until_idle()
    assert (run.state, run.error_code, run.attempt) == ("failed", code, 0)
    assert plan.ended == [[("planned", "failed", code)]]
    assert environment.model.requests == []


def test_RUN1_a_task_whose_worker_died_is_done_by_another(environment, plan, engine):
    environment.engine = None
    run = plan.start()
    dead = claim_run(run.id, "elsewhere:1:a")
    assert dead is not None
    Run.objects.filter(pk=run.pk).update(lease_until=now() - timedelta(seconds=1))
    environment.engine = engine
    environment.model.script(match="Count", text="Three.")
    [run] = environment.wait_until_idle()
    assert (run.state, run.attempt, run.crashes) == ("completed", 2, 1)
    assert plan.ended == [[("planned", "completed", "")]]


@pytest.mark.usefixtures("receiving_engine")
def test_an_answer_is_not_stored_without_what_follows_from_it(environment, plan, caplog):
    """If a listener fails at the answer, the run fails; if it fails then, too, the run ends all the same."""
    plan.error = ValueError("The plan is broken.")
    environment.model.script(match="Count", text="Three.")
    plan.start()
    [run] = environment.wait_until_idle()
    assert (run.state, run.error_code) == ("failed", "internal")
    # Twice for the answer: with others of its tree, and by itself.
    assert [ended for [(_, ended, _)] in plan.ended] == ["completed", "completed", "failed"]
    texts = Message.objects.filter(run_id=run.id, type="TEXT_MESSAGE")
    assert [text.payload["incomplete"] for text in texts] == [True]
    assert "The plan is broken." in caplog.text


def test_a_run_has_the_columns_of_its_kind(environment):
    team = environment.team
    for columns in (
        {"kind": "planned"},
        {"kind": ""},
        {"kind": "chat", "input": {}},
        {"kind": "sub_agent", "input": {}},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            RunFactory.create(chat=team.chat, agent=team.robin, **columns)
    run = RunFactory.create(chat=team.chat, agent=team.robin, kind="planned", input={})
    with pytest.raises(LookupError):
        get_kind(run)
    with pytest.raises(ValueError, match="two kinds"):
        register_kind(type("Other", (TaskRun,), {"name": "chat", "label": "other"})())


def test_a_failed_run_that_no_worker_executes_calls_the_hook(environment, plan):
    run = plan.start()
    leases.fail_unstorable_run(run.id)
    assert plan.ended == [[("planned", "failed", "internal")]]
