"""Runs that wait for people: with a worker in this process, and with real workers that are killed (RUN19, RUN22)."""

import json
from collections import Counter
from datetime import timedelta

import pytest
from django.db import transaction

from agents.services import drafts
from approvals import services as approvals
from approvals.models import Approval
from chats import services as chats
from chats.models import Message
from chats.services.text_sources import TextSources
from common.clock import now
from common.ids import new_id
from events.rows import Policy
from files.models import File
from runs.models import Run, Step
from runs.services import comparisons, runs
from tests.chaos import N
from tests.factories.agents import add_tool_use
from tests.factories.tools import ToolPolicyFactory
from tests.queries import record_statements
from workspaces import services as workspaces
from workspaces.models import Credential

pytestmark = pytest.mark.django_db(transaction=True)


def write(name="notes.md", text="Hello"):
    return {"name": "write_file", "arguments": json.dumps({"name": name, "text": text}, ensure_ascii=False)}


def ask_user(**arguments):
    return {"name": "ask_user", "arguments": json.dumps({"question": "Which?", **arguments})}


@pytest.fixture
def writer(environment):
    """Robin can write files and ask questions, in the chat of Alice and Bob."""
    for tool in ("write_file", "ask_user"):
        add_tool_use(environment.team.robin.current_spec, tool)
    return environment


def list_files():
    found = []
    for file in File.objects.order_by("pk"):
        with file.content.open() as content:
            found.append((file.name, content.read().decode()))
    return found


def list_results(environment):
    return [(row.payload["status"], row.payload["text"]) for row in environment.log("TOOL_RESPONSE")]


@pytest.mark.usefixtures("engine")
def test_RUN19_a_waiting_run_has_no_lease_and_no_slot_and_continues_after_the_click(writer):
    writer.model.script(calls=[write()], then={"text": "Done."})
    writer.post("@robin write")
    [approval] = writer.wait_until_waiting()
    [run] = writer.runs()
    assert (run.lease_owner, run.lease_until, run.attempt) == ("", None, 1)
    writer.wait(lambda: not writer.engine.executing_ids)
    assert (list_files(), Step.objects.filter(kind="tool").count()) == ([], 0)
    writer.decide(approval)
    [run] = writer.wait_until_idle()
    assert (run.state, run.attempt, run.crashes, run.waiting_since) == ("completed", 2, 0, None)
    assert run.waited_seconds > 0
    assert (list_files(), writer.list_answers()) == ([("notes.md", "Hello")], ["Done."])
    types = [
        "TEXT_MESSAGE",
        "TOOL_CALL",
        "APPROVAL_ASKED",
        "APPROVAL_DECIDED",
        "FILE_MESSAGE",
        "TOOL_RESPONSE",
        "TEXT_MESSAGE",
    ]
    assert [row.type for row in writer.log()] == types


@pytest.mark.usefixtures("engine")
def test_a_model_gets_its_thinking_back_with_its_calls_also_after_a_wait_and_no_other_model_does(writer, team):
    """As DeepSeek, the server refuses calls without the thinking that led to them."""
    demand = {"requires": "reasoning_content"}
    writer.model.script(text="Again done.", **demand)
    writer.model.script(thinking="I write it.", calls=[write()], then={"text": "Done."}, times=2, **demand)
    writer.post("@robin write")
    [approval] = writer.wait_until_waiting()
    writer.decide(approval)

    def list_thinking():
        messages = writer.model.requests[-1].body["messages"]
        return [message.get("reasoning_content") for message in messages if "tool_calls" in message]

    assert [run.state for run in writer.wait_until_idle()] == ["completed"]
    assert list_thinking() == ["I write it. "]
    writer.post("@robin and now?")
    writer.wait_until_idle()
    assert writer.list_answers() == ["Done.", "Again done."]
    # That of the earlier run is not sent any more; the server requires the field.
    assert list_thinking() == [""]
    workspaces.set_model(
        team.alice,
        team.workspace.id,
        provider="openai_compatible",
        default_model="another",
        api_base=writer.model.api_base,
        revision=Credential.objects.get(workspace=team.workspace).revision,
    )
    writer.model.reset()
    writer.post("@robin once more")
    writer.wait_until_idle()
    assert (writer.model.requests[-1].body["model"], list_thinking()) == ("another", [None])


