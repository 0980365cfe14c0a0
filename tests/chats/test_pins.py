"""Pinning messages: rights, the limit of a chat, what can be pinned, and what is published."""

import json

import pytest
from django.db import transaction

from chats import services as chats
from chats.models import Chat, Message
from chats.services.pins import MAX_PINS
from common.errors import Code, Forbidden, Invalid, LimitReached, NotFound
from events.models import AuditRecord
from files import services as files
from runs.models import Run
from tests.api.test_rights import client_for, fingerprint
from tests.concurrency import ConcurrentTransaction
from tests.factories.chats import MessageFactory
from tests.factories.files import FileFactory
from tests.people import make_agent
from tests.realtime.recording import Recording

pytestmark = pytest.mark.django_db(transaction=True)

METADATA = {"agent": {"name": "finch", "displayName": "Finch", "depth": 1, "path": ["robin", "finch"]}, "call_id": "1"}


@pytest.fixture
def message(team):
    return chats.post_message(team.alice, team.chat.id, text="The code is 4711.", wake="nobody")[0]


def pin(team, message, by="bob"):
    return chats.pin_message(team[by], team.chat.id, message.id)


def list_lines(team):
    return list(Message.objects.filter(chat=team.chat, type="MESSAGE_PINNED").order_by("seq"))


def count_pins(team):
    return Chat.objects.values_list("pin_count", flat=True).get(pk=team.chat.pk)


def add_message(team, **fields):
    """Store a message that no service of this test creates."""
    chat = Chat.objects.get(pk=team.chat.pk)
    Chat.objects.filter(pk=chat.pk).update(version=chat.version + 1)
    return MessageFactory.create(chat=chat, seq=chat.version + 1, **{"author": team.robin, **fields})


def test_a_participant_pins_a_message_and_all_sockets_get_it_with_a_line_that_wakes_nobody(team, message):
    with Recording(f"chat:{team.chat.id}") as recording:
        pinned = pin(team, message)
        frames = [json.loads(envelope["text"]) for envelope in recording.get_received()]
    assert (pinned.pinned_at is not None, pinned.pinned_by, count_pins(team)) == (True, team.bob, 1)
    [frame] = frames
    rows = {row.get("type", row["kind"]): row for row in frame["rows"]}
    assert rows["TEXT_MESSAGE"]["pinned_by"] == str(team.bob.id)
    assert rows["TEXT_MESSAGE"]["pinned_at"] is not None
    assert rows["chat"]["pin_count"] == 1
    line = rows["MESSAGE_PINNED"]["payload"]
    assert (line["actor_name"], line["message_id"]) == ("Bob", str(message.id))
    assert not Run.objects.exists()


def test_pinning_and_unpinning_twice_changes_nothing_the_second_time(team, message):
    first = pin(team, message)
    before = fingerprint()
    again = pin(team, message, by="alice")
    assert (again.pinned_at, again.pinned_by) == (first.pinned_at, team.bob)
    assert fingerprint() == before

    unpinned = chats.unpin_message(team.alice, team.chat.id, message.id)
    assert (unpinned.pinned_at, unpinned.pinned_by_id, count_pins(team)) == (None, None, 0)
    before = fingerprint()
    chats.unpin_message(team.alice, team.chat.id, message.id)
    assert fingerprint() == before
    assert len(list_lines(team)) == 1
    actions = AuditRecord.objects.filter(object_id=message.id).order_by("pk").values_list("action", "actor__name")
    assert list(actions) == [("message.pinned", "Bob"), ("message.unpinned", "Alice")]


def test_a_chat_has_at_most_fifty_pinned_messages(team, message):
    texts = [chats.post_message(team.alice, team.chat.id, text=f"{n}", wake="nobody")[0] for n in range(MAX_PINS)]
    for text in texts[:-1]:
        pin(team, text)
    pin(team, texts[-1])
    before = fingerprint()
    with pytest.raises(LimitReached) as refusal:
        pin(team, message)
    assert (refusal.value.code, refusal.value.hints) == (
        Code.TOO_MANY_PINS,
        ["Unpin a message that is no longer needed."],
    )
    assert fingerprint() == before
    chats.unpin_message(team.bob, team.chat.id, texts[0].id)
    pin(team, message)
    assert count_pins(team) == MAX_PINS


