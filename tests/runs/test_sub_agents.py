"""Sub-agents: an agent gives tasks to others, which do them in runs of their own (RUN16, RUN23, RUN24)."""

import json
from datetime import timedelta

import pytest
from django.db import transaction

from approvals.models import Approval
from chats.models import Message
from common.clock import now
from common.errors import Conflict
from events.rows import Policy
from publishing import services as publishing
from runs.models import NOT_ENDED, Run
from runs.runtime import sub_agents
from runs.services import runs, waiting
from runs.services.waiting import queue_callers_of_ended_sub_agents
from tests.factories.agents import add_tool_use, change_spec
from tests.factories.runs import RunFactory
from tests.factories.tools import ToolPolicyFactory, ToolServerFactory, WorkspaceToolFactory
from tests.factories.usage import BudgetFactory, ModelPriceFactory
from tests.people import make_agent
from tests.publishing.publications import LISTING, finish_updates
from tools.registry import build_agent_tool_name
from usage.models import Balance, Reservation

pytestmark = pytest.mark.django_db(transaction=True)


def delegate(name, task="find it", **more):
    return {"name": "delegate", "arguments": json.dumps({"name": name, "task": task, **more})}


def allow(agent, *handles, **settings):
    """Let an agent give tasks to these."""
    add_tool_use(agent.current_spec, "delegate", custom_config={"allowed_sub_agents": list(handles), **settings})


@pytest.fixture
def researcher(environment):
    """An agent of the workspace that is in no chat, and that Robin may give tasks to."""
    with transaction.atomic():
        agent = make_agent(environment.team.workspace, environment.team.alice, "Researcher", prompt="You research.")
    allow(environment.team.robin, agent.handle)
    return agent


def list_results(environment, run=None):
    rows = environment.log("TOOL_RESPONSE")
    return [json.loads(row.payload["text"]) for row in rows if run is None or row.run_id == run.id]


@pytest.mark.usefixtures("receiving_engine")
def test_RUN23_a_sub_agent_does_a_task_in_a_run_of_its_own_and_its_caller_reads_the_answer(environment, researcher):
    environment.model.script(calls=[delegate(researcher.handle)], then={"text": "The answer is 42."})
    environment.model.script(match="find it", text="It is 42.")
    environment.post("@robin what is it?")
    caller, child = environment.wait_until_idle()
    assert (caller.state, caller.attempt, caller.crashes, child.state) == ("completed", 2, 0, "completed")
    assert (child.parent_id, child.root_id, child.depth) == (caller.id, caller.id, 1)
    assert child.path == [environment.team.robin.id, researcher.id]
    assert (child.on_behalf_of, child.payer) == (environment.team.alice, environment.team.workspace)
    [text] = environment.log("TEXT_MESSAGE")[1:2]
    assert list_results(environment) == [{"ok": True, "messageId": str(text.id), "summary": "It is 42."}]
    assert (text.author, text.run_id) == (researcher, child.id)
    assert text.metadata["agent"] == {
        "kind": "sub",
        "name": researcher.handle,
        "displayName": "Researcher",
        "depth": 1,
        "path": [environment.team.robin.handle, researcher.handle],
    }
    assert environment.list_answers() == ["The answer is 42."]


@pytest.mark.usefixtures("receiving_engine")
def test_a_sub_agent_sees_only_what_was_passed(environment, researcher):
    call = delegate(researcher.handle, context={"city": "京都 🍁"})
    environment.model.script(calls=[call], then={"text": "Done."})
    environment.model.script(match="find it", text="Found.")
    environment.post("@robin this is secret")
    environment.wait_until_idle()
    [request] = [sent for sent in environment.model.requests if "You research." in json.dumps(sent.body)]
    text = json.dumps(request.body["messages"], ensure_ascii=False)
    assert "find it" in text
    assert "京都 🍁" in text
    assert "Robin" in text
    for unseen in ("secret", "Alice", environment.team.workspace.name):
        assert unseen not in text


@pytest.mark.usefixtures("receiving_engine")
def test_messages_of_sub_agents_are_no_part_of_the_conversation(environment, researcher):
    environment.model.script(match="what", calls=[delegate(researcher.handle)], then={"text": "Done."})
    environment.model.script(system="You research.", text="@robin @bob between us")
    environment.post("@robin what is it?")
    environment.wait_until_idle()
    environment.model.script(match="and now", text="Nothing.")
    environment.post("@robin and now?")
    runs_ = environment.wait_until_idle()
    assert [run.state for run in runs_] == ["completed"] * 3
    last = json.dumps(environment.model.requests[-1].body["messages"])
    assert last.count("between us") == 1  # as the result of the call
    [message] = [row for row in environment.log("TEXT_MESSAGE") if row.metadata]
    assert message.payload["mentions"] == []
    assert not message.counts_as_unread