@pytest.mark.usefixtures("engine")
def test_RUN12_arguments_inside_a_json_string_are_those_that_people_see_and_that_the_tool_gets(writer):
    call = write(text='He said "yes".')
    writer.model.script(calls=[call | {"arguments": json.dumps(call["arguments"])}], then={"text": "Done."})
    writer.post("@robin write")
    [approval] = writer.wait_until_waiting()
    assert json.loads(approval.arguments) == json.loads(call["arguments"])
    writer.decide(approval)
    writer.wait_until_idle()
    assert list_files() == [("notes.md", 'He said "yes".')]
    sent = [message["tool_calls"] for message in writer.model.requests[-1].body["messages"] if "tool_calls" in message]
    assert json.loads(sent[0][0]["function"]["arguments"]) == json.loads(call["arguments"])


@pytest.mark.usefixtures("engine")
def test_the_time_of_waiting_does_not_count_for_the_limit_of_the_run(writer):
    writer.model.script(calls=[write()], then={"text": "Done."})
    writer.post("@robin write")
    [approval] = writer.wait_until_waiting()
    day_ago = now() - timedelta(hours=23)
    Run.objects.update(started_at=day_ago, waiting_since=day_ago)
    writer.decide(approval)
    assert [run.state for run in writer.wait_until_idle()] == ["completed"]


@pytest.mark.usefixtures("engine")
def test_an_edited_call_is_made_with_the_new_arguments_and_stays_as_the_model_wrote_it(writer):
    writer.model.script(calls=[write("筆記.md", "出錯了 😀")], then={"text": "Done."})
    writer.post("@robin write")
    [approval] = writer.wait_until_waiting()
    edited = json.dumps({"name": "會議記錄.md", "text": "沒有出錯 🎉" + "字" * 60_000}, ensure_ascii=False)
    writer.decide(approval, arguments=edited)
    writer.wait_until_idle()
    assert list_files() == [("會議記錄.md", json.loads(edited)["text"])]
    assert writer.log("TOOL_CALL")[0].payload["arguments"] == approval.arguments
    assert writer.log("APPROVAL_DECIDED")[0].payload["arguments"] == edited


@pytest.mark.usefixtures("engine")
def test_arguments_of_the_maximal_length_are_shown_exactly(writer):
    text = "字" * 199_000
    writer.model.script(calls=[write(text=text)], then={"text": "Done."})
    writer.post("@robin write")
    [approval] = writer.wait_until_waiting()
    assert json.loads(Message.objects.get(pk=approval.pk).payload["arguments"])["text"] == text
    writer.decide(approval)
    writer.wait_until_idle()
    assert list_files() == [("notes.md", text)]


@pytest.mark.usefixtures("engine")
def test_approved_for_this_run_asks_once_in_this_run_and_again_in_the_next(writer):
    writer.model.script(text="Done.")
    for number in (2, 1):
        writer.model.script(calls=[write(f"{number}.md")], times=1)
    writer.post("@robin write")
    [approval] = writer.wait_until_waiting()
    writer.decide(approval, "approved_for_run")
    writer.wait_until_idle()
    assert [name for name, _ in list_files()] == ["1.md", "2.md"]
    writer.model.script(calls=[write("3.md")], times=1)
    writer.post("@robin again")
    assert len(writer.wait_until_waiting()) == 1
    assert len(list_files()) == 2


@pytest.mark.usefixtures("engine")
def test_a_policy_asks_also_alone_and_for_a_tool_that_reads(writer):
    writer.delete_bob_from_chat()
    ToolPolicyFactory.create(workspace=writer.team.workspace, tool="current_time", policy=Policy.ASK)
    writer.model.script(
        calls=[write(), {"name": "current_time", "arguments": '{"timezone": "UTC"}'}], then={"text": "Done."}
    )
    writer.post("@robin write")
    [approval] = writer.wait_until_waiting()
    assert (approval.tool, approval.reason) == ("current_time", "policy")
    assert [name for name, _ in list_files()] == ["notes.md"]
    writer.decide(approval, "refused")
    writer.wait_until_idle()
    assert [status for status, _ in list_results(writer)] == ["ok", "rejected"]


