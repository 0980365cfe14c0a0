"""What a run reads of a chat that is too long for it, by strategy, and what its answer says about that."""

import re

import pytest

from agents.specs.content import ContextSettings, SpecContent
from chats import services as chats
from chats.models import Message
from common.clock import now
from common.ids import new_id
from context.models import AgentContext, HistorySummary, SummaryCorrection
from context.transcript import LogEntry
from files import services as files
from inspector.requests import get_sent_request
from llm.messages import Image
from llm.tokens import estimate_tokens
from runs.models import Run
from runs.runtime.claimed_run import ClaimedRun
from runs.runtime.history import find_earlier_context
from tests.factories.agents import change_spec
from tests.factories.files import FileFactory
from tests.factories.memory import NoteFactory
from tests.recorder import prepare_run
from tests.runs.test_takeover import claimed
from usage.models import LLMCall
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def long_chat(environment):
    """A chat of 200 messages of about 25 tokens each, for models that read 2,000."""
    team = environment.team
    Workspace.objects.update(context_max_tokens=2_000)
    rows = [
        Message(
            chat=team.chat,
            author=team.alice if number % 2 else team.bob,
            type="TEXT_MESSAGE",
            payload={"text": f"note {number}: " + "lorem ipsum dolor " * 5, "mentions": [], "wake": "nobody"},
            created_at=team.chat.created_at,
        )
        for number in range(200)
    ]
    rows[20].payload["text"] = "The garage code is 4711."
    chats.save_changes(team.chat.id, rows)
    return rows


def prepare(environment, text="What is the garage code?"):
    run = claimed(environment, text=text)
    prepared = prepare_run(run)
    Run.objects.filter(pk=run.pk).update(state="completed")
    return prepared


def read_text(prepared):
    return "\n".join(turn.text for turn in prepared.transcript.turns)


def add_summary(chat, through, *texts, seqs=None, state="ready"):
    sentences = [{"id": str(new_id()), "section": "Decided", "text": text, "seqs": seqs or [through]} for text in texts]
    return HistorySummary.objects.create(
        chat=chat, state=state, from_seq=1, through_seq=through, messages=100, sentences=sentences
    )


def test_a_chat_that_fits_is_read_whole_without_more_statements(environment):
    prepared = prepare(environment)
    assert prepared.claimed.earlier_context is None


def test_a_limit_of_the_workspace_or_the_agent_shortens_the_conversation(environment, long_chat):
    Workspace.objects.update(context_strategy="truncate", context_max_tokens=4_000)
    prepared = prepare(environment)
    turns = len(prepared.transcript.turns)
    assert (prepared.claimed.earlier_context.facts.limit, prepared.claimed.earlier_context.facts.limit_by) == (
        4_000,
        "workspace",
    )
    Workspace.objects.update(context_max_tokens=6_000)
    more = len(prepare(environment).transcript.turns)
    spec = environment.team.robin.current_spec
    change_spec(spec, context=ContextSettings(max_tokens=2_500))
    prepared = prepare(environment)
    fewer = len(prepared.transcript.turns)
    assert (prepared.claimed.earlier_context.facts.limit, prepared.claimed.earlier_context.facts.limit_by) == (
        2_500,
        "agent",
    )
    assert fewer < turns < more < 200


def test_truncate_keeps_the_newest_messages_and_important_events(environment, long_chat):
    Workspace.objects.update(context_strategy="truncate")
    saved = chats.build_system_message(
        environment.team.chat.id, "SPEC_SAVED", actor=environment.team.alice, target=environment.team.robin, version=7
    )
    chats.save_changes(environment.team.chat.id, [saved])
    Message.objects.filter(pk=saved.pk).update(seq=0)
    prepared = prepare(environment)
    text = read_text(prepared)
    assert "4711" not in text
    assert "[#0]" in text
    assert "Alice saved version 7 of Robin" in text
    assert prepared.transcript.turns[-1].text.endswith("What is the garage code?")
    facts = prepared.claimed.earlier_context.facts
    assert (facts.strategy, facts.found, facts.summary_through, facts.events) == ("truncate", [], None, 1)
    assert facts.turns == sum(turn.role == "user" for turn in prepared.transcript.turns)


