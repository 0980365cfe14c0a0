"""The list of locked drafts of a workspace, with the chats that the reader may see."""

from datetime import timedelta
from typing import Any

import pytest

from agents import selectors
from agents.models import Draft
from agents.services import drafts
from chats import services as chats
from common.clock import now
from common.errors import Conflict
from common.redis_client import redis_client
from tests.api.test_rights import client_for
from tests.people import make_agent

pytestmark = pytest.mark.django_db


@pytest.fixture
def private(team):
    """A chat in which only Alice and Robin take part."""
    return chats.create_chat(team.alice, team.workspace.id, title="Private", actor_ids=[team.robin.id])


def claim(team, who, chat=None):
    return drafts.claim_draft(actor=team[who], chat_id=(chat or team.chat).id, agent_id=team.robin.id)


def list_locked_drafts(team, who) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client_for(team, who).ok("GET", f"workspaces/{team.workspace.id}/locked-drafts")[
        "results"
    ]
    return rows


def test_participants_see_who_edits_a_draft_and_in_which_chat(team):
    claim(team, "alice")
    for who in ("alice", "bob"):
        [locked] = list_locked_drafts(team, who)
        assert (locked["lock_holder"]["name"], locked["agent_id"]) == (team.alice.name, str(team.robin.id))
        assert (locked["chat_id"], locked["chat_title"]) == (str(team.chat.id), team.chat.title)


def test_members_outside_the_chat_see_who_edits_a_draft_but_not_its_chat(team, private):
    claim(team, "alice", private)
    [locked] = list_locked_drafts(team, "bob")
    assert locked["lock_holder"]["name"] == team.alice.name
    assert (locked["chat_id"], locked["chat_title"]) == (None, None)
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    assert list_locked_drafts(team, "bob")[0]["chat_id"] is None


def test_editors_see_a_draft_in_a_chat_between_agents_by_the_names_of_both(team):
    quill = make_agent(team.workspace, team.alice, "Quill")
    chat, _ = chats.open_direct_chat(team.robin, team.workspace.id, quill.id)
    claim(team, "alice", chat)
    [locked] = list_locked_drafts(team, "alice")
    assert (locked["chat_id"], locked["chat_title"]) == (str(chat.id), "Robin · Quill")
    [locked] = list_locked_drafts(team, "bob")
    assert (locked["chat_id"], locked["chat_title"]) == (None, None)
    with pytest.raises(Conflict) as refusal:
        claim(team, "alice")
    assert refusal.value.data is not None
    assert refusal.value.data["chat_title"] == "Robin · Quill"
    assert len(list_locked_drafts(team, "alice")) == 1


def test_released_and_expired_drafts_are_not_listed(team):
    draft = claim(team, "alice")
    drafts.release_draft(actor=team.alice, chat_id=team.chat.id, agent_id=team.robin.id, revision=draft.revision)
    assert list_locked_drafts(team, "alice") == []
    claim(team, "bob")
    assert len(list_locked_drafts(team, "alice")) == 1
    Draft.objects.filter(ended_at=None).update(lock_expires_at=now() - timedelta(minutes=1))
    assert list_locked_drafts(team, "alice") == []


def test_list_changed_is_published_when_a_lock_starts_or_ends_and_not_when_it_is_renewed(
    team, monkeypatch, django_capture_on_commit_callbacks
):
    sent: list[Any] = []
    monkeypatch.setattr(redis_client, "publish", lambda messages: sent.extend(messages))

    def count_list_changed(act) -> int:
        sent.clear()
        with django_capture_on_commit_callbacks(execute=True):
            act()
        return sum(b'"list":"drafts"' in text for _, text in sent)

    draft_args = {"chat_id": team.chat.id, "agent_id": team.robin.id}
    assert count_list_changed(lambda: claim(team, "alice")) == 1
    assert count_list_changed(lambda: claim(team, "alice")) == 0
    locked = selectors.get_draft(actor=team.alice, **draft_args)
    assert (
        count_list_changed(lambda: drafts.discard_draft(actor=team.alice, revision=locked.revision, **draft_args)) == 1
    )
    assert count_list_changed(lambda: claim(team, "bob")) == 1
