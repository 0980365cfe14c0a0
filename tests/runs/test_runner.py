"""Runs from the message to the answer, with a real database, an engine and a scripted model over HTTP."""

import pytest
from django.db import connections, transaction

from agents.services import drafts
from agents.specs.content import SpecContent
from chats.models import ChatActor
from common.tenants import get_current_tenant
from events.rows import Stamp
from llm.adapters.openai import OpenAIAdapter
from runs.models import Run, Step
from tests.factories.agents import change_spec
from usage.models import LLMCall

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


def test_a_message_is_answered_and_the_answer_has_a_stamp(environment):
    environment.model.script(text="Hello Alice.")
    message = environment.post("hello")
    [run] = environment.wait_until_idle()
    assert (run.state, run.attempt, run.steps_done, run.trigger_id) == ("completed", 1, 1, message.id)
    question, answer = environment.log()
    assert (answer.type, answer.author, answer.text, answer.run_id) == (
        "TEXT_MESSAGE",
        environment.team.robin,
        "Hello Alice.",
        run.id,
    )
    stamp = Stamp.model_validate(answer.payload["stamp"])
    assert (stamp.version, stamp.draft_apply, stamp.model, stamp.provider, stamp.paid_by) == (
        1,
        None,
        "scripted",
        "openai_compatible",
        "workspace",
    )
    assert (stamp.input_tokens, stamp.output_tokens) == (11, 2)
    assert "incomplete" not in answer.payload or answer.payload["incomplete"] is False


def test_FAIR2_name_lookups_of_a_run_are_counted_for_its_workspace(environment, monkeypatch):
    tenants, open_ = [], OpenAIAdapter._open_stream

    async def noted(self, request, started):
        tenants.append(get_current_tenant())
        return await open_(self, request, started)

    monkeypatch.setattr(OpenAIAdapter, "_open_stream", noted)
    environment.post("hello")
    assert environment.wait_until_idle()[0].state == "completed"
    assert tenants == [(str(environment.team.workspace.id), str(environment.team.alice.id))]


def test_each_request_has_a_ledger_entry(environment):
    environment.model.script(text="one two three")
    environment.post("hello")
    [run] = environment.wait_until_idle()
    call = LLMCall.objects.get()
    assert (call.run_id, call.tree_id, call.agent, call.on_behalf_of, call.workspace) == (
        run.id,
        run.id,
        environment.team.robin,
        environment.team.alice,
        environment.team.workspace,
    )
    assert (call.chat_id, call.spec, call.is_draft) == (environment.team.chat.id, run.spec, False)
    assert (call.input_tokens, call.output_tokens, call.finish, call.tries, call.attempt) == (11, 3, "stop", 1, 1)
    assert (run.input_tokens, run.output_tokens) == (11, 3)
    assert Step.objects.filter(run=run).values_list("kind", "state").get() == ("llm", "done")


def test_a_tool_is_called_and_the_model_answers_its_result(environment):
    environment.post("What time is it in Tokyo?")
    [run] = environment.wait_until_idle()
    assert [row.type for row in environment.log()] == ["TEXT_MESSAGE", "TOOL_CALL", "TOOL_RESPONSE", "TEXT_MESSAGE"]
    _, call, result, answer = environment.log()
    assert (call.payload["name"], call.payload["arguments"], call.payload["step"]) == (
        "current_time",
        '{"timezone": "Asia/Tokyo"}',
        1,
    )
    assert (result.payload["tool_call_id"], result.payload["status"]) == (call.payload["call_id"], "ok")
    assert "Asia/Tokyo, UTC+09:00" in result.payload["text"]
    assert "Asia/Tokyo" in answer.text
    assert [row.run_id for row in environment.log()[1:]] == [run.id] * 3
    assert list(run.steps.order_by("started_at").values_list("kind", "number", "state")) == [
        ("llm", 1, "done"),
        ("tool", 1, "done"),
        ("llm", 2, "done"),
    ]


def test_the_applied_draft_answers_in_its_chat_and_the_stamp_says_so(environment):
    team = environment.team
    where = {"actor": team.alice, "chat_id": team.chat.id, "agent_id": team.robin.id}
    draft = drafts.claim_draft(**where, content=SpecContent(prompt="Be a pirate."))
    drafts.apply_draft(**where, revision=draft.revision)
    environment.post("hello")
    environment.wait_until_idle()
    answer = environment.log("TEXT_MESSAGE")[-1]
    assert "My prompt: Be a pirate." in answer.text
    stamp = Stamp.model_validate(answer.payload["stamp"])
    assert (stamp.version, stamp.draft_apply, stamp.draft_by) == (None, 1, "Alice")


def test_in_a_group_the_model_reads_names_and_its_own_messages_as_assistant(environment):
    environment.model.script(text="First answer.")
    environment.post("I am here")
    environment.wait_until_idle()
    environment.post("Me too", by=environment.team.bob)
    environment.wait_until_idle()
    turns = [(turn["role"], turn["content"]) for turn in environment.model.requests[-1].body["messages"]][1:]
    assert turns == [("user", "Alice: I am here"), ("assistant", "First answer."), ("user", "Bob: Me too")]


def test_the_read_cursor_of_the_agent_includes_the_message_that_it_answered(environment):
    environment.post("hello")
    environment.wait_until_idle()
    participant = ChatActor.objects.get(chat=environment.team.chat, actor=environment.team.robin)
    assert participant.last_read_seq >= environment.log()[0].seq


def test_no_connection_is_checked_out_while_a_run_waits_for_a_model(environment):
    # A new pool: a thread of an earlier test may have kept a connection of the old one.
    connections.close_all()
    getattr(connections["default"], "close_pool")()  # noqa: B009  # the stubs do not know it
    environment.model.script(text="late", first=30.0)
    environment.post("hello")
    environment.wait(lambda: environment.model.requests)
    environment.wait(lambda: all(run.state == "running" for run in environment.runs()))
    pool = getattr(connections["default"], "pool")  # noqa: B009  # the stubs do not know it
    connections.close_all()
    # The sweeper and the heartbeat use connections for a moment; that of a run would be in use all the time.
    environment.wait(lambda: pool.get_stats()["pool_available"] == pool.get_stats()["pool_size"])
    assert environment.model.requests[-1].ended_at is None


def test_an_empty_answer_is_a_visible_failure(environment):
    environment.model.script(tokens=[" "])
    environment.post("hello")
    [run] = environment.wait_until_idle()
    assert (run.state, run.error_code) == ("failed", "empty_answer")
    assert [row.type for row in environment.log()] == ["TEXT_MESSAGE", "RUN_FAILED"]


def test_a_person_who_left_gets_no_answer(environment):
    from chats import services as chats

    team = environment.team
    environment.model.script(text="slow", first=0.6)
    environment.post("@robin hello", by=team.bob)
    environment.wait(lambda: environment.model.requests)
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    [run] = environment.wait_until_idle()
    assert (run.state, run.error_code) == ("failed", "rights_lost")
    assert environment.list_answers() == []


def test_a_run_ends_at_its_time_limit_and_keeps_the_streamed_text(environment):
    team = environment.team
    change_spec(team.robin.current_spec, limits={"max_seconds": 5})
    Run.objects.update(limits={})
    environment.model.script(mode="drip", count=400, every=0.05)
    environment.post("hello")
    [run] = environment.wait_until_idle(12)
    assert (run.state, run.error_code) == ("failed", "time_limit")
    assert environment.log("TEXT_MESSAGE")[-1].payload["incomplete"] is True