@pytest.mark.usefixtures("receiving_engine")
def test_RUN23_sub_agents_of_one_answer_work_at_the_same_time_and_their_caller_has_no_slot(environment, researcher):
    calls = [delegate(researcher.handle, f"task {number}") for number in range(5)]
    environment.model.script(calls=calls, then={"text": "Done."})
    environment.model.script(match="task", mode="drip", count=30, every=0.02)
    environment.post("@robin go")
    environment.wait(lambda: Run.objects.filter(state="running", parent__isnull=False).count() == 5)
    caller = Run.objects.get(parent=None)
    assert (caller.state, caller.lease_owner, caller.lease_until) == ("waiting_child", "", None)
    assert caller.id not in environment.engine.executing_ids
    states = [run.state for run in environment.wait_until_idle(20)]
    assert states == ["completed"] * 6
    assert [result["ok"] for result in list_results(environment)] == [True] * 5
    assert len(environment.list_answers()) == 1


@pytest.mark.usefixtures("receiving_engine")
def test_RUN16_a_stop_ends_the_whole_tree(environment, researcher):
    calls = [delegate(researcher.handle, f"task {number}") for number in range(3)]
    environment.model.script(calls=calls, then={"text": "Done."})
    environment.model.script(match="task", mode="drip", count=3000, every=0.02)
    environment.post("@robin go")
    environment.wait(lambda: Run.objects.filter(state="running", parent__isnull=False).count() == 3)
    runs.stop_run(environment.team.alice, Run.objects.get(parent=None).id)
    environment.wait_until_idle(5)
    assert [run.state for run in environment.runs()] == ["stopped"] * 4
    assert environment.list_answers() == []


@pytest.mark.usefixtures("receiving_engine")
def test_the_caller_of_a_sub_agent_that_was_stopped_goes_on(environment, researcher):
    calls = [delegate(researcher.handle, "slow"), delegate(researcher.handle, "quick")]
    environment.model.script(calls=calls, then={"text": "One came."})
    environment.model.script(match="slow", mode="drip", count=3000, every=0.02)
    environment.model.script(match="quick", text="Quick.")
    environment.post("@robin go")
    child = environment.wait(lambda: Run.objects.filter(state="running", input__text="slow").first())
    environment.wait(lambda: Run.objects.filter(state="completed", input__text="quick").exists())
    runs.stop_run(environment.team.alice, child.id)
    caller, slow, quick = environment.wait_until_idle()
    assert [caller.state, slow.state, quick.state] == ["completed", "stopped", "completed"]
    assert [result["ok"] for result in list_results(environment, caller)] == [False, True]
    assert environment.list_answers() == ["One came."]
    with pytest.raises(Conflict):
        runs.retry_run(environment.team.alice, slow.id)


@pytest.mark.usefixtures("receiving_engine")
def test_RUN24_agents_that_call_each_other_stop_with_a_clear_error(environment, researcher):
    allow(researcher, environment.team.robin.handle, researcher.handle)
    loop = [delegate(environment.team.robin.handle, "again"), delegate(researcher.handle, "again")]
    environment.model.script(calls=[delegate(researcher.handle, "go")], then={"text": "Done."})
    environment.model.script(system="You research.", calls=loop, then={"text": "I cannot."})
    environment.post("@robin go")
    caller, child = environment.wait_until_idle()
    assert [caller.state, child.state] == ["completed", "completed"]
    refused = [row.payload for row in environment.log("TOOL_RESPONSE") if row.run_id == child.id]
    assert [payload["status"] for payload in refused] == ["error", "error"]
    assert all("waits for your answer itself" in payload["text"] for payload in refused)


@pytest.mark.usefixtures("receiving_engine")
def test_RUN24_a_ring_of_three_agents_ends_with_a_clear_error(environment, researcher):
    with transaction.atomic():
        third = make_agent(environment.team.workspace, environment.team.alice, "Third", prompt="You are third.")
    allow(researcher, third.handle)
    allow(third, environment.team.robin.handle, researcher.handle)
    environment.model.script(calls=[delegate(researcher.handle)], then={"text": "Done."})
    environment.model.script(system="You research.", calls=[delegate(third.handle)], then={"text": "Asked."})
    back = delegate(environment.team.robin.handle, "back to you")
    environment.model.script(system="You are third.", calls=[back], then={"text": "I cannot ask."})
    environment.post("@robin go")
    assert [run.state for run in environment.wait_until_idle()] == ["completed"] * 3
    [deepest] = [
        row for row in environment.log("TOOL_RESPONSE") if row.metadata and row.metadata["agent"]["depth"] == 2
    ]
    assert (deepest.payload["status"], deepest.payload.get("data")) == ("error", None)
    assert "waits for your answer itself" in deepest.payload["text"]


