"""Posting messages: idempotent ids, order, rights, mentions and read cursors."""

import json
import time
import uuid
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from actors import services as actors
from actors.models import Actor
from chats import services as chats
from chats.mentions import list_mentions
from chats.models import ChatActor, Message
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Code, Conflict, Invalid, NotFound, TooLarge
from common.ids import new_id
from runs.models import Run
from tests.api.test_rights import client_for
from tests.people import make_agent
from tests.queries import record_statements
from waking.api.bodies import MAX_PREVIEWED_TEXT
from waking.services.wake import preview_wakes

pytestmark = pytest.mark.django_db(transaction=True)


def post(team, text="hello", author="alice", **fields):
    fields.setdefault("id", new_id())
    return chats.post_message(team[author], team.chat.id, text=text, **fields)


def test_MSG1_the_same_message_twice_is_one_message(team):
    id = new_id()
    first, is_new = post(team, id=id)
    again, is_new_again = post(team, id=id)
    assert (is_new, is_new_again) == (True, False)
    assert (again.id, again.seq) == (first.id, first.seq)
    assert Message.objects.filter(type="TEXT_MESSAGE").count() == 1


def test_MSG1_a_text_that_is_cleaned_can_be_posted_again_with_the_same_id(team):
    id = new_id()
    first, _ = post(team, "nul \x00 inside", id=id)
    again, is_new_again = post(team, "nul \x00 inside", id=id)
    assert (again.id, again.text, is_new_again) == (first.id, "nul  inside", False)


@pytest.mark.parametrize(
    ("author", "text"), [("alice", "something else"), ("bob", "hello")], ids=["other text", "other author"]
)
def test_MSG1_an_id_of_another_message_is_refused(team, author, text):
    id = new_id()
    post(team, id=id)
    version = chat_version(team)
    with pytest.raises(Conflict) as refusal:
        post(team, text, author, id=id)
    assert refusal.value.code == Code.ID_TAKEN
    assert Message.objects.filter(type="TEXT_MESSAGE").count() == 1
    assert chat_version(team) == version


def chat_version(team):
    team.chat.refresh_from_db()
    return team.chat.version


def test_each_message_takes_the_next_number_of_its_chat(team):
    version = chat_version(team)
    seqs = [post(team, f"{n}")[0].seq for n in range(3)]
    assert seqs == [version + 1, version + 2, version + 3]
    assert chat_version(team) == version + 3


def test_an_outsider_cannot_post_and_gets_not_found(team):
    version = chat_version(team)
    with pytest.raises(NotFound):
        post(team, author="charlie")
    assert chat_version(team) == version
    assert not Message.objects.filter(type="TEXT_MESSAGE").exists()


@pytest.mark.parametrize(("text", "error"), [("   ", Invalid), ("x" * 200_001, TooLarge)])
def test_a_blank_or_too_long_message_is_refused(team, text, error):
    version = chat_version(team)
    with pytest.raises(error):
        post(team, text)
    assert chat_version(team) == version


def test_a_message_can_contain_any_unicode_text(team):
    text = "你好，世界 👩‍👩‍👧‍👦 \u202e <script>alert(1)</script> \x00 end"
    message, _ = post(team, text)
    message.refresh_from_db()
    assert message.text == text.replace("\x00", "")


def test_only_handles_of_participants_are_mentions(team):
    message, _ = post(team, "@robin你好 and @Alice, not @charlie nor mail@bob.example nor @nobody")
    assert message.payload["mentions"] == [str(team.robin.id), str(team.alice.id)]


def test_at_all_mentions_all_people_of_the_chat_and_no_agent(team):
    message, _ = post(team, "@bob first, then @ALL, but not @allison")
    assert message.payload["mentions"] == [str(team.bob.id), str(team.alice.id)]
    assert post(team, "mail all@example.org")[0].payload["mentions"] == []


MENTIONS = json.loads((Path(__file__).parents[1] / "fixtures" / "mentions.json").read_text())
"""The table with which the composer and the reader of the web app are tested, too."""


@pytest.fixture
def participants(team):
    with transaction.atomic():
        agents = [make_agent(team.workspace, team.alice, row["name"]) for row in MENTIONS["participants"][:-1]]
        for agent in agents:
            chats.add_participant(team.alice, team.chat.id, agent.id)
    for agent, row in zip(agents, MENTIONS["participants"], strict=False):
        Actor.objects.filter(pk=agent.pk).update(handle=row["handle"])
    return {
        row["handle"]: str(agent.pk) for row, agent in zip(MENTIONS["participants"], [*agents, team.bob], strict=True)
    }