def test_two_people_who_pin_the_same_message_at_once_pin_it_once(team, message):
    with transaction.atomic():
        chats.lock_chat(team.chat.id)
        other = ConcurrentTransaction(lambda: pin(team, message, by="alice"))
        pin(team, message)
    assert other.result().pinned_by == team.bob
    assert (count_pins(team), len(list_lines(team))) == (1, 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": METADATA},
        {"payload": {"text": "left", "stamp": {"spec_id": "x", "compared": "y"}}},
        {"payload": {"text": "gone", "is_deleted": True}},
        {"type": "TOOL_CALL", "payload": {"call_id": "1", "name": "clock", "arguments": "{}", "step": 1}},
        {"type": "COMPARISON", "author": None, "payload": {"text": "Which?"}},
        {"type": "MEMBER_JOINED", "author": None, "payload": {"actor_name": "Alice"}},
    ],
    ids=["of a sub-agent", "of a comparison", "deleted", "tool call", "comparison", "system message"],
)
def test_only_texts_and_files_of_the_conversation_can_be_pinned(team, fields):
    stored = add_message(team, **fields)
    before = fingerprint()
    with pytest.raises(Invalid):
        pin(team, stored)
    assert fingerprint() == before


def test_the_answer_of_an_agent_can_be_pinned(team):
    answer = add_message(team, run_id=team.chat.id, payload={"text": "It is 4711.", "stamp": {"spec_id": "x"}})
    assert pin(team, answer).pinned_by == team.bob


def test_a_deleted_file_is_unpinned(team):
    file = FileFactory.create(chat=team.chat, uploaded_by=team.bob, posted_at=None)
    files.post_file(team.bob, file.id)
    pin(team, file)
    assert count_pins(team) == 1
    files.delete_file(team.alice, file.id)
    stored = Message.objects.get(pk=file.id)
    assert (stored.payload["is_deleted"], stored.pinned_at, stored.pinned_by, count_pins(team)) == (True, None, None, 0)


def test_a_message_of_another_chat_is_not_found(team, message):
    other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[])
    before = fingerprint()
    for change in (chats.pin_message, chats.unpin_message):
        with pytest.raises(NotFound):
            change(team.alice, other.id, message.id)
        with pytest.raises(NotFound):
            change(team.charlie, team.chat.id, message.id)
    assert fingerprint() == before


def test_an_editor_who_only_reads_a_chat_between_agents_pins_nothing_in_it(team):
    finch = make_agent(team.workspace, team.alice, "Finch")
    chat, _ = chats.open_direct_chat(team.alice, team.workspace.id, finch.id, agent_id=team.robin.id)
    said, _ = chats.post_message(team.robin, chat.id, text="hello", wake="nobody")
    before = fingerprint()
    for change in (chats.pin_message, chats.unpin_message):
        with pytest.raises(Forbidden):
            change(team.alice, chat.id, said.id)
    assert fingerprint() == before
    chats.pin_message(finch, chat.id, said.id)
    [row] = client_for(team, "alice").ok("GET", f"chats/{chat.id}/pins")["results"]
    assert row["pinned_by"] == str(finch.id)


def test_the_list_has_the_last_pinned_message_first_and_shortens_long_texts(team, message):
    api = client_for(team, "bob")
    long, _ = chats.post_message(team.alice, team.chat.id, text="x" * 1_000, wake="nobody")
    file = FileFactory.create(chat=team.chat, uploaded_by=team.bob, posted_at=None, name="plan.pdf")
    files.post_file(team.bob, file.id)
    for id in (file.id, long.id, message.id):
        assert api.ok("PUT", f"chats/{team.chat.id}/messages/{id}/pin")["pinned_by"] == str(team.bob.id)
    rows = api.ok("GET", f"chats/{team.chat.id}/pins")["results"]
    assert [row["id"] for row in rows] == [str(message.id), str(long.id), str(file.id)]
    assert [row["payload"].get("text", "") for row in rows] == ["The code is 4711.", "x" * 300, ""]
    assert rows[2]["payload"]["name"] == "plan.pdf"
    assert api.ok("GET", f"chats/{team.chat.id}")["chat"]["pin_count"] == 3

    assert api.ok("DELETE", f"chats/{team.chat.id}/messages/{long.id}/pin")["pinned_at"] is None
    assert len(api.ok("GET", f"chats/{team.chat.id}/pins")["results"]) == 2


def test_pins_take_from_the_bucket_of_posts(team, message, settings):
    settings.RATES = {**settings.RATES, "posts": (0.01, 1)}  # per second, and at once
    api = client_for(team, "bob")
    api.ok("PUT", f"chats/{team.chat.id}/messages/{message.id}/pin")
    before = fingerprint()
    api.refused(429, "limit_reached", "PUT", f"chats/{team.chat.id}/messages/{message.id}/pin")
    assert fingerprint() == before
