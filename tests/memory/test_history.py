"""The history of an agent over all its chats: what a run reads of it, and when it does not."""

from io import BytesIO

import pytest
from django.db import IntegrityError

from actors.models import Actor
from agents.services.allowed_tools import get_run_tools
from agents.specs.content import SpecContent, ToolUse
from chats import services as chats
from chats.models import Message
from chats.permissions import ChatVerb, get_chat_for
from chats.selectors import list_messages
from common.errors import Conflict, Forbidden, NotFound
from common.ids import new_id
from events.models import AuditRecord
from files import services as files
from memory import services as memory
from memory.history import read_history_turns
from memory.models import HistoryEntry, MemoryClearing, MemoryUse
from memory.selectors import get_memory_row, list_history
from publishing.content import build_public_content, list_unpublished_tools
from runs.kinds import get_kind
from runs.kinds.chat import COMPARISON
from runs.models import Run
from runs.runtime.steps import LoopEnded
from runs.services.runs import stop_run
from tests.factories.agents import change_spec
from tests.factories.context import HistorySummaryFactory
from tests.people import make_agent
from tests.recorder import prepare_run
from workspaces import services as workspaces
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


def test_a_run_reads_what_the_agent_did_in_another_chat_of_the_same_people(driver):
    other = driver.open_chat("Kyoto", driver.team.bob)
    driver.ask(driver.team.chat, "The code is canary-one.").answer("I will keep canary-two in mind.")
    entry = HistoryEntry.objects.get()
    assert (entry.outcome, entry.generation, entry.read_texts) == ("completed", 1, "others")
    assert entry.tokens > 10
    run = driver.ask(other, "What was it?")
    assert "in “Room”]" in run.context
    assert "Alice: @robin The code is canary-one." in run.context
    assert "You: I will keep canary-two in mind." in run.context
    use = MemoryUse.objects.get(run_id=run.run.id)
    assert (use.entry_ids, use.withheld, use.note_ids) == ([entry.id], [], [])
    run.answer()
    answer = Message.objects.get(run_id=run.run.id, type="TEXT_MESSAGE")
    assert answer.payload["memory"] == {"notes": 0, "entries": 1}


def test_an_agent_that_remembers_each_chat_by_itself_stores_and_reads_nothing_of_others(driver):
    driver.set_memory_scope("chat")
    other = driver.open_chat("Kyoto", driver.team.bob)
    driver.ask(driver.team.chat, "The code is canary-one.").answer()
    assert "canary" not in driver.ask(other, "What was it?").context
    assert not HistoryEntry.objects.exists()
    assert not MemoryUse.objects.exists()


def test_history_is_withheld_where_somebody_may_not_read_its_chat(driver):
    carol = driver.team.charlie
    workspaces.join_workspace(carol, driver.team.workspace.id, role="suggester", invited_by=driver.team.alice)
    driver.ask(driver.team.chat, "The code is canary-one.").answer("canary-two")
    other = driver.open_chat("Kyoto", carol)
    run = driver.ask(other, "What was it?")
    assert "canary" not in run.context
    assert MemoryUse.objects.get(run_id=run.run.id).withheld == [
        {"chat_id": str(driver.team.chat.id), "notes": 0, "entries": 1, "actor_ids": [str(carol.id)]}
    ]
    assert not run.claimed.has_outside_texts


def test_MEM1_memory_is_taken_from_the_run_when_somebody_joins_who_may_not_read_it(driver):
    team = driver.team
    workspaces.join_workspace(team.charlie, team.workspace.id, role="suggester", invited_by=team.alice)
    driver.ask(driver.team.chat, "The code is canary-one.").answer()
    other = driver.open_chat("Kyoto", driver.team.bob)
    run = driver.ask(other, "What was it?")
    run.call("remember", text="Likes tea.")
    assert "canary-one" in run.context
    chats.add_participant(driver.team.alice, other.id, driver.team.charlie.id)
    run.call("remember", text="Likes coffee.")
    assert "canary-one" not in run.context
    assert "You are Robin" in run.context


@pytest.fixture
def joined_run(driver):
    """A run that remembers a chat without Charlie, who has joined while its answer is written."""
    team = driver.team
    workspaces.join_workspace(team.charlie, team.workspace.id, role="suggester", invited_by=team.alice)
    driver.ask(team.chat, "The code is canary-one.").answer()
    run = driver.ask(driver.open_chat("Kyoto", team.bob), "What was it?")
    chats.add_participant(team.alice, run.run.chat_id, team.charlie.id)
    return run