def test_the_mentions_of_a_message_are_those_of_the_shared_table(team, participants):
    for case in MENTIONS["cases"]:
        text = case.get("sent", case["typed"])
        found = [[each.handle, each.start, each.end] for each in list_mentions(text) if each.handle in participants]
        assert found == case["mentions"], case["id"]
        ids = list(dict.fromkeys(participants[handle] for handle, *_ in case["mentions"]))
        assert post(team, text)[0].payload["mentions"] == ids, case["id"]


@pytest.mark.parametrize(
    "text",
    [
        "@a " * 60_000,
        "@" + "a_-" * 60_000,
        "@ " + " ".join("`" * length for length in range(600)),
        "@ " + "`a" * 90_000,
        "@\n" + "> " * 90_000,
        "@\n" + " " * 180_000,
        "@\n" + "~~~\n```\n" * 20_000,
    ],
    ids=["mentions", "one word", "fences of each length", "code", "quotes", "spaces", "blocks"],
)
def test_mentions_are_found_quickly_in_every_text(text):
    start = time.process_time()
    assert len(list(list_mentions(text))) in (0, 60_000)
    assert time.process_time() - start < 3


def test_FAIR3_finding_mentions_reads_only_the_mentioned_participants(team):
    read = []
    for size in range(2):
        with record_statements() as asked:
            assert chats.find_mentions(team.chat, "@bob and @nobody") == [team.bob.id]
        read.append((len(asked.statements), asked.count_rows("chats_chatactor")))
        with transaction.atomic():
            for number in range(20):
                chats.add_participant(
                    team.alice, team.chat.id, make_agent(team.workspace, team.alice, f"Agent {size} {number}").id
                )
    assert read == [(1, 1), (1, 1)]
    with record_statements() as asked:
        assert set(chats.find_mentions(team.chat, "@robin, and @all")) == {team.robin.id, team.bob.id, team.alice.id}
    assert asked.count_rows("chats_chatactor") == 3


def test_FAIR3_a_text_with_very_many_handles_does_not_make_a_large_query(team):
    handles = " ".join(f"@{number:x}" for number in range(30_000))
    with CaptureQueriesContext(connection) as queries:
        message, _ = post(team, f"{handles} @bob")
        preview_wakes(team.alice, team.chat.id, text=f"{handles} @bob")
    assert message.payload["mentions"] == [str(team.bob.id)]
    asked = [query["sql"] for query in queries if '"actors_actor"."handle"' in query["sql"]]
    assert len(asked) >= 2
    assert max(map(len, asked)) < 3000


def test_FAIR3_a_wake_preview_refuses_a_text_that_nobody_types(team):
    path = f"chats/{team.chat.id}/wakes"
    api = client_for(team, "alice")
    api.refused(400, "invalid", "POST", path, {"text": "x" * (MAX_PREVIEWED_TEXT + 1)})
    api.ok("POST", path, {"text": "x" * MAX_PREVIEWED_TEXT})


def test_SEC2_a_reply_to_a_message_of_another_chat_is_refused(team):
    with transaction.atomic():
        other = chats.create_chat(team.alice, team.workspace.id, title="Other")
    other_message, _ = chats.post_message(team.alice, other.id, id=new_id(), text="there")
    with pytest.raises(NotFound):
        post(team, "here", reply_to=other_message.id)
    assert post(team, "here", reply_to=post(team)[0].id)[0].reply_to_id


def test_the_read_cursor_moves_forward_only_and_at_most_to_the_last_message(team):
    message, _ = post(team)
    chat = get_chat_for(team.bob, team.chat.id, ChatVerb.SEE)
    assert chats.mark_read(team.bob, chat.id, seq=message.seq) == message.seq
    assert chats.mark_read(team.bob, chat.id, seq=1) == message.seq
    assert chats.mark_read(team.bob, chat.id, seq=10**30) == chat_version(team)


def test_a_reply_to_an_unknown_message_is_refused(team):
    with pytest.raises(NotFound):
        post(team, reply_to=uuid.uuid4())


def test_two_actors_with_the_same_handle_are_both_mentioned(team):
    """A person may have an agent's handle, and an agent a person's: both are mentioned."""
    with transaction.atomic():
        actors.update_profile(team.bob, handle=team.robin.handle)
    again = ChatActor.objects.get(chat=team.chat, actor=team.bob)
    again.joined_at = now()
    again.save(update_fields=["joined_at"])
    assert post(team, "@robin hello")[0].payload["mentions"] == [str(team.robin.id), str(team.bob.id)]
    assert Run.objects.get().agent_id == team.robin.id