def test_retrieve_adds_the_messages_that_match_the_request(environment, long_chat):
    Workspace.objects.update(context_strategy="retrieve")
    prepared = prepare(environment)
    assert f"[#{long_chat[20].seq}] Bob, " in prepared.transcript.turns[0].text
    assert "4711" in prepared.transcript.turns[0].text
    assert [one.message_id for one in prepared.claimed.earlier_context.facts.found][:1] == [long_chat[20].id]


def test_retrieve_reads_no_other_chat(environment, long_chat):
    Workspace.objects.update(context_strategy="retrieve")
    other = environment.open_chat("Private")
    environment.post("The garage code of the other house is 9999.", chat=other, wake="nobody")
    assert "other house" not in read_text(prepare(environment))


def test_summarise_reads_the_summary_and_the_messages_after_it(environment, long_chat):
    assert Workspace.objects.get(pk=environment.team.workspace.pk).context_strategy == "summarise"
    through = long_chat[180].seq
    add_summary(environment.team.chat, through, "The garage code is 4711.", seqs=[long_chat[20].seq])
    prepared = prepare(environment)
    system = prepared.transcript.turns[0].text
    assert f"- The garage code is 4711. [#{long_chat[20].seq}]" in system
    texts = [turn.text for turn in prepared.transcript.turns[1:]]
    assert "note 181: " in texts[0]
    assert not any("note 180: " in text for text in texts)
    assert prepared.claimed.earlier_context.facts.summary_through == through


def test_the_number_of_turns_is_that_of_the_messages_that_fit_also_if_the_summary_lags(environment, long_chat):
    add_summary(environment.team.chat, long_chat[50].seq, "The garage code is 4711.")
    prepared = prepare(environment)
    texts = [turn for turn in prepared.transcript.turns if turn.role == "user"]
    assert "note 51: " not in read_text(prepared)
    assert prepared.claimed.earlier_context.facts.turns == len(texts) < 100


def test_images_count_when_a_chat_is_too_long(environment):
    run = claimed(environment)
    image = Image("image/webp", b"")
    payload = {"name": "a.png", "kind": "image", "size": 1, "file_id": str(new_id())}
    entries = [
        LogEntry(new_id(), "FILE_MESSAGE", environment.team.alice.id, payload, image=image, seq=seq) for seq in range(4)
    ]
    assert find_earlier_context(ClaimedRun(run), "truncate", entries, 10_000) is None
    earlier = find_earlier_context(ClaimedRun(run), "truncate", entries, 3_000)
    assert earlier is not None
    assert earlier.facts is not None


def test_a_model_with_a_small_window_answers_in_the_end_with_less_of_summary_found_messages_and_memory(
    environment, long_chat, engine
):
    team = environment.team
    Workspace.objects.update(context_strategy="retrieve", context_max_tokens=20_000)
    rows = [
        Message(
            chat=team.chat,
            author=team.bob,
            type="TEXT_MESSAGE",
            created_at=team.chat.created_at,
            payload={"text": f"garage {number} " + "lorem ipsum dolor " * 60, "mentions": [], "wake": "nobody"},
        )
        for number in range(300)
    ]
    chats.save_changes(team.chat.id, rows)
    add_summary(team.chat, long_chat[180].seq, *[f"The garage number {number} is closed." for number in range(150)])
    for number in range(40):
        NoteFactory.create(
            agent=team.robin, workspace=team.workspace, chat=team.chat, text=f"Garage {number}: " + "blue " * 60
        )
    environment.model.script(text="It is 4711.")
    environment.model.script(mode="status", status=400, times=3, error="maximum context length is 2048 tokens")
    environment.post("What is the garage code?")
    environment.wait_until_idle()
    assert environment.log("TEXT_MESSAGE")[-1].payload["text"] == "It is 4711."

    sizes = [
        sum(estimate_tokens(turn["content"]) for turn in one.body["messages"]) for one in environment.model.requests
    ]
    assert sizes[0] > 6_000
    assert sizes[-1] < 0.2 * sizes[0]
    kinds = {}
    run = Run.objects.get()
    for number, call in enumerate(LLMCall.objects.order_by("pk")):
        blocks = get_sent_request(team.alice, run.id, call.id).blocks or ()
        kinds[number] = {block.kind: block for block in blocks if block.role == "system"}
        # No part has lost the line that ends it.
        for block in kinds[number].values():
            assert len(re.findall(r"^--- (?!end of).* ---$", block.text, re.M)) == block.text.count("--- end of ")
    assert {"retrieved", "summary", "memory"} <= kinds[0].keys()
    for kind in ("retrieved", "summary", "memory"):
        tokens = [kinds[number][kind].tokens if kind in kinds[number] else 0 for number in kinds]
        assert sorted(tokens, reverse=True) == tokens
        assert tokens[-1] < 0.6 * tokens[0]