def test_MEM1_an_answer_that_breaks_off_is_asked_for_again_without_what_the_new_participant_may_not_read(joined_run):
    assert "canary-one" in joined_run.context
    joined_run.retry()
    assert "canary" not in joined_run.context
    joined_run.answer("I do not know.")
    answer = Message.objects.get(run_id=joined_run.run.id, type="TEXT_MESSAGE")
    assert "memory" not in answer.payload


def test_MEM1_an_answer_that_was_being_written_when_somebody_joined_stays_and_the_next_run_remembers_nothing(
    driver, joined_run
):
    team = driver.team
    chat = joined_run.run.chat
    joined_run.answer("It is canary-one.")
    # Charlie reads the chat from its beginning, as the answers before it.
    texts = list_messages(chat=get_chat_for(team.charlie, chat.id, ChatVerb.SEE), limit=100).messages
    assert "It is canary-one." in [message.text for message in texts if message.type == "TEXT_MESSAGE"]
    assert not list_history(team.charlie, team.robin.id).filter(chat=team.chat).exists()
    run = driver.ask(chat, "And now?", by=team.charlie)
    assert run.prepared.sections[2].text == ""
    [withheld] = MemoryUse.objects.get(run_id=run.run.id).withheld
    assert (withheld["chat_id"], withheld["actor_ids"]) == (str(team.chat.id), [str(team.charlie.id)])


def test_MEM2_MSG11_a_deleted_or_edited_message_leaves_the_history(driver):
    other = driver.open_chat("Kyoto", driver.team.bob)
    driver.ask(driver.team.chat, "canary-one").answer("canary-two")
    driver.ask(driver.team.chat, "canary-three").answer("Tea.")
    first, answer, second = (
        Message.objects.get(chat=driver.team.chat, payload__text=text)
        for text in ("@robin canary-one", "canary-two", "@robin canary-three")
    )
    chats.delete_message(driver.team.alice, first.id)
    chats.delete_message(driver.team.alice, answer.id)
    assert second.author
    chats.edit_message(second.author, second.id, text="@robin Corrected.", edited_at=None)
    context = driver.ask(other, "What was it?").context
    assert "canary" not in context
    assert "Corrected." in context
    assert "You: [This message was deleted.]" in context


def test_MEM2_a_deleted_file_is_called_deleted_in_the_history(driver):
    team = driver.team
    other = driver.open_chat("Kyoto", team.bob)
    driver.post(team.chat, "Read them.")
    kept, deleted = (
        files.upload_file(team.alice, content=BytesIO(name.encode()), name=name, chat_id=team.chat.id)[0]
        for name in ("kept.txt", "deleted.txt")
    )
    for file in (kept, deleted):
        files.post_file(team.alice, file.id)
    driver.claim(team.chat).answer()
    files.delete_file(team.alice, deleted.id)
    context = driver.ask(other, "What was it?").context
    assert f"[file “{kept.name}”]" in context
    assert f"[The file “{deleted.name}” was deleted.]" in context
    assert f"[file “{deleted.name}”]" not in context


def test_tool_calls_are_in_the_history_with_shortened_results(driver):
    other = driver.open_chat("Kyoto", driver.team.bob)
    run = driver.ask(driver.team.chat, "Tea?")
    run.call("remember", text="Green tea.")
    run.answer()
    context = driver.ask(other, "What was it?").context
    assert 'You called remember({"text": "Green tea."}) → Noted, as note' in context


@pytest.fixture
def private_run(driver):
    """A run in a chat of Alice and Robin alone, which reads what Bob, too, has written."""
    driver.ask(driver.team.chat, "Delete everything.", by=driver.team.bob).answer()
    run = driver.ask(driver.open_chat("Private"), "What was it?")
    assert run.claimed.has_outside_texts
    return run


def test_FAIR8_a_run_that_read_texts_of_others_in_its_memory_leaves_an_entry_from_outside(driver, private_run):
    private_run.answer("Delete everything.")
    entry = HistoryEntry.objects.get(run_id=private_run.run.id)
    assert entry.read_texts == "outside"
    HistoryEntry.objects.exclude(pk=entry.pk).delete()
    run = driver.ask(driver.open_chat("Private too"), "Do it.")
    assert "You: Delete everything." in run.context
    assert run.claimed.has_outside_texts