@pytest.mark.usefixtures("engine")
def test_an_answer_is_the_result_of_the_question(writer):
    writer.model.script(calls=[ask_user(choices=[{"label": "A"}, {"label": "B"}])], then={"text": "Thanks."})
    writer.post("@robin ask", by=writer.team.bob)
    [approval] = writer.wait_until_waiting()
    assert (approval.person, approval.question["choices"][1]["label"]) == (writer.team.bob, "B")
    writer.decide(approval, "answered", choice=1, by=writer.team.bob)
    writer.wait_until_idle()
    assert list_results(writer) == [("ok", "Bob answered: B")]
    assert writer.list_answers() == ["Thanks."]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("fields", "is_allowed"), [({"choice": 0}, False), ({"answer": "See https://a.example/?q=x"}, True)]
)
def test_SEC9_a_choice_written_by_the_model_allows_no_url_and_a_typed_answer_does(writer, fields, is_allowed):
    url = "https://a.example/?q=x"
    writer.model.script(calls=[ask_user(choices=[{"label": url}])], then={"text": "Thanks."})
    writer.post("@robin ask", by=writer.team.bob)
    [approval] = writer.wait_until_waiting()
    writer.decide(approval, "answered", by=writer.team.bob, **fields)
    writer.wait_until_idle()
    assert TextSources(writer.team.chat.id, "").is_url_allowed(url) is is_allowed


@pytest.mark.usefixtures("engine")
def test_a_malformed_question_is_an_error_for_the_model_and_asks_nobody(writer):
    calls = [ask_user(question=""), ask_user(allow_free_answer=False), ask_user(choices=[{"label": "x"}] * 7)]
    writer.model.script(calls=calls, then={"text": "Sorry."})
    writer.post("@robin ask")
    writer.wait_until_idle()
    assert [status for status, _ in list_results(writer)] == ["error"] * 3
    assert not Approval.objects.exists()


@pytest.mark.usefixtures("engine")
def test_messages_are_answered_while_a_run_waits_and_its_call_is_not_called_interrupted(writer):
    writer.model.script(text="Hi.", match="how are you")
    writer.model.script(calls=[write()], times=1)
    writer.post("@robin write")
    [approval] = writer.wait_until_waiting()
    writer.post("@robin how are you?")
    writer.wait(lambda: writer.list_answers() == ["Hi."])
    assert "waits for a person to decide" in json.dumps(writer.model.requests[-1].body)
    writer.model.script(text="Written.")
    writer.decide(approval)
    assert [run.state for run in writer.wait_until_idle()] == ["completed", "completed"]
    assert writer.list_answers() == ["Hi.", "Written."]
    # The model reads what was said meanwhile, and the result of its call at the end.
    assert [turn["role"] for turn in writer.model.requests[-1].body["messages"][-2:]] == ["assistant", "tool"]


def test_a_resumed_run_waits_for_its_concurrency_key(writer, engine):
    writer.model.script(calls=[write()], then={"text": "Done."}, times=1)
    writer.post("@robin write")
    [approval] = writer.wait_until_waiting()
    writer.model.script(mode="drip", count=1000, every=0.05)
    writer.post("@robin tell a story")
    writer.wait(lambda: len(writer.model.requests) == 2)
    writer.model.script(text="Done.")
    writer.decide(approval)
    [resumed, running] = writer.runs()
    assert (resumed.state, running.state) == ("queued", "running")
    runs.stop_run(writer.team.alice, running.id)
    assert [run.state for run in writer.wait_until_idle()] == ["completed", "stopped"]
    assert len(list_files()) == 1


@pytest.mark.usefixtures("engine")
def test_a_waiting_run_is_stopped_at_once_and_can_be_repeated(writer):
    writer.model.script(text="Done.")
    writer.model.script(calls=[write()], times=2)
    writer.post("@robin write")
    [approval] = writer.wait_until_waiting()
    stopped = runs.stop_run(writer.team.alice, writer.runs()[0].id)
    assert stopped.state == "stopped"
    approval.refresh_from_db()
    assert (approval.decision, list_results(writer)[0][0], list_files()) == ("stopped", "stopped", [])
    runs.retry_run(writer.team.alice, stopped.id)
    writer.submit_queued_runs()
    [again] = writer.wait_until_waiting()
    writer.decide(again)
    writer.wait_until_idle()
    assert len(list_files()) == 1


def leave_as_person(environment):
    chats.remove_participant(environment.team.alice, environment.team.chat.id, environment.team.bob.id)


