"""Which drafts are being edited in a workspace, and where, as far as the reader may know."""

from datetime import timedelta
from typing import Any

import pytest

from agents import selectors
from agents.models import Draft
from agents.services import drafts
from chats import services as chats
from common.clock import now
from common.redis_client import redis_client
from tests.api.test_rights import client_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def private(team):
    """A chat of Alice's and Robin's in which nobody else takes part."""
    return chats.create_chat(team.alice, team.workspace.id, title="Private", actor_ids=[team.robin.id])  # fmt: skip


def take(team, who, chat=None):
    return drafts.claim_draft(actor=team[who], chat_id=(chat or team.chat).id, agent_id=team.robin.id)


def listed(team, who) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client_for(team, who).ok("GET", f"workspaces/{team.workspace.id}/locked-drafts")[
        "results"
    ]
    return found


def test_everybody_in_the_chat_learns_who_edits_and_where(team):
    take(team, "alice")
    for who in ("alice", "bob"):
        [held] = listed(team, who)
        assert (held["lock_holder"]["name"], held["agent_id"]) == (team.alice.name, str(team.robin.id))
        assert (held["chat_id"], held["chat_title"]) == (str(team.chat.id), team.chat.title)


def test_member_outside_the_chat_learns_who_edits_but_not_where(team, private):
    take(team, "alice", private)
    [held] = listed(team, "bob")
    assert held["lock_holder"]["name"] == team.alice.name
    assert (held["chat_id"], held["chat_title"]) == (None, None)
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    assert listed(team, "bob")[0]["chat_id"] is None


def test_draft_that_nobody_edits_any_more_is_not_listed(team):
    draft = take(team, "alice")
    drafts.release_draft(actor=team.alice, chat_id=team.chat.id, agent_id=team.robin.id, revision=draft.revision)
    assert listed(team, "alice") == []
    take(team, "bob")
    assert len(listed(team, "alice")) == 1
    Draft.objects.filter(ended_at=None).update(lock_expires_at=now() - timedelta(minutes=1))
    assert listed(team, "alice") == []


def test_workspace_is_told_when_an_edit_begins_or_ends_and_not_while_it_lasts(
    team, monkeypatch, django_capture_on_commit_callbacks
):
    sent: list[Any] = []
    monkeypatch.setattr(redis_client, "publish", lambda messages: sent.extend(messages))

    def bells(act) -> int:
        sent.clear()
        with django_capture_on_commit_callbacks(execute=True):
            act()
        return sum(b'"list":"drafts"' in text for _, text in sent)

    where = {"chat_id": team.chat.id, "agent_id": team.robin.id}
    assert bells(lambda: take(team, "alice")) == 1
    assert bells(lambda: take(team, "alice")) == 0
    held = selectors.get_draft(actor=team.alice, **where)
    assert bells(lambda: drafts.discard_draft(actor=team.alice, revision=held.revision, **where)) == 1
    assert bells(lambda: take(team, "bob")) == 1