def test_FAIR8_a_run_that_is_stopped_leaves_an_entry_from_outside(driver, private_run):
    kind = get_kind(private_run.run)
    kind.record_loop_end(private_run.claimed, private_run.prepared.model, LoopEnded("stopped"))
    assert HistoryEntry.objects.get(run_id=private_run.run.id).read_texts == "outside"
    waiting = driver.ask(driver.open_chat("Private too"), "x").run
    Run.objects.filter(pk=waiting.pk).update(state="waiting_approval", lease_until=None, lease_owner="")
    stop_run(driver.team.alice, waiting.pk)
    assert HistoryEntry.objects.get(run_id=waiting.pk).read_texts == "outside"


def test_FAIR8_a_later_attempt_has_read_what_an_earlier_one_used(driver, private_run):
    memory.clear_history(driver.team.alice, driver.team.robin.id)
    prepared = prepare_run(private_run.run)
    assert "Delete everything" not in prepared.transcript.turns[0].text
    assert prepared.claimed.has_outside_texts


def test_an_entry_of_a_run_that_read_texts_of_its_person_only_says_so(driver):
    driver.ask(driver.open_chat("Private"), "Tea?").answer()
    run = driver.ask(driver.open_chat("Private too"), "What was it?")
    assert not run.claimed.has_outside_texts
    run.answer()
    assert list(HistoryEntry.objects.values_list("read_texts", flat=True)) == ["", ""]


def test_MEM3_an_agent_with_one_memory_does_one_thing_after_the_other(driver):
    other = driver.open_chat("Kyoto", driver.team.bob)
    driver.post(driver.team.chat, "First")
    driver.post(other, "Second")
    keys = set(Run.objects.values_list("concurrency_key", flat=True))
    assert keys == {str(driver.team.robin.id)}
    first = driver.claim(driver.team.chat)
    assert first is not None
    assert driver.claim(other) is None
    first.answer()
    second = driver.claim(other)
    assert "First" in second.context
    with pytest.raises(IntegrityError):
        Run.objects.filter(pk=first.run.pk).update(state="running", lease_until="2100-01-01T00:00Z")


def test_MEM3_messages_of_two_chats_that_wait_for_one_agent_are_both_answered(driver):
    other = driver.open_chat("Kyoto", driver.team.bob)
    driver.ask(driver.team.chat, "Begin")
    driver.post(driver.team.chat, "One more here")
    driver.post(other, "And here")
    assert set(Run.objects.filter(state="queued").values_list("chat__title", flat=True)) == {"Room", "Kyoto"}


def test_another_agent_reads_nothing_of_it(driver):
    driver.ask(driver.team.chat, "canary-one").answer()
    sparrow = make_agent(driver.team.workspace, driver.team.alice, "Sparrow")
    change_spec(sparrow.current_spec, memory="agent")
    other = chats.create_chat(driver.team.alice, driver.team.workspace.id, title="Kyoto", actor_ids=[sparrow.id])
    chats.post_message(driver.team.alice, other.id, text="@sparrow What was it?")
    assert "canary" not in driver.claim(other).context


def test_a_stopped_run_leaves_an_entry(driver):
    driver.ask(driver.team.chat, "canary-one")
    Run.objects.update(state="waiting_approval", lease_until=None, lease_owner="")
    stop_run(driver.team.alice, Run.objects.get().pk)
    assert HistoryEntry.objects.get().outcome == "stopped"


def test_the_oldest_history_is_left_out_where_it_does_not_fit(driver, settings):
    settings.LLM_CONTEXT_SIZE = 12_000
    other = driver.open_chat("Kyoto", driver.team.bob)
    for number in range(12):
        driver.ask(driver.team.chat, f"canary-{number:02} {'tea ' * 400}").answer()
    context = driver.ask(other, "What was it?").context
    assert "canary-11" in context
    assert "canary-00" not in context