def remove_member(environment):
    workspaces.remove_member(environment.team.alice, environment.team.workspace.id, environment.team.bob.id)


def remove_agent(environment):
    chats.remove_participant(environment.team.alice, environment.team.chat.id, environment.team.robin.id)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("leave", "state"), [(leave_as_person, "failed"), (remove_member, "failed"), (remove_agent, "stopped")]
)
def test_RUN22_a_waiting_run_ends_when_its_person_or_its_agent_leaves(writer, leave, state):
    writer.model.script(calls=[write()], then={"text": "Done."})
    writer.post("@robin write", by=writer.team.bob)
    [approval] = writer.wait_until_waiting()
    with transaction.atomic():
        leave(writer)
    [run] = writer.wait_until_idle()
    approval.refresh_from_db()
    assert (run.state, approval.decision, list_files()) == (state, "stopped", [])
    assert len(list_results(writer)) == 1


@pytest.mark.usefixtures("engine")
def test_RUN22_rights_that_were_withdrawn_before_the_call_end_the_run(writer):
    writer.model.script(calls=[write()], then={"text": "Done."})
    writer.post("@robin write", by=writer.team.bob)
    [approval] = writer.wait_until_waiting()
    writer.team.bob.is_active = False
    writer.team.bob.save()
    writer.decide(approval)
    [run] = writer.wait_until_idle()
    assert (run.state, run.error_code, list_files()) == ("failed", "rights_lost", [])


@pytest.mark.usefixtures("engine")
def test_RUN22_an_expired_call_is_refused_by_the_sweeper_and_the_run_goes_on(writer):
    writer.model.script(calls=[write()], then={"text": "As you wish."})
    writer.post("@robin write")
    [approval] = writer.wait_until_waiting()
    Approval.objects.update(expires_at=now() - timedelta(seconds=1))
    writer.wait(lambda: Run.objects.filter(state="completed"), 15)
    approval.refresh_from_db()
    assert (approval.decision, list_files(), list_results(writer)[0][0]) == ("expired", [], "rejected")
    assert writer.list_answers() == ["As you wish."]


@pytest.mark.usefixtures("engine")
def test_in_a_comparison_nobody_is_asked(writer):
    writer.model.script(calls=[ask_user(), write()], then={"text": "Done."})
    where = {"actor": writer.team.alice, "chat_id": writer.team.chat.id, "agent_id": writer.team.robin.id}
    draft = drafts.claim_draft(**where)
    drafts.apply_draft(**where, revision=draft.revision)
    comparisons.start_comparison(**where, id=new_id(), text="Which?", revision=None)
    writer.submit_queued_runs()
    assert {run.state for run in writer.wait_until_idle()} == {"completed"}
    assert not Approval.objects.exists()
    assert {status for status, _ in list_results(writer)} == {"error"}


def test_a_run_without_tool_calls_makes_no_query_about_approvals(environment, engine):
    with record_statements() as asked:
        environment.post("@robin hello")
        environment.wait_until_idle()
    assert asked.count_rows("approvals_approval") == 0


@pytest.mark.stack
def test_RUN19_a_run_waits_across_kills_and_its_call_is_made_once(environment, start_worker, order_server):
    """The worker is killed while the run waits; another one right after the click; a third while the server has the order."""
    add_tool_use(environment.team.robin.current_spec, "order_once")
    settings = {"DJANGO_SETTINGS_MODULE": "tests.extra_tools.settings"}
    worker = start_worker(**settings)
    for number in range(1, N + 1 if N < 10 else 3):
        order_server.answers.set()
        environment.model.reset()
        environment.model.script(text="That was it.", requires="reasoning_content")
        environment.model.script(
            thinking="I order.",
            calls=[{"name": "order_once", "arguments": f'{{"port": {order_server.port}}}'}],
            times=1,
        )
        environment.post("@robin order")
        [approval] = environment.wait_until_waiting(20)
        worker.kill()
        assert sum(order_server.orders.values()) == number - 1
        approvals.decide_approval(environment.team.alice, approval.pk, "approved")
        victim = start_worker(**settings)
        victim.kill()
        worker = start_worker(**settings)
        environment.wait_until_idle(40)
        run = environment.runs()[-1]
        assert run.state == "completed"
        assert order_server.orders == Counter(dict.fromkeys(order_server.orders, 1))
        assert sum(order_server.orders.values()) <= number
