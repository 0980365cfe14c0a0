"""Handing a draft over to who asked for it, trying it before it is saved, closing the one that stands in the way."""

from uuid import UUID

import pytest

from agents import selectors
from agents.models import Draft, DraftSnapshot, LockWaiter
from agents.services import drafts
from agents.specs.content import SpecContent
from chats import services as chats
from common.errors import Code, Conflict, NotFound
from notifications.models import Notification
from tests.factories.runs import RunFactory

pytestmark = pytest.mark.django_db


def where(team, who="alice"):
    return {"actor": team[who], "chat_id": team.chat.id, "agent_id": team.robin.id}


def take(team, who="alice", prompt="Words"):
    content = team.robin.current_spec.content().model_copy(update={"prompt": prompt})
    return drafts.claim_draft(**where(team, who), content=content)


# --- handing over -------------------------------------------------------------------------------------------------


def given_to(team, draft, to="bob", by="alice", revision=None):
    return drafts.hand_over_draft(**where(team, by), revision=revision or draft.revision, to=team[to].id)


def refused_to_hand_over(team, error, code, draft, **more):
    before = Draft.objects.values().get(pk=draft.pk)
    with pytest.raises(error) as refusal:
        given_to(team, draft, **more)
    assert refusal.value.code == code
    assert Draft.objects.values().get(pk=draft.pk) == before
    assert not Notification.objects.filter(type="draft_handed_over").exists()


def test_who_asks_is_seen_by_everybody_in_the_chat_until_the_lock_ends(team):
    draft = take(team, "alice")
    for _ in range(2):
        drafts.request_draft(**where(team, "bob"))
    draft.refresh_from_db()
    team.chat.refresh_from_db()
    assert (draft.to_row().requested_by, draft.version) == ([team.bob.id], team.chat.version)
    released = drafts.release_draft(**where(team, "alice"), revision=draft.revision)
    assert released.to_row().requested_by == []


def test_the_lock_holder_hands_the_draft_over_with_all_that_is_written(team):
    draft = take(team, "alice", "Alice's words")
    drafts.request_draft(**where(team, "bob"))
    given = given_to(team, draft)
    assert (given.lock_holder, given.revision, given.written["prompt"]) == (
        team.bob,
        draft.revision + 1,
        "Alice's words",
    )
    assert given.requested_by == []
    assert not LockWaiter.objects.filter(person=team.bob).exists()
    [told] = Notification.objects.filter(type="draft_handed_over")
    assert (told.person, told.actor_name) == (team.bob, "Alice")
    with pytest.raises(Conflict) as refusal:
        drafts.write_draft(**where(team, "alice"), content=given_content(given, "mine"), revision=given.revision)
    assert refusal.value.code == Code.DRAFT_LOCKED
    written = drafts.write_draft(**where(team, "bob"), content=given_content(given, "Bob's"), revision=given.revision)
    assert written.written["prompt"] == "Bob's"
    assert [text.written["prompt"] for text in DraftSnapshot.objects.all()] == ["Alice's words"]


def given_content(draft, prompt):
    return SpecContent.model_validate(draft.written | {"prompt": prompt})


def test_a_draft_is_handed_over_once_and_only_by_its_lock_holder_to_who_has_asked(team):
    draft = take(team, "alice", "Words")
    refused_to_hand_over(team, Conflict, Code.NOT_REQUESTED, draft)
    drafts.request_draft(**where(team, "bob"))
    draft.refresh_from_db()
    refused_to_hand_over(team, Conflict, Code.STALE_REVISION, draft, revision=draft.revision + 1)
    refused_to_hand_over(team, Conflict, Code.DRAFT_LOCKED, draft, by="bob")
    refused_to_hand_over(team, Conflict, Code.NOT_REQUESTED, draft, to="charlie")
    refused_to_hand_over(team, Conflict, Code.NOT_REQUESTED, draft, to="robin")
    refused_to_hand_over(team, NotFound, Code.NOT_FOUND, draft, by="charlie")
    given_to(team, draft)
    with pytest.raises(Conflict):
        given_to(team, draft)
    assert Notification.objects.filter(type="draft_handed_over").count() == 1


def test_nobody_is_handed_a_draft_who_writes_another_or_has_left(team):
    draft = take(team, "alice", "Words")
    drafts.request_draft(**where(team, "bob"))
    draft.refresh_from_db()
    other = chats.create_chat(team.bob, team.workspace.id, title="Other", actor_ids=[team.robin.id])
    held = drafts.claim_draft(actor=team.bob, chat_id=other.id, agent_id=team.robin.id)
    refused_to_hand_over(team, Conflict, Code.RECIPIENT_BUSY, draft)
    drafts.discard_draft(actor=team.bob, chat_id=other.id, agent_id=team.robin.id, revision=held.revision)
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    draft.refresh_from_db()
    refused_to_hand_over(team, Conflict, Code.RECIPIENT_BUSY, draft)


# --- what was tried -----------------------------------------------------------------------------------------------


def test_whether_a_text_was_applied_and_has_answered_here_is_told(team):
    def trial():
        row = selectors.get_draft_trial(**where(team, "bob"))
        return row.is_applied, row.is_tried

    draft = take(team, "alice", "New words")
    assert trial() == (False, False)
    applied = drafts.apply_draft(**where(team, "alice"), revision=draft.revision)
    assert trial() == (True, False)
    about = {"agent": team.robin, "spec": applied.applied, "ended": True}
    other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[])
    RunFactory.create(chat=other, **about)
    RunFactory.create(chat=team.chat, **about, state="failed")
    assert trial() == (True, False)
    RunFactory.create(chat=team.chat, **about)
    assert trial() == (True, True)
    written = drafts.write_draft(
        **where(team, "alice"), content=given_content(draft, "Newer"), revision=applied.revision
    )
    assert trial() == (False, False)
    drafts.write_draft(**where(team, "alice"), content=given_content(draft, "New words"), revision=written.revision)
    assert trial() == (True, True), "what was applied is written again"


def test_the_other_draft_that_stands_in_the_way_can_be_closed_from_where_one_is(team):
    other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[team.robin.id])
    held = take(team, "alice", "Kept words")
    with pytest.raises(Conflict) as refusal:
        drafts.claim_draft(actor=team.alice, chat_id=other.id, agent_id=team.robin.id)
    data = refusal.value.data
    assert (data["chat_id"], data["revision"]) == (str(team.chat.id), held.revision)
    drafts.release_draft(
        actor=team.alice, chat_id=UUID(data["chat_id"]), agent_id=UUID(data["agent_id"]), revision=data["revision"]
    )
    assert drafts.claim_draft(actor=team.alice, chat_id=other.id, agent_id=team.robin.id).lock_holder == team.alice
    assert Draft.objects.get(pk=held.pk).written["prompt"] == "Kept words"