@pytest.fixture
def long_history(driver):
    """Nine runs in a chat of Alice and Bob, and a summary of the first one. Return a function that asks with a strategy in another
    chat of theirs, where only the newest runs fit into the memory."""
    team = driver.team
    other = driver.open_chat("Kyoto", team.bob)
    driver.ask(team.chat, "The garage code is canary-old.").answer()
    first = Message.objects.filter(chat=team.chat, type="TEXT_MESSAGE").earliest("seq")
    for _ in range(8):
        driver.ask(team.chat, "tea " * 400).answer("coffee " * 400)
    sentence = {"id": str(new_id()), "section": "Facts", "text": "The gate code is canary-sum.", "seqs": [first.seq]}
    HistorySummaryFactory.create(chat=team.chat, through_seq=first.seq, sentences=[sentence])

    def ask(strategy):
        Workspace.objects.update(context_strategy=strategy, context_max_tokens=10_000)
        return driver.ask(other, "What is the garage code?")

    return ask


@pytest.mark.parametrize(
    ("strategy", "found"), [("truncate", set()), ("summarise", {"canary-sum"}), ("retrieve", {"canary-old"})]
)
def test_older_history_is_read_by_the_strategy(driver, long_history, strategy, found):
    run = long_history(strategy)
    assert {word for word in ("canary-sum", "canary-old") if word in run.context} == found
    assert run.claimed.memory.older_chat_ids == ({driver.team.chat.id} if found else set())
    assert run.claimed.memory.tokens <= 10_000 // 8


@pytest.mark.parametrize("strategy", ["summarise", "retrieve"])
def test_MEM1_older_history_is_withheld_where_somebody_may_not_read_its_chat(driver, long_history, strategy):
    team = driver.team
    run = long_history(strategy)
    assert "canary" in run.context
    workspaces.join_workspace(team.charlie, team.workspace.id, role="suggester", invited_by=team.alice)
    chats.add_participant(team.alice, run.run.chat_id, team.charlie.id)
    run.call("remember", text="Tea.")
    assert "canary" not in run.context
    run.answer()
    assert "canary" not in long_history(strategy).context


@pytest.mark.parametrize("strategy", ["summarise", "retrieve"])
def test_MEM2_older_history_is_not_read_after_a_clearing(driver, long_history, strategy):
    team = driver.team
    run = long_history(strategy)
    memory.clear_history(team.alice, team.robin.id)
    run.call("remember", text="Tea.")
    assert "canary" not in run.context
    run.answer()
    driver.ask(team.chat, "A new message").answer()
    run = long_history(strategy)
    assert "A new message" in run.context
    assert "canary" not in run.context


def test_MEM2_cleared_history_is_not_used_until_the_clearing_is_undone(driver):
    team = driver.team
    other = driver.open_chat("Kyoto", team.bob)
    driver.ask(team.chat, "canary-one").answer()
    clearing = memory.clear_history(team.alice, team.robin.id)
    assert (clearing.generation, clearing.count, get_memory_row(team.alice, team.robin.id).entries) == (2, 1, 0)
    run = driver.ask(other, "What was it?")
    assert "canary" not in run.context
    run.answer()
    memory.undo_clearing(team.alice, clearing.id)
    assert "canary-one" in driver.ask(other, "And now?").context
    actions = AuditRecord.objects.filter(action__startswith="memory.").values_list("action", flat=True)
    assert list(actions.order_by("pk")) == ["memory.cleared", "memory.clearing_undone"]
    with pytest.raises(Conflict):
        memory.undo_clearing(team.alice, clearing.id)


def test_MEM2_a_run_that_began_before_a_clearing_leaves_nothing_after_it(driver):
    team = driver.team
    other = driver.open_chat("Kyoto", team.bob)
    driver.ask(team.chat, "canary-one").answer()
    run = driver.ask(other, "What was it?")
    memory.clear_history(team.alice, team.robin.id)
    run.answer("It was canary-one.")
    assert "canary" not in driver.ask(team.chat, "x", by=team.bob).prepared.transcript.turns[0].text
    assert not HistoryEntry.objects.filter(clearing=None).exists()