def test_without_a_summary_older_messages_are_left_out_and_one_is_requested(environment, long_chat):
    add_summary(environment.team.chat, long_chat[180].seq, "not ready", state="failed")
    prepared = prepare(environment)
    assert "4711" not in read_text(prepared)
    assert prepared.claimed.earlier_context.needs_summary
    assert prepared.claimed.earlier_context.facts.summary_through is None


@pytest.mark.parametrize("text", ["The garage code is 4711.", "The garage is closed. " * 200])
def test_messages_that_fit_are_read_if_no_sentence_of_the_summary_is(environment, long_chat, text):
    add_summary(environment.team.chat, long_chat[187].seq, text, seqs=[long_chat[20].seq])
    if "4711" in text:
        Message.objects.filter(pk=long_chat[20].pk).update(deleted_at=now())
    prepared = prepare(environment)
    assert prepared.claimed.earlier_context.facts.summary_through is None
    assert "note 180: " in read_text(prepared)


def test_a_sentence_of_an_edited_or_deleted_message_is_not_read(environment, long_chat):
    chat = environment.team.chat
    add_summary(chat, long_chat[180].seq, "The garage code is 4711.", seqs=[long_chat[20].seq])
    HistorySummary.objects.update(
        sentences=[
            *HistorySummary.objects.get().sentences,
            {"id": str(new_id()), "section": "Decided", "text": "Another fact.", "seqs": [long_chat[21].seq]},
        ]
    )
    Message.objects.filter(pk=long_chat[20].pk).update(deleted_at=now())
    text = read_text(prepare(environment))
    assert "4711" not in text
    assert "Another fact." in text


def test_a_correction_is_read_instead_of_the_sentence(environment, long_chat):
    chat = environment.team.chat
    add_summary(chat, long_chat[180].seq, "The garage code is 4711.", seqs=[long_chat[20].seq])
    SummaryCorrection.objects.create(
        chat=chat,
        sentence_id=new_id(),
        section="Decided",
        old_text="The garage code is 4711.",
        new_text="The garage code is 4712.",
        seqs=[long_chat[20].seq],
        person=environment.team.alice,
    )
    text = read_text(prepare(environment))
    assert "4711" not in text
    assert "The garage code is 4712." in text


def test_the_strategy_of_an_agent_precedes_that_of_the_workspace(environment, long_chat):
    spec = environment.team.robin.current_spec
    change_spec(spec, context=ContextSettings(strategy="retrieve"))
    assert prepare(environment).claimed.earlier_context.facts.strategy == "retrieve"
    assert SpecContent().context.strategy == "default"