@pytest.mark.usefixtures("receiving_engine")
def test_RUN24_of_fifty_tasks_in_one_answer_ten_are_given(environment, researcher):
    calls = [delegate(researcher.handle, f"task {number}") for number in range(50)]
    environment.model.script(calls=calls, then={"text": "Done."})
    environment.model.script(system="You research.", text="Found.")
    environment.post("@robin go")
    found = environment.wait_until_idle(30)
    assert [run.state for run in found] == ["completed"] * 11
    statuses = [row.payload["status"] for row in environment.log("TOOL_RESPONSE") if row.run_id == found[0].id]
    assert (statuses.count("ok"), statuses.count("error")) == (
        10,
        7,
    )  # of an answer, 16 calls are read, and one error says so


@pytest.mark.usefixtures("receiving_engine")
def test_RUN24_depth_and_the_number_of_tasks_at_the_same_time_are_limited(environment, researcher):
    with transaction.atomic():
        deep = make_agent(environment.team.workspace, environment.team.alice, "Deep", prompt="You are deep.")
    allow(researcher, deep.handle, max_depth=1)
    calls = [delegate(researcher.handle, f"task {number}") for number in range(12)]
    environment.model.script(calls=calls, then={"text": "Done."})
    environment.model.script(system="You are deep.", text="Never.")
    environment.model.script(system="You research.", calls=[delegate(deep.handle)], then={"text": "I do it myself."})
    environment.post("@robin go")
    found = environment.wait_until_idle(30)
    assert len(found) == 11
    caller = found[0]
    statuses = [row.payload["status"] for row in environment.log("TOOL_RESPONSE") if row.run_id == caller.id]
    assert statuses.count("ok") == 10
    assert statuses.count("error") == 2
    assert not Run.objects.filter(agent=deep).exists()


@pytest.mark.usefixtures("receiving_engine")
def test_RUN24_a_model_that_delegates_without_end_reaches_the_limit_of_sub_agents(environment, researcher, monkeypatch):
    monkeypatch.setattr(sub_agents, "MAX_TASKS_OF_TREE", 7)
    environment.model.script(calls=[delegate(researcher.handle, f"{n}") for n in range(3)])
    environment.model.script(system="You research.", text="Done.")
    limits = {"max_steps": 5, "max_seconds": 600}
    change_spec(environment.team.robin.current_spec, limits=limits)
    environment.post("@robin go")
    found = environment.wait_until_idle(30)
    assert (found[0].state, found[0].error_code) == ("failed", "step_limit")
    assert [run.state for run in found[1:]] == ["completed"] * 7  # the tasks above the limit have no runs
    texts = [row.payload["text"] for row in environment.log("TOOL_RESPONSE") if row.run_id == found[0].id]
    assert [text.endswith("no more are allowed.") for text in texts] == [False] * 7 + [True] * 8


@pytest.mark.usefixtures("receiving_engine")
def test_RUN21_the_requests_of_a_tree_at_the_same_time_do_not_overspend_its_budget(environment, researcher):
    """Forty sub-agents of ten sub-agents ask at the same time, and the budget is enough for ten of their longest answers. The last
    answers are shortened to what is left."""
    with transaction.atomic():
        writer = make_agent(environment.team.workspace, environment.team.alice, "Writer", prompt="You write.")
    allow(researcher, writer.handle)
    ModelPriceFactory.create(workspace=environment.team.workspace)
    limit = 175_000
    BudgetFactory.create(workspace=environment.team.workspace, scope="run_tree", period="run", limit_micro=limit)
    small, most = ({"prompt_tokens": 10, "completion_tokens": count} for count in (1, 8_192))
    tasks = [delegate(researcher.handle, f"task {number}") for number in range(10)]
    parts = [delegate(writer.handle, f"part {number}") for number in range(4)]
    environment.model.script(match="go", calls=tasks, then={"text": "Done."}, usage=small)
    environment.model.script(system="You research.", calls=parts, then={"text": "Done."}, usage=small)
    environment.model.script(system="You write.", text="Written.", first=0.3, usage=most)
    environment.post("@robin go")
    used: list[int] = []

    def is_over() -> bool:
        used.extend(
            spent + reserved for spent, reserved in Balance.objects.values_list("spent_micro", "reserved_micro")
        )
        return not Run.objects.filter(state__in=NOT_ENDED).exists()

    environment.wait(is_over, 60)
    found = environment.runs()
    writers = [run for run in found if run.depth == 2]
    asked = [sent for sent in environment.model.requests if "You write." in json.dumps(sent.body)]
    assert (len(found), len(writers)) == (51, 40)
    # Fewer long ones if the requests of their callers were under way, too, and had reserved a part.
    assert 1 <= len([sent for sent in asked if "max_tokens" not in sent.body]) <= 10
    assert len(asked) < len(writers)
    assert len(asked) == len([run for run in writers if run.state == "completed"])
    assert {run.error_code for run in found if run.state != "completed"} == {"budget_used_up"}
    assert max(used) <= limit
    assert Balance.objects.values_list("spent_micro", "reserved_micro").get() == (
        sum(run.cost_micro for run in found),
        0,
    )
    assert not Reservation.objects.exists()


