"""Reactions: what is an emoji, rights, the limit of a message, races, and what is published."""

import json
from uuid import uuid4

import pytest
from django.db import transaction

from chats import services as chats
from chats.emojis import find_emoji
from chats.models import ChatActor, Message
from chats.services.locking import lock_chat
from chats.services.reactions import MAX_REACTIONS
from common.errors import Code, Forbidden, Invalid, LimitReached, NotFound
from runs.models import Run
from tests.api.test_rights import client_for, fingerprint
from tests.concurrency import ConcurrentTransaction
from tests.realtime.recording import Recording
from tools.interface import ToolContext, ToolError
from tools.registry import registry

pytestmark = pytest.mark.django_db(transaction=True)

DIFFERENT = "😀😁😂🤣😃😄😅😆😉😊😋😎😍😘🥰😗😙🙂🤗🤩🤔"


@pytest.fixture
def message(team):
    return chats.post_message(team.alice, team.chat.id, text="Shall we? " * 500, wake="nobody")[0]


def react(team, message, emoji="👍", by="bob"):
    return chats.add_reaction(team[by], team.chat.id, message.id, emoji)


def read_reactions(message):
    stored = Message.objects.values_list("reactions", flat=True).get(pk=message.pk)
    return {reaction["emoji"]: reaction["actor_ids"] for reaction in stored or []}


@pytest.mark.parametrize(
    "emoji",
    ["👍", "👍🏽", "❤️", "👩‍💻", "👨‍👩‍👧‍👦", "🧑🏾‍🤝‍🧑🏻", "🏳️‍🌈", "🇹🇼", "🏴󠁧󠁢󠁷󠁬󠁳󠁿", "1️⃣", "#️⃣", "✅", "👁️‍🗨️", "🫠", "🐈‍⬛"],
)
def test_one_emoji_is_a_reaction(emoji):
    assert find_emoji(emoji) == find_emoji(f" {emoji}\n") == emoji


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "1",
        "#",
        "👍👍",
        "👍 👍",
        "👍a",
        "好",
        "🇹",
        "🇹🇼🇯",
        "<b>",
        "‍",
        "️",
        "🏽🏽",
        "👍\u0301",
        "👩‍",
        "👍\x00",
        "👩‍" * 20 + "👩",
        "e\u0301",
        "👍\ufe0f\u20e3",
        "👍\U000e0067\U000e0062\U000e007f",
        "🏴\U000e0067\U000e0062\U000e007f",
    ],
)
def test_nothing_else_is_a_reaction(team, message, text):
    before = fingerprint()
    with pytest.raises(Invalid, match="exactly one emoji"):
        react(team, message, text)
    assert fingerprint() == before


@pytest.mark.parametrize(
    ("emoji", "other"),
    [("❤\ufe0f", "❤"), ("👍", "👍\ufe0f"), ("❤\ufe0f\u200d🔥", "❤\u200d🔥"), ("👩\u200d💻", "👩\ufe0f\u200d💻")],
)
def test_the_same_emoji_in_another_style_is_one_reaction(team, message, emoji, other):
    react(team, message, other, by="alice")
    react(team, message, emoji, by="bob")
    assert read_reactions(message) == {emoji: [str(team.alice.id), str(team.bob.id)]}
    chats.remove_reaction(team.bob, team.chat.id, message.id, other)
    assert read_reactions(message) == {emoji: [str(team.alice.id)]}


def test_a_reaction_is_published_in_one_frame_and_wakes_nobody(team, message):
    unread = ChatActor.objects.filter(chat=team.chat).order_by("pk").values_list("last_read_seq", flat=True)
    before = list(unread)
    with Recording(f"chat:{team.chat.id}") as recording:
        react(team, message)
        [frame] = [json.loads(envelope["text"]) for envelope in recording.get_received()]
    [row] = frame["rows"]
    assert (row["kind"], row["id"], row["version"]) == ("message", str(message.id), frame["version"])
    assert row["reactions"] == [{"emoji": "👍", "actor_ids": [str(team.bob.id)]}]
    assert not Run.objects.exists()
    assert list(unread) == before


def test_a_second_time_changes_nothing(team, message):
    react(team, message)
    react(team, message, by="alice")
    before = fingerprint()
    react(team, message)
    assert fingerprint() == before
    chats.remove_reaction(team.bob, team.chat.id, message.id, "👍")
    assert read_reactions(message) == {"👍": [str(team.alice.id)]}
    before = fingerprint()
    chats.remove_reaction(team.bob, team.chat.id, message.id, "👍")
    assert fingerprint() == before
    chats.remove_reaction(team.alice, team.chat.id, message.id, "👍")
    assert Message.objects.get(pk=message.pk).reactions is None


def test_a_message_has_a_maximum_of_different_reactions(team, message):
    for emoji in DIFFERENT[:MAX_REACTIONS]:
        react(team, message, emoji)
    before = fingerprint()
    with pytest.raises(LimitReached) as error:
        react(team, message, DIFFERENT[MAX_REACTIONS])
    assert error.value.code == Code.TOO_MANY_REACTIONS
    assert fingerprint() == before
    react(team, message, DIFFERENT[0], by="alice")
    assert len(read_reactions(message)) == MAX_REACTIONS