def test_an_answer_says_what_it_was_built_from_and_the_chat_that_the_strategy_is_new(environment, long_chat, engine):
    environment.model.script(text="It is 4711.")
    Workspace.objects.update(context_strategy="retrieve")
    for _ in range(2):
        environment.post("What is the garage code?")
        environment.wait_until_idle()
    [first, second] = environment.log("TEXT_MESSAGE")[-3::2]
    for answer in (first, second):
        context = answer.payload["stamp"]["context"]
        assert context["strategy"] == "retrieve"
        assert {"seq": long_chat[20].seq, "message_id": str(long_chat[20].id)} in context["found"]
    [line] = environment.log("CONTEXT_STRATEGY_CHANGED")
    assert (line.payload["target_name"], line.payload["strategy"]) == ("Robin", "retrieve")
    assert line.seq == first.seq - 1
    assert AgentContext.objects.get().strategy == "retrieve"


def pin(environment, *messages):
    for message in messages:
        chats.pin_message(environment.team.bob, environment.team.chat.id, message.id)


@pytest.mark.parametrize("strategy", ["truncate", "summarise", "retrieve"])
def test_older_pinned_messages_are_read_by_every_strategy(environment, long_chat, strategy):
    Workspace.objects.update(context_strategy=strategy)
    if strategy == "summarise":
        add_summary(environment.team.chat, long_chat[180].seq, "Nothing of importance.")
    pin(environment, long_chat[20])
    prepared = prepare(environment, text="What is for lunch?")
    system = prepared.transcript.turns[0].text
    assert f"[#{long_chat[20].seq}] Bob, " in system
    assert "The garage code is 4711." in system
    assert "Between the two lines with “pinned messages " in system
    assert prepared.claimed.earlier_context.facts.pinned == 1


def test_a_pinned_message_is_read_once(environment, long_chat):
    """Neither again as a found message or an event, nor if it is among the newest messages."""
    Workspace.objects.update(context_strategy="retrieve")
    file = FileFactory.create(chat=environment.team.chat, uploaded_by=environment.team.bob, posted_at=None, name="plan")
    files.post_file(environment.team.bob, file.id)
    Message.objects.filter(pk=file.pk).update(seq=0)
    pin(environment, long_chat[20], long_chat[195], Message.objects.get(pk=file.pk))
    prepared = prepare(environment)
    text = read_text(prepared)
    assert text.count("The garage code is 4711.") == 1
    assert text.count("note 195: ") == 1
    assert text.count("shared the file “plan”") == 1
    facts = prepared.claimed.earlier_context.facts
    assert (facts.pinned, facts.events) == (2, 0)
    assert long_chat[20].id not in [one.message_id for one in facts.found]


def test_the_last_pinned_messages_are_read_when_there_are_too_many(environment, long_chat):
    """A conversation of 2,000 tokens has about 500 for older messages, and pins get half of them beside a summary."""
    add_summary(environment.team.chat, long_chat[180].seq, "The garage code is 4711.", seqs=[long_chat[20].seq])
    pin(environment, *long_chat[60:80][::-1])
    prepared = prepare(environment)
    system = prepared.transcript.turns[0].text
    read = [number for number in range(60, 80) if f"note {number}: " in system]
    assert 3 <= len(read) < 15
    assert read == list(range(60, 60 + len(read)))  # pinned last, and in the order of the log
    assert [system.index(f"note {number}: ") for number in read] == sorted(
        system.index(f"note {number}: ") for number in read
    )
    assert "- The garage code is 4711." in system
    assert prepared.claimed.earlier_context.facts.pinned == len(read)


def test_long_pinned_messages_are_shortened_until_all_fit(environment, long_chat):
    Workspace.objects.update(context_strategy="truncate", context_max_tokens=4_000)
    long = long_chat[20:25]
    Message.objects.filter(pk__in=[one.pk for one in long]).update(payload={"text": "lorem " * 10_000, "mentions": []})
    lengths = []
    for count in (1, 5):
        pin(environment, *Message.objects.filter(pk__in=[one.pk for one in long[:count]]))
        system = prepare(environment).transcript.turns[0].text
        lines = [line for line in system.splitlines() if "lorem lorem" in line]
        assert len(lines) == count
        lengths.append(len(lines[0]))
    assert 1_200 < lengths[0] < 1_260
    assert 150 < lengths[1] < 1_260 / 2
