"""Handing a draft over to a requester, the trial of its text, and releasing another draft that is in the way."""

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


def draft_args(team, who="alice"):
    return {"actor": team[who], "chat_id": team.chat.id, "agent_id": team.robin.id}


def claim(team, who="alice", prompt="Text"):
    content = team.robin.current_spec.parse_content().model_copy(update={"prompt": prompt})
    return drafts.claim_draft(**draft_args(team, who), content=content)


# --- handing over -------------------------------------------------------------------------------------------------


def hand_over(team, draft, to="bob", by="alice", revision=None):
    return drafts.hand_over_draft(**draft_args(team, by), revision=revision or draft.revision, to=team[to].id)


def assert_handover_refused(team, error, code, draft, **arguments):
    before = Draft.objects.values().get(pk=draft.pk)
    with pytest.raises(error) as refusal:
        hand_over(team, draft, **arguments)
    assert refusal.value.code == code
    assert Draft.objects.values().get(pk=draft.pk) == before
    assert not Notification.objects.filter(type="draft_handed_over").exists()


def test_the_row_of_a_draft_lists_its_requesters_until_the_lock_ends(team):
    draft = claim(team, "alice")
    for _ in range(2):
        drafts.request_draft(**draft_args(team, "bob"))
    draft.refresh_from_db()
    team.chat.refresh_from_db()
    assert (draft.to_row().requested_by, draft.version) == ([team.bob.id], team.chat.version)
    released = drafts.release_draft(**draft_args(team, "alice"), revision=draft.revision)
    assert released.to_row().requested_by == []


def test_a_handover_passes_on_the_lock_and_keeps_the_text(team):
    draft = claim(team, "alice", "Alice's text")
    drafts.request_draft(**draft_args(team, "bob"))
    handed_over = hand_over(team, draft)
    assert (handed_over.lock_holder, handed_over.revision, handed_over.written["prompt"]) == (
        team.bob,
        draft.revision + 1,
        "Alice's text",
    )
    assert handed_over.requested_by == []
    assert not LockWaiter.objects.filter(person=team.bob).exists()
    [notification] = Notification.objects.filter(type="draft_handed_over")
    assert (notification.person, notification.actor_name) == (team.bob, "Alice")
    with pytest.raises(Conflict) as refusal:
        drafts.write_draft(
            **draft_args(team, "alice"), content=build_content(handed_over, "mine"), revision=handed_over.revision
        )
    assert refusal.value.code == Code.DRAFT_LOCKED
    written = drafts.write_draft(
        **draft_args(team, "bob"), content=build_content(handed_over, "Bob's"), revision=handed_over.revision
    )
    assert written.written["prompt"] == "Bob's"
    assert [text.written["prompt"] for text in DraftSnapshot.objects.all()] == ["Alice's text"]


def build_content(draft, prompt):
    return SpecContent.model_validate(draft.written | {"prompt": prompt})


def test_only_the_lock_holder_can_hand_a_draft_over_and_only_to_a_requester(team):
    draft = claim(team, "alice", "Text")
    assert_handover_refused(team, Conflict, Code.NOT_REQUESTED, draft)
    drafts.request_draft(**draft_args(team, "bob"))
    draft.refresh_from_db()
    assert_handover_refused(team, Conflict, Code.STALE_REVISION, draft, revision=draft.revision + 1)
    assert_handover_refused(team, Conflict, Code.DRAFT_LOCKED, draft, by="bob")
    assert_handover_refused(team, Conflict, Code.NOT_REQUESTED, draft, to="charlie")
    assert_handover_refused(team, Conflict, Code.NOT_REQUESTED, draft, to="robin")
    assert_handover_refused(team, NotFound, Code.NOT_FOUND, draft, by="charlie")
    hand_over(team, draft)
    with pytest.raises(Conflict):
        hand_over(team, draft)
    assert Notification.objects.filter(type="draft_handed_over").count() == 1


def test_a_requester_who_edits_another_draft_or_has_left_cannot_get_the_draft(team):
    draft = claim(team, "alice", "Text")
    drafts.request_draft(**draft_args(team, "bob"))
    draft.refresh_from_db()
    other = chats.create_chat(team.bob, team.workspace.id, title="Other", actor_ids=[team.robin.id])
    locked_draft = drafts.claim_draft(actor=team.bob, chat_id=other.id, agent_id=team.robin.id)
    assert_handover_refused(team, Conflict, Code.RECIPIENT_BUSY, draft)
    drafts.discard_draft(actor=team.bob, chat_id=other.id, agent_id=team.robin.id, revision=locked_draft.revision)
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    draft.refresh_from_db()
    assert_handover_refused(team, Conflict, Code.RECIPIENT_BUSY, draft)


# --- the trial of a text -----------------------------------------------------------------------------------------------


def test_the_trial_row_says_whether_the_text_is_applied_and_has_answered_in_the_chat(team):
    def get_trial():
        row = selectors.get_draft_trial(**draft_args(team, "bob"))
        return row.is_applied, row.is_tried

    draft = claim(team, "alice", "New text")
    assert get_trial() == (False, False)
    applied = drafts.apply_draft(**draft_args(team, "alice"), revision=draft.revision)
    assert get_trial() == (True, False)
    fields = {"agent": team.robin, "spec": applied.applied, "ended": True}
    other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[])
    RunFactory.create(chat=other, **fields)
    RunFactory.create(chat=team.chat, **fields, state="failed")
    assert get_trial() == (True, False)
    RunFactory.create(chat=team.chat, **fields)
    assert get_trial() == (True, True)
    written = drafts.write_draft(
        **draft_args(team, "alice"), content=build_content(draft, "Newer"), revision=applied.revision
    )
    assert get_trial() == (False, False)
    drafts.write_draft(**draft_args(team, "alice"), content=build_content(draft, "New text"), revision=written.revision)
    assert get_trial() == (True, True), "the written text equals the applied one again"


def test_the_other_draft_named_by_a_conflict_can_be_released_from_another_chat(team):
    other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[team.robin.id])
    locked_draft = claim(team, "alice", "Kept text")
    with pytest.raises(Conflict) as refusal:
        drafts.claim_draft(actor=team.alice, chat_id=other.id, agent_id=team.robin.id)
    data = refusal.value.data
    assert (data["chat_id"], data["revision"]) == (str(team.chat.id), locked_draft.revision)
    drafts.release_draft(
        actor=team.alice, chat_id=UUID(data["chat_id"]), agent_id=UUID(data["agent_id"]), revision=data["revision"]
    )
    assert drafts.claim_draft(actor=team.alice, chat_id=other.id, agent_id=team.robin.id).lock_holder == team.alice
    assert Draft.objects.get(pk=locked_draft.pk).written["prompt"] == "Kept text"