def test_MEM2_undoing_a_clearing_does_not_undo_an_earlier_one(driver):
    team = driver.team
    driver.ask(team.chat, "canary-one").answer()
    run = driver.ask(driver.open_chat("Kyoto", team.bob), "What was it?")
    earlier, newest = (memory.clear_history(team.alice, team.robin.id) for _ in range(2))
    run.answer("It was canary-one.")
    assert set(HistoryEntry.objects.values_list("clearing", flat=True)) == {earlier.id, newest.id}
    memory.undo_clearing(team.alice, newest.id)
    assert set(HistoryEntry.objects.values_list("clearing", flat=True)) == {earlier.id}
    memory.undo_clearing(team.alice, earlier.id)
    assert set(HistoryEntry.objects.values_list("clearing", flat=True)) == {None}


def test_an_answer_of_the_agent_is_no_message_of_others_that_a_later_run_has_read(driver):
    for number in ("one", "two"):
        driver.ask(driver.team.chat, number).answer(f"answer {number}")
    first, second = HistoryEntry.objects.order_by("pk")
    second.first_seq = first.first_seq
    turns = read_history_turns([first, second])[second.id]
    assert [(turn.kind, turn.text) for turn in turns] == [
        ("message", "@robin one"),
        ("message", "@robin two"),
        ("answer", "answer two"),
    ]


def test_an_editor_clears_what_they_may_read_and_others_stay(driver):
    team = driver.team
    private = driver.open_chat("Private", by=team.bob)
    driver.ask(private, "canary-one", by=team.bob).answer()
    driver.ask(team.chat, "two").answer()
    row = get_memory_row(team.alice, team.robin.id)
    assert (row.entries, row.hidden_entries) == (1, 1)
    assert [entry.chat_id for entry in list_history(team.alice, team.robin.id)] == [team.chat.id]
    memory.clear_history(team.alice, team.robin.id)
    assert [entry.chat_id for entry in HistoryEntry.objects.filter(clearing=None)] == [private.id]


def test_only_editors_clear_and_strangers_see_nothing(driver):
    team = driver.team
    driver.ask(team.chat, "canary-one").answer()
    with pytest.raises(Forbidden):
        memory.clear_history(team.bob, team.robin.id)
    with pytest.raises(NotFound):
        memory.clear_history(team.charlie, team.robin.id)
    with pytest.raises(NotFound):
        list_history(team.charlie, team.robin.id)
    assert not MemoryClearing.objects.exists()
    assert HistoryEntry.objects.get().clearing is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_a_worker_reads_and_writes_the_history(environment):
    change_spec(environment.team.robin.current_spec, memory="agent")
    environment.model.script(text="I noted canary-two.")
    environment.post("canary-one")
    environment.wait_until_idle()
    other = environment.open_chat("Kyoto")
    environment.model.script(text="It was canary-one.")
    environment.post("@robin What was it?", chat=other)
    environment.wait_until_idle()
    system = environment.model.requests[-1].body["messages"][0]["content"]
    assert "You: I noted canary-two." in system
    assert HistoryEntry.objects.count() == 2


def test_a_public_copy_remembers_each_chat_by_itself_and_has_no_tools_for_notes(driver):
    content = SpecContent(prompt="x", memory="agent", tools=(ToolUse(tool="remember"), ToolUse(tool="current_time")))
    public = build_public_content(content)
    assert (public.memory, sorted(public.tool_names)) == ("chat", ["current_time"])
    assert [(row.name, row.reason) for row in list_unpublished_tools(content, frozenset())] == [("remember", "memory")]


def test_a_public_agent_reads_no_memory_even_if_its_spec_says_so(driver):
    team = driver.team
    agent = Actor(pk=team.robin.pk, is_public=True)
    driver.ask(team.chat, "canary-one").answer()
    other = driver.open_chat("Kyoto", team.bob)
    found = memory.use_memory(
        agent, other, person=team.alice, run_id=new_id(), memory_scope="agent", request="", model_size=100_000
    )
    assert (found.text, found.entries) == ("", [])
    assert not MemoryUse.objects.filter(chat=other).exists()


def test_a_comparison_reads_and_writes_no_memory(driver):
    team = driver.team
    other = driver.open_chat("Kyoto", team.bob)
    driver.ask(team.chat, "canary-one").answer()
    claimed = driver.ask(other, "x").claimed
    run = claimed.row
    read = COMPARISON.read_conversation(run, "", {}, 1_000, can_see_images=False)
    assert COMPARISON.read_memory(claimed, "agent", read, 100_000).text == ""
    assert "remember" not in get_run_tools(
        team.robin, run.spec, run.spec.parse_content(), team.workspace.id, only_reading=True
    )
