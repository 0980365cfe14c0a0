"""Thumbs on answers: who gives them, what they are stored with, who reads them, and what is published."""

import json
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.db import transaction

from chats import services as chats
from chats.models import Message, Thumb
from common.errors import Forbidden, Invalid, NotFound
from events.rows import ThumbReason, ThumbValue
from runs.models import Run
from tests.api.test_rights import client_for, fingerprint
from tests.concurrency import ConcurrentTransaction
from tests.factories.chats import make_answer
from tests.realtime.recording import Recording

pytestmark = pytest.mark.django_db(transaction=True)

DOWN, UP = ThumbValue.DOWN, ThumbValue.UP


@pytest.fixture
def answer(team):
    return make_answer(team.chat, team.robin, "We are 12.")


def give(team, answer, value=DOWN, by="bob", **fields):
    return chats.give_thumb(team[by], team.chat.id, answer.id, value=value, **fields)


def read(team, by, path):
    response = client_for(team, by)("GET", path)
    assert response.status_code == 200, response.content
    return response.json()


def list_thumbs(team, by="alice", **query):
    return read(team, by, f"agents/{team.robin.id}/thumbs?{urlencode(query)}")["results"]


def count_thumbs(team, by="alice"):
    return read(team, by, f"agents/{team.robin.id}/thumbs/counts")


def test_a_thumb_is_published_at_once_without_its_text_and_wakes_nobody(team, answer):
    with Recording(f"chat:{team.chat.id}") as recording:
        give(team, answer, reason=ThumbReason.WRONG_FACT, text=" We are 14. ")
        frames = [json.loads(envelope["text"]) for envelope in recording.get_received()]
    [frame] = frames
    [row] = frame["rows"]
    assert row["thumbs"] == {"up": [], "down": [str(team.bob.id)]}
    assert "We are 14" not in json.dumps(frame)
    assert not Run.objects.exists()
    thumb = Thumb.objects.get()
    assert (thumb.reason, thumb.text, thumb.agent) == ("wrong_fact", "We are 14.", team.robin)
    assert (thumb.spec_id, thumb.agent_version, thumb.draft_apply) == (team.robin.current_spec_id, 1, None)


def test_a_thumb_on_the_answer_of_a_draft_names_the_draft(team):
    spec_id = uuid4()
    answer = make_answer(team.chat, team.robin, spec_id=str(spec_id), version=None, draft_apply=3, draft_by="Alice")
    give(team, answer)
    thumb = Thumb.objects.get()
    assert (thumb.spec_id, thumb.agent_version, thumb.draft_apply) == (spec_id, None, 3)


def test_a_person_has_one_thumb_on_an_answer_and_takes_it_back(team, answer):
    give(team, answer, text="Wrong.")
    give(team, answer, by="alice")
    row = give(team, answer, UP).thumbs
    assert row == {"up": [str(team.bob.id)], "down": [str(team.alice.id)]}
    assert list(Thumb.objects.filter(person=team.bob).values_list("value", "text")) == [("up", "")]

    version = Message.objects.get(pk=answer.id).version
    give(team, answer, UP, text="Short and right.")  # who finds it good has not changed
    assert Message.objects.get(pk=answer.id).version == version

    for by in ("bob", "bob", "alice"):
        chats.take_back_thumb(team[by], team.chat.id, answer.id)
    assert Message.objects.get(pk=answer.id).thumbs is None
    assert not Thumb.objects.exists()


def test_two_people_give_thumbs_at_the_same_time(team, answer):
    with transaction.atomic():
        give(team, answer, UP)
        alice = ConcurrentTransaction(lambda: give(team, answer, by="alice"))
    alice.result()
    assert Message.objects.get(pk=answer.id).thumbs == {"up": [str(team.bob.id)], "down": [str(team.alice.id)]}


def test_a_refused_thumb_changes_nothing(team, answer):
    mine = chats.post_message(team.alice, team.chat.id, text="hello", wake="nobody")[0]
    compared = make_answer(team.chat, team.robin, compared=str(uuid4()), side="draft")
    greeting = make_answer(team.chat, team.robin)
    Message.objects.filter(pk=greeting.pk).update(payload={**greeting.payload, "greeting": True})
    before = fingerprint()
    for error, by, message, fields in (
        (Forbidden, "robin", answer, {}),
        (NotFound, "charlie", answer, {}),
        (NotFound, "bob", Message(id=uuid4()), {}),
        (Invalid, "bob", mine, {}),
        (Invalid, "bob", compared, {}),
        (Invalid, "bob", greeting, {}),
        (Invalid, "bob", answer, {"value": UP, "reason": ThumbReason.TOO_LONG}),
        (Invalid, "bob", answer, {"text": "x" * 501}),
    ):
        with pytest.raises(error):
            give(team, message, by=by, **fields)
    assert fingerprint() == before


def test_editors_read_the_thumbs_on_an_agent_with_the_answer_and_its_version(team, answer):
    give(team, answer, reason=ThumbReason.WRONG_FACT, text="We are 14.")
    give(team, make_answer(team.chat, team.robin, "A" * 900), UP, by="alice")
    good, bad = list_thumbs(team)
    assert bad["person"]["id"] == str(team.bob.id)
    assert (bad["value"], bad["reason"], bad["text"]) == ("down", "wrong_fact", "We are 14.")
    assert (bad["excerpt"], bad["agent_version"]) == ("We are 12.", 1)
    assert (bad["message_id"], bad["chat_id"]) == (str(answer.id), str(team.chat.id))
    assert good["excerpt"] == "A" * 300
    assert [thumb["value"] for thumb in list_thumbs(team, value="up")] == ["up"]
    first = read(team, "alice", f"agents/{team.robin.id}/thumbs?limit=1")
    assert [thumb["id"] for thumb in list_thumbs(team, cursor=first["next"])] == [bad["id"]]
    assert count_thumbs(team) == {"up": 1, "down": 1, "unreadable": 0}


def test_a_thumb_in_a_chat_that_the_editor_may_not_read_is_only_counted(team):
    other = chats.create_chat(team.bob, team.workspace.id, title="Bob's", actor_ids=[team.robin.id])
    answer = make_answer(other, team.robin, "A secret.")
    chats.give_thumb(team.bob, other.id, answer.id, value=DOWN, text="Not so.")
    assert list_thumbs(team) == []
    assert count_thumbs(team) == {"up": 0, "down": 1, "unreadable": 1}
    chats.add_participant(team.bob, other.id, team.alice.id)
    assert [thumb["chat_title"] for thumb in list_thumbs(team)] == ["Bob's"]
    assert count_thumbs(team) == {"up": 0, "down": 1, "unreadable": 0}


def test_a_person_lists_only_their_own_thumbs_in_a_chat(team, answer):
    give(team, answer, text="We are 14.")
    give(team, answer, by="alice", text="No.")
    [row] = read(team, "bob", f"chats/{team.chat.id}/thumbs")["results"]
    assert (row["message_id"], row["text"]) == (str(answer.id), "We are 14.")