@pytest.mark.usefixtures("receiving_engine")
def test_FAIR8_every_write_of_a_sub_agent_waits_for_a_person_at_every_depth(environment, researcher):
    """No policy asks, and nobody else has written: it waits only because a task is a text of another agent."""
    team = environment.team
    environment.delete_bob_from_chat()
    server = ToolServerFactory.create(workspace=team.workspace)
    tool = WorkspaceToolFactory.create(workspace=team.workspace, server=server, name="order", effect="write")
    ToolPolicyFactory.create(workspace=team.workspace, tool=tool.name, policy=Policy.AUTO)
    with transaction.atomic():
        writer = make_agent(team.workspace, team.alice, "Writer", prompt="You write.", tools=[tool.name])
    add_tool_use(researcher.current_spec, tool.name)
    allow(researcher, writer.handle)
    order = {"name": tool.name, "arguments": "{}"}
    environment.model.script(match="robin", calls=[delegate(researcher.handle)], then={"text": "Done."})
    environment.model.script(system="You research.", text="I could not.")
    environment.model.script(system="You research.", calls=[delegate(writer.handle, "part")], times=1)
    environment.model.script(system="You research.", calls=[order], times=1)
    environment.model.script(system="You write.", calls=[order], then={"text": "I could not."})
    environment.post("@robin go")
    for depth in (1, 2):
        [approval] = environment.wait_until_waiting()
        assert (approval.tool, approval.reason) == (tool.name, "others")
        assert Run.objects.get(pk=approval.run_id).depth == depth
        environment.decide(approval, "refused")
    assert [run.state for run in environment.wait_until_idle()] == ["completed"] * 3
    results = [row.payload for row in environment.log("TOOL_RESPONSE") if row.payload["name"] == tool.name]
    assert [result["status"] for result in results] == ["rejected"] * 2


@pytest.mark.usefixtures("receiving_engine")
def test_RUN23_a_sub_agent_asks_its_person_and_its_caller_waits_without_using_up_its_time(environment, researcher):
    add_tool_use(researcher.current_spec, "ask_user")
    environment.delete_bob_from_chat()
    ask = {"name": "ask_user", "arguments": json.dumps({"question": "Which?"})}
    environment.model.script(calls=[delegate(researcher.handle)], then={"text": "Done."})
    environment.model.script(match="find it", calls=[ask], then={"text": "Blue."})
    environment.post("@robin go")
    [approval] = environment.wait_until_waiting()
    caller, child = environment.runs()
    assert (caller.state, child.state) == ("waiting_child", "waiting_approval")
    Run.objects.filter(pk=child.pk).update(waiting_since=now() - timedelta(hours=2))
    environment.decide(approval, "answered", answer="blue")
    caller, child = environment.wait_until_idle()
    assert (caller.state, child.state) == ("completed", "completed")
    assert caller.waited_seconds > 7000  # the time that its sub-agent waited for a person does not count
    asked = Message.objects.get(pk=approval.pk)
    assert asked.metadata
    assert asked.metadata["agent"]["name"] == researcher.handle


@pytest.mark.usefixtures("receiving_engine")
def test_a_sub_agent_that_loses_its_person_ends_and_so_does_its_caller(environment, researcher):
    environment.model.script(calls=[delegate(researcher.handle, "task")], then={"text": "Done."})
    environment.model.script(system="You research.", mode="drip", count=100, every=0.02)
    environment.post("@robin go", by=environment.team.bob)
    environment.wait(lambda: Run.objects.filter(state="running", parent__isnull=False).exists())
    environment.delete_bob_from_chat()
    caller, child = environment.wait_until_idle()
    assert [(run.state, run.error_code) for run in (child, caller)] == [("failed", "rights_lost")] * 2
    assert environment.list_answers() == []