def test_only_messages_of_the_conversation_of_this_chat_have_reactions(team, message):
    line = chats.pin_message(team.alice, team.chat.id, message.id) and Message.objects.get(type="MESSAGE_PINNED")
    deleted = chats.post_message(team.alice, team.chat.id, text="x", wake="nobody")[0]
    Message.objects.filter(pk=deleted.pk).update(payload={"text": "", "is_deleted": True})
    before = fingerprint()
    for other in (line, deleted):
        with pytest.raises(Invalid):
            react(team, other)
    elsewhere = chats.create_chat(team.alice, team.workspace.id, title="Elsewhere")
    before = fingerprint()
    with pytest.raises(NotFound):
        chats.add_reaction(team.alice, elsewhere.id, message.id, "👍")
    with pytest.raises((NotFound, Forbidden)):
        react(team, message, by="charlie")
    assert fingerprint() == before


def test_who_presses_twice_at_once_has_reacted_once(team, message):
    with transaction.atomic():
        react(team, message)
        other = ConcurrentTransaction(lambda: react(team, message))
    other.result()
    assert read_reactions(message) == {"👍": [str(team.bob.id)]}


def test_two_reactions_at_once_are_both_kept(team, message):
    with transaction.atomic():
        react(team, message)
        other = ConcurrentTransaction(lambda: react(team, message, "🎉", by="alice"))
    other.result()
    assert read_reactions(message) == {"👍": [str(team.bob.id)], "🎉": [str(team.alice.id)]}


def test_a_reaction_while_the_message_is_deleted_is_refused(team, message):
    with transaction.atomic():
        lock_chat(team.chat.id)
        Message.objects.filter(pk=message.pk).update(payload={"text": "", "is_deleted": True})
        other = ConcurrentTransaction(lambda: react(team, message))
    with pytest.raises(Invalid):
        other.result()
    assert read_reactions(message) == {}


def test_FAIR6_who_is_removed_meanwhile_neither_adds_nor_removes_a_reaction(team, message):
    react(team, message)
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.bob.id)
        other = ConcurrentTransaction(lambda: react(team, message, "🎉"))
    with pytest.raises(NotFound):
        other.result()
    with pytest.raises(NotFound):
        chats.remove_reaction(team.bob, team.chat.id, message.id, "👍")
    assert read_reactions(message) == {"👍": [str(team.bob.id)]}


def test_reactions_take_from_the_bucket_of_posts(team, message, settings):
    settings.RATES = {**settings.RATES, "posts": (0.01, 1)}  # per second, and at once
    api = client_for(team, "bob")
    path = f"chats/{team.chat.id}/messages/{message.id}/reactions/"
    api.ok("PUT", path + "👍")
    before = fingerprint()
    api.refused(429, "limit_reached", "PUT", path + "🎉")
    assert fingerprint() == before
    api.ok("DELETE", path + "👍")


def test_the_emoji_is_a_part_of_the_address(team, message):
    api = client_for(team, "bob")
    path = f"chats/{team.chat.id}/messages/{message.id}/reactions/"
    row = api.ok("PUT", path + "👩‍💻")
    assert row["reactions"] == [{"emoji": "👩‍💻", "actor_ids": [str(team.bob.id)]}]
    assert row["payload"]["text"] == message.text
    assert api.ok("GET", f"messages/{message.id}") == row
    before = fingerprint()
    api.refused(400, "invalid", "PUT", path + "x")
    assert fingerprint() == before
    assert api.ok("DELETE", path + "👩‍💻")["reactions"] is None


@pytest.fixture
def call(team):
    """Call the tool as Robin, who works for Alice. Return its output."""

    def run(*, chat_id=team.chat.id, **arguments):
        tool = registry["react"]
        context = ToolContext(actor=team.robin, on_behalf_of=team.alice, chat_id=chat_id, run_id=uuid4(), call_id="c")
        return tool.run(context, tool.parse_arguments(json.dumps(arguments)))

    return run


def test_an_agent_reacts_to_the_newest_message_of_others_or_to_a_numbered_one(team, message, call):
    newest = chats.post_message(team.bob, team.chat.id, text="Friday?", wake="nobody")[0]
    chats.post_message(team.robin, team.chat.id, text="A moment", wake="nobody")
    assert call(emoji="👀") == f"Reacted to message [#{newest.seq}]."
    call(emoji="✅", message=message.seq)
    call(emoji="✅", message=message.seq)
    assert read_reactions(newest) == {"👀": [str(team.robin.id)]}
    assert read_reactions(message) == {"✅": [str(team.robin.id)]}


def test_an_agent_reacts_only_in_its_chat_and_only_if_its_person_may(team, message, call):
    elsewhere = chats.create_chat(team.alice, team.workspace.id, title="Without Robin")
    chats.post_message(team.alice, elsewhere.id, text="x", wake="nobody")
    before = fingerprint()
    for refused in (
        (ToolError, {"chat_id": None}),
        (ToolError, {"message": 10_000}),
        (NotFound, {"chat_id": elsewhere.id}),
    ):
        with pytest.raises(refused[0]):
            call(emoji="👍", **refused[1])
    with pytest.raises(Invalid):
        call(emoji="seen")
    assert fingerprint() == before
    chats.remove_participant(team.bob, team.chat.id, team.alice.id)
    before = fingerprint()
    with pytest.raises(NotFound):
        call(emoji="👍")
    assert fingerprint() == before
