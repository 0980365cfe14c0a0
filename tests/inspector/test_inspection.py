"""The inspector: why a run woke, what it did, and what was sent to its model; and what an agent sees."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chats import services as chats
from chats.models import Chat, ChatActor
from common.errors import Forbidden, NotFound
from context.seeding import create_messages
from inspector.requests import get_sent_request
from inspector.selectors import get_run_inspection, get_viewpoint, list_runs_of_agent
from llm.messages import ModelRequest, ProviderFields, ToolCall, ToolSchema, Turn
from llm.sent_requests import Section, encode_request
from runs.models import Run
from tests.factories.approvals import ApprovalFactory
from tests.factories.chats import MessageFactory
from tests.factories.runs import RunFactory, StepFactory
from tests.factories.usage import LLMCallFactory
from tests.people import Team, make_agent, make_team
from tests.queries import list_plan_nodes
from usage.models import LLMCall
from waking.services.by_hand import wake_agent

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Team:
    return make_team()


def make_run(team: Team, **fields) -> Run:
    return RunFactory.create(chat=team.chat, agent=team.robin, **{"on_behalf_of": team.bob} | fields)


def make_call(
    team: Team, run: Run, sections: tuple[Section, ...] = (), turns: tuple[Turn, ...] = (), **fields
) -> LLMCall:
    system = "\n\n".join(["Answer.", "You are Robin.", *(part.text for part in sections)])
    tool = ToolSchema("current_time", "Tell the time. Only in UTC.", {"type": "object"})
    request = ModelRequest(
        "gpt", [Turn("system", system), Turn("user", "What time is it?"), *turns], [tool], {"temperature": 0.3}
    )
    content = encode_request(request, (Section("prompt", "Answer."), *sections), origin="here")
    fields = {"request": content, "agent": run.agent} | fields
    return LLMCallFactory.create(
        workspace=team.workspace, run_id=run.id, tree_id=run.tree_id, chat_id=run.chat_id, **fields
    )


def test_why_a_run_woke(team):
    mention, _ = chats.post_message(team.bob, team.chat.id, text="@robin hello")
    [run] = Run.objects.filter(trigger_id=mention.id)
    inspection = get_run_inspection(team.alice, run.id)
    assert (inspection.why, inspection.person and inspection.person.name) == ("mention", "Bob")
    assert (inspection.message_id, inspection.excerpt) == (mention.id, "@robin hello")
    plain, _ = chats.post_message(team.bob, team.chat.id, text="hello", wake="nobody")
    assert get_run_inspection(team.alice, make_run(team, trigger_id=plain.id).id).why == "message"
    assert get_run_inspection(team.alice, make_run(team, trigger_id=plain.id, origin="retry").id).why == "retry"


def test_the_parts_of_a_run_are_in_the_order_of_time_with_sub_agents_and_waits(team):
    run = make_run(team, state="completed")
    call = make_call(team, run, input_tokens=7, output_tokens=2, cost_micro=40, first_token_ms=100, total_ms=0)
    StepFactory.create(run=run, number=1, kind="tool", name="current_time", call_id="call_1", state="done", attempt=1)
    child = make_run(team, parent=run, call_id="call_2", input={}, depth=1, state="completed")
    make_call(team, child, total_ms=0)
    ApprovalFactory.create(chat=team.chat, agent=team.robin, person=team.alice, run_id=run.id)
    inspection = get_run_inspection(team.bob, run.id)
    parts = [(part.kind, part.depth) for part in inspection.timeline]
    assert parts[0] == ("woke", 0)
    assert sorted(parts[1:]) == [("model", 0), ("model", 1), ("sub_agent", 0), ("tool", 0), ("waited", 0)]
    asked = next(part for part in inspection.timeline if part.request_id == call.id)
    assert (asked.has_request, asked.input_tokens, asked.output_tokens, asked.cost_micro) == (True, 7, 2, 40)
    assert (inspection.calls, inspection.first_token_seconds) == (1, 0.1)


def test_a_run_has_read_messages_of_others_and_wakes_but_no_texts_of_sub_agents(team):
    trigger, _ = chats.post_message(team.bob, team.chat.id, text="@robin hello")
    [run] = Run.objects.filter(trigger_id=trigger.id)
    quill = make_agent(team.workspace, team.alice, "Quill")
    other, _ = chats.post_message(team.alice, team.chat.id, text="One more thing.", wake="nobody")
    woken, _ = wake_agent(team.alice, team.chat.id, team.robin.id)
    chats.add_participant(team.alice, team.chat.id, quill.id)
    wake_agent(team.bob, team.chat.id, quill.id)
    seq = other.seq + 100
    of_sub_agent = {"run_id": str(run.id), "agent_id": str(quill.id), "depth": 1}
    MessageFactory.create(chat=team.chat, seq=seq, author=quill, text="Found.", metadata=of_sub_agent)
    Run.objects.filter(pk=run.pk).update(read_to=seq, trigger_seq=trigger.seq)
    inspection = get_run_inspection(team.alice, run.id)
    read = [part for part in inspection.timeline if part.kind == "read"]
    assert [(part.message_id, part.name, part.note) for part in read] == [
        (other.id, "", "One more thing."),
        (woken.id, "hand", ""),
    ]
    assert {part.person and part.person.name for part in read} == {"Alice"}
    assert inspection.read_messages == 1


def test_an_editor_reads_a_request_as_it_was_sent(team):
    run = make_run(team)
    found = get_sent_request(team.alice, run.id, make_call(team, run).id)
    assert [(block.kind, block.role, block.text) for block in found.blocks or ()] == [
        ("prompt", "system", "Answer."),
        ("chat", "system", "You are Robin."),
        ("tool", "tool", "Tell the time. Only in UTC."),
        ("message", "user", "What time is it?"),
    ]
    assert found.parameters == {"temperature": 0.3}


def test_SEC43_what_a_provider_gets_back_is_shown_unless_the_prompt_of_the_agent_is_blanked(team):
    run = make_run(team)
    fields = ProviderFields("here", {"reasoning_content": "I need the time."})
    asked = Turn("assistant", calls=(ToolCall("call_1", "current_time", "{}"),), provider_fields=fields)
    call = make_call(team, run, turns=(asked, Turn("tool", "Noon.", call_id="call_1")))
    shown = [block.provider_fields for block in get_sent_request(team.alice, run.id, call.id).blocks or ()]
    assert [text for text in shown if text] == ['{"reasoning_content":"I need the time."}']
    Run.objects.filter(pk=run.pk).update(agent=make_team(" Two").robin)
    assert "I need" not in get_sent_request(team.alice, run.id, call.id).model_dump_json()


def test_a_secret_that_the_answer_repeats_is_blanked_in_it(team):
    run = make_run(team)
    call = make_call(team, run, step_number=1)
    answer = MessageFactory.create(
        chat=team.chat,
        seq=90,
        author=team.robin,
        run_id=run.id,
        payload={"text": "Your key is sk-abcdefgh12345678, api_key=hunter22."},
    )
    StepFactory.create(run=run, number=1, kind="llm", state="done", attempt=1, result={"message_id": str(answer.id)})
    called = {
        "name": "web_fetch",
        "arguments": '{"authorization": "Bearer abcdefgh12345678"}',
        "call_id": "call_1",
        "step": 1,
    }
    MessageFactory.create(chat=team.chat, seq=91, author=team.robin, run_id=run.id, type="TOOL_CALL", payload=called)
    found = get_sent_request(team.alice, run.id, call.id)
    assert found.answer_text == "Your key is ***, api_key=***"
    assert [one.arguments for one in found.answer_calls] == ['{"authorization": "Bearer ***"}']


def test_SEC41_only_editors_who_are_in_the_chat_read_a_request(team):
    run = make_run(team)
    call = make_call(team, run)
    assert not get_run_inspection(team.bob, run.id).may_read_requests
    with pytest.raises(Forbidden):
        get_sent_request(team.bob, run.id, call.id)
    with pytest.raises(NotFound):
        get_sent_request(team.charlie, run.id, call.id)
    chats.remove_participant(team.bob, team.chat.id, team.alice.id)
    with pytest.raises(NotFound):
        get_sent_request(team.alice, run.id, call.id)


def test_SEC42_memory_of_a_chat_that_the_reader_may_not_read_is_blanked(team):
    secret = chats.create_chat(team.bob, team.workspace.id, title="Secret", actor_ids=[team.robin.id])
    memory = (Section("memory", "The code is 1234.", (secret.id,)),)
    run = make_run(team)
    call = make_call(team, run, memory)
    found = get_sent_request(team.alice, run.id, call.id)
    [block] = [block for block in found.blocks or () if block.kind == "memory"]
    assert (block.text, block.blanked, block.tokens > 0) == ("", "memory_of_other_chats", True)
    assert "1234" not in found.model_dump_json()
    chats.add_participant(team.bob, secret.id, team.alice.id)
    assert "1234" in get_sent_request(team.alice, run.id, call.id).model_dump_json()


def test_an_editor_reads_the_memory_of_a_chat_between_agents(team):
    wren = make_agent(team.workspace, team.alice, "Wren")
    pair, _ = chats.open_direct_chat(team.alice, team.workspace.id, wren.id, agent_id=team.robin.id)
    run = RunFactory.create(chat=pair, agent=team.robin, on_behalf_of=team.bob)
    call = make_call(team, run, (Section("memory", "The code is 1234.", (pair.id,)),))
    found = get_sent_request(team.alice, run.id, call.id)
    assert [block.text for block in found.blocks or () if block.kind == "memory"] == ["The code is 1234."]


OF_OLDER_MESSAGES = (
    Section("retrieved", "[#7] The code is 4711."),
    Section("summary", "They chose the hotel."),
    Section("events", "Alice shared a file."),
)


def test_what_a_run_read_of_older_messages_is_shown_by_its_parts(team):
    run = make_run(team)
    found = get_sent_request(team.alice, run.id, make_call(team, run, OF_OLDER_MESSAGES).id)
    blocks = [(block.kind, block.text) for block in found.blocks or () if block.role == "system"]
    assert blocks == [
        ("prompt", "Answer."),
        ("chat", "You are Robin."),
        ("retrieved", "[#7] The code is 4711."),
        ("summary", "They chose the hotel."),
        ("events", "Alice shared a file."),
    ]


def test_SEC43_older_messages_that_a_foreign_public_agent_read_are_shown(team):
    other = make_team(" Two")
    run = make_run(team)
    call = make_call(team, run, OF_OLDER_MESSAGES)
    Run.objects.filter(pk=run.pk).update(agent=other.robin)
    blocks = get_sent_request(team.alice, run.id, call.id).blocks or ()
    shown = [block.kind for block in blocks if block.role == "system" and not block.blanked]
    assert shown == ["retrieved", "summary", "events"]


def test_SEC43_the_prompt_of_a_foreign_public_agent_is_blanked(team):
    other = make_team(" Two")
    run = make_run(team)
    call = make_call(team, run)
    Run.objects.filter(pk=run.pk).update(agent=other.robin)
    found = get_sent_request(team.alice, run.id, call.id)
    text = found.model_dump_json()
    assert {block.blanked for block in found.blocks or () if block.kind != "message"} == {"prompt_of_public_agent"}
    assert "Answer." not in text
    assert "Only in UTC" not in text
    assert "What time is it?" in text


def test_a_request_of_another_run_is_not_found(team):
    run, other = make_run(team), make_run(team)
    with pytest.raises(NotFound):
        get_sent_request(team.alice, run.id, make_call(team, other).id)


def test_a_removed_request_keeps_its_figures(team):
    run = make_run(team)
    found = get_sent_request(team.alice, run.id, make_call(team, run, request=None, input_tokens=7).id)
    assert (found.blocks, found.input_tokens) == (None, 7)


def test_runs_of_chats_that_the_reader_is_not_in_are_not_listed(team):
    secret = chats.create_chat(team.bob, team.workspace.id, title="Secret", actor_ids=[team.robin.id])
    own, other = make_run(team, state="failed"), RunFactory.create(chat=secret, agent=team.robin)
    assert list(list_runs_of_agent(team.alice, team.robin.id)) == [own]
    assert set(list_runs_of_agent(team.bob, team.robin.id)) == {own, other}
    assert list(list_runs_of_agent(team.bob, team.robin.id, outcome="failed")) == [own]
    assert list(list_runs_of_agent(team.bob, team.robin.id, chat_id=secret.id)) == [other]
    with pytest.raises(NotFound):
        list_runs_of_agent(team.alice, team.robin.id, chat_id=secret.id)
    with pytest.raises(NotFound):
        list_runs_of_agent(team.charlie, team.robin.id)


def test_SEC44_an_editor_sees_the_chats_of_an_agent_that_they_are_in_and_the_number_of_the_others(team):
    chats.create_chat(team.bob, team.workspace.id, title="Secret", actor_ids=[team.robin.id])
    for text in ("one", "two"):
        chats.post_message(team.bob, team.chat.id, text=text, wake="nobody")
    before = ChatActor.objects.get(chat=team.chat, actor=team.robin).last_read_seq
    found = get_viewpoint(team.alice, team.robin.id)
    assert [(chat.title, chat.unread, chat.last_read_seq) for chat in found.chats] == [("Room", 2, before)]
    assert found.hidden_chats == 1
    assert "Secret" not in found.model_dump_json()
    assert ChatActor.objects.get(chat=team.chat, actor=team.robin).last_read_seq == before


def test_unread_messages_of_an_agent_are_counted_up_to_100_without_texts_of_sub_agents(team):
    create_messages(team.chat.id, 3_000)
    ChatActor.objects.filter(chat=team.chat, actor=team.robin).update(last_read_seq=0)
    with CaptureQueriesContext(connection) as queries:
        [row] = get_viewpoint(team.alice, team.robin.id).chats
    assert row.unread == 100
    [sql] = [query["sql"] for query in queries if "COUNT(*) FROM (SELECT" in query["sql"]]
    read = [node for node in list_plan_nodes(sql) if node.get("Relation Name") == "chats_message"]
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in read) <= 100

    last = Chat.objects.get().version
    ChatActor.objects.filter(chat=team.chat, actor=team.robin).update(last_read_seq=last)
    MessageFactory.create(chat=team.chat, seq=last + 1, author=team.bob)
    MessageFactory.create(chat=team.chat, seq=last + 2, author=team.bob, metadata={"depth": 1})
    [row] = get_viewpoint(team.alice, team.robin.id).chats
    assert row.unread == 1


def test_SEC44_an_editor_sees_the_chats_between_agents_in_the_viewpoint_and_others_not_their_runs(team):
    quill = make_agent(team.workspace, team.alice, "Quill")
    chat, _ = chats.open_direct_chat(team.alice, team.workspace.id, quill.id, agent_id=team.robin.id)
    chats.post_message(quill, chat.id, text="Please look.")
    chats.create_chat(team.alice, team.workspace.id, title="", actor_ids=[team.bob.id, team.robin.id])
    found = get_viewpoint(team.alice, team.robin.id)
    assert {(row.title, row.unread) for row in found.chats} == {("Room", 0), ("Quill", 1), ("Alice · Bob", 0)}
    assert found.hidden_chats == 0
    run = Run.objects.get(chat=chat)
    assert list(list_runs_of_agent(team.alice, team.robin.id)) == [run]
    assert list(list_runs_of_agent(team.bob, team.robin.id)) == []


def test_SEC44_only_editors_look_through_the_eyes_of_an_agent(team):
    with pytest.raises(Forbidden):
        get_viewpoint(team.bob, team.robin.id)
    with pytest.raises(NotFound):
        get_viewpoint(team.charlie, team.robin.id)


def test_the_month_of_an_agent(team):
    run = make_run(team, state="failed", attempt=1)
    Run.objects.filter(pk=run.pk).update(cost_micro=5)
    month = get_viewpoint(team.alice, team.robin.id).month
    assert (month.runs, month.failed, month.cost_micro) == (1, 1, 5)