@pytest.mark.usefixtures("receiving_engine")
def test_RUN23_a_caller_whose_sub_agent_ended_without_a_trace_is_queued_by_the_sweeper(environment, researcher):
    environment.model.script(calls=[delegate(researcher.handle, "task")], then={"text": "Done."})
    environment.model.script(system="You research.", mode="drip", count=3000, every=0.02)
    environment.post("@robin go")
    child = environment.wait(lambda: Run.objects.filter(state="running", parent__isnull=False).first())
    Run.objects.filter(pk=child.pk).update(state="failed", ended_at=now(), lease_owner="", lease_until=None)
    queue_callers_of_ended_sub_agents()
    environment.submit_queued_runs()
    caller, _ = environment.wait_until_idle()
    assert caller.state == "completed"
    assert [result["ok"] for result in list_results(environment, caller)] == [False]


def test_RUN23_an_error_with_one_caller_does_not_keep_the_others_waiting(environment, monkeypatch, caplog):
    team = environment.team
    callers = []
    for _ in range(3):
        caller = RunFactory.create(chat=team.chat, agent=team.robin, state="waiting_child", attempt=1)
        RunFactory.create(
            chat=team.chat, agent=team.robin, parent=caller, root=caller, input={}, call_id="c", ended=True
        )
        callers.append(caller)
    build = sub_agents.queue_callers

    def fail_for_first(ended):
        if ended[0].parent_id == callers[0].id:
            raise ValueError("It fails.")
        return build(ended)

    monkeypatch.setattr(waiting, "queue_callers", fail_for_first)
    queue_callers_of_ended_sub_agents()
    states = dict(Run.objects.filter(parent=None).values_list("pk", "state"))
    assert [states[caller.id] for caller in callers] == ["waiting_child", "queued", "queued"]
    assert str(callers[0].id) in caplog.text


@pytest.mark.usefixtures("receiving_engine")
def test_SEC32_a_public_agent_is_called_as_a_tool_and_its_takedown_ends_the_task(environment):
    team = environment.team
    source = make_agent(team.workspace, team.alice, "Source", prompt="You are public.")
    with transaction.atomic():
        public = publishing.publish_agent(team.alice, source.id, name="Public", handle="public", **LISTING)
    name = build_agent_tool_name(public.id)
    add_tool_use(team.robin.current_spec, name)
    environment.model.script(calls=[{"name": name, "arguments": '{"task": "go"}'}], then={"text": "It is gone."})
    environment.model.script(system="You are public.", mode="drip", count=3000, every=0.02)
    environment.post("@robin go")
    child = environment.wait(lambda: Run.objects.filter(state="running", parent__isnull=False).first())
    publishing.take_down_agent(team.alice, public.id)
    caller, child = environment.wait_until_idle()
    assert (caller.state, child.state, child.error_code) == ("completed", "failed", "agent_taken_down")
    [result] = list_results(environment, caller)
    assert (result["ok"], result["error"]) == (False, "The agent was taken down.")
    assert Approval.objects.count() == 0


@pytest.mark.usefixtures("receiving_engine")
def test_SEC32_a_called_agent_that_waits_for_a_person_ends_with_its_takedown(environment):
    team = environment.team
    source = make_agent(team.workspace, team.alice, "Source", prompt="You are public.", tools=["ask_user"])
    with transaction.atomic():
        public = publishing.publish_agent(team.alice, source.id, name="Public", handle="public", **LISTING)
    name = build_agent_tool_name(public.id)
    add_tool_use(team.robin.current_spec, name)
    ask = {"name": "ask_user", "arguments": json.dumps({"question": "Which?"})}
    environment.model.script(calls=[{"name": name, "arguments": '{"task": "go"}'}], then={"text": "It is gone."})
    environment.model.script(system="You are public.", calls=[ask])
    environment.post("@robin go")
    [approval] = environment.wait_until_waiting()
    publishing.take_down_agent(team.alice, public.id)
    finish_updates()
    environment.submit_queued_runs()
    caller, child = environment.wait_until_idle()
    assert (caller.state, child.state, child.error_code) == ("completed", "failed", "agent_taken_down")
    approval.refresh_from_db()
    assert approval.decision == "stopped"
