"""Drafts and their lock: claiming, writing, applying, saving, discarding and releasing them."""

from datetime import timedelta

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from agents import selectors
from agents.models import AgentSpec, Draft
from agents.services import drafts, stored_specs
from agents.specs.content import SpecContent, ToolUse
from chats import services as chats
from chats.models import Message
from common.errors import AppError, Code, Conflict, Forbidden, NotFound
from events.rows import SpecOrigin
from tests.people import make_agent

pytestmark = pytest.mark.django_db(transaction=True)

NEW = SpecContent(prompt="Answer like a pirate.")


def draft_args(team, who="alice", **more):
    return {"actor": team[who], "chat_id": team.chat.id, "agent_id": team.robin.id, **more}


def claim(team, who="alice", content=NEW):
    return drafts.claim_draft(**draft_args(team, who), content=content)


def list_system_messages(team):
    return list(Message.objects.filter(chat=team.chat, author=None).order_by("seq").values_list("type", flat=True))[3:]


def get_production(team):
    team.robin.refresh_from_db()
    return team.robin.current_spec


def test_the_first_edit_starts_the_draft_and_locks_it(team):
    draft = claim(team)
    assert (draft.lock_holder, draft.base_version, draft.written["prompt"]) == (team.alice, 1, NEW.prompt)
    assert list_system_messages(team) == ["DRAFT_STARTED"]
    assert get_production(team).parse_content().prompt == "Answer."


def test_writing_a_draft_raises_its_revision_and_not_the_version_of_the_chat(team):
    draft = claim(team)
    team.chat.refresh_from_db()
    version = team.chat.version
    written = drafts.write_draft(**draft_args(team), content=SpecContent(prompt="Aye"), revision=draft.revision)
    team.chat.refresh_from_db()
    assert (written.revision, written.written["prompt"]) == (draft.revision + 1, "Aye")
    assert team.chat.version == version


def test_another_person_cannot_write_a_locked_draft(team):
    draft = claim(team)
    with pytest.raises(Conflict) as refusal:
        claim(team, "bob")
    assert refusal.value.code == Code.DRAFT_LOCKED
    assert refusal.value.data["lock_holder_name"] == "Alice"
    with pytest.raises(Conflict):
        drafts.write_draft(**draft_args(team, "bob"), content=SpecContent(prompt="Mine"), revision=draft.revision)
    draft.refresh_from_db()
    assert (draft.written["prompt"], draft.lock_holder) == (NEW.prompt, team.alice)


@pytest.mark.parametrize(("minutes", "seconds", "is_free"), [(29, 59, False), (30, 1, True)])
def test_EDIT3_a_lock_ends_thirty_minutes_after_the_last_edit(team, minutes, seconds, is_free):
    start = timezone.now()
    with time_machine.travel(start - timedelta(minutes=10), tick=False):
        draft = claim(team)
    with time_machine.travel(start, tick=False):
        drafts.write_draft(**draft_args(team), content=NEW, revision=draft.revision)
    with time_machine.travel(start + timedelta(minutes=minutes, seconds=seconds), tick=False):
        if is_free:
            assert claim(team, "bob", None).lock_holder == team.bob
        else:
            with pytest.raises(Conflict):
                claim(team, "bob")


def test_EDIT2_a_former_lock_holder_cannot_write_save_or_apply(team):
    draft = claim(team)
    Draft.objects.update(lock_expires_at=timezone.now() - timedelta(seconds=1))
    claimed = claim(team, "bob", None)
    assert claimed.written["prompt"] == NEW.prompt
    for call_late in (
        lambda: drafts.write_draft(**draft_args(team), content=SpecContent(prompt="Late"), revision=draft.revision),
        lambda: drafts.save_draft(**draft_args(team), revision=draft.revision, base_version=1),
        lambda: drafts.apply_draft(**draft_args(team), revision=draft.revision),
    ):
        with pytest.raises(Conflict):
            call_late()
    draft.refresh_from_db()
    assert (draft.lock_holder, draft.written["prompt"], draft.revision) == (team.bob, NEW.prompt, claimed.revision)
    assert get_production(team).number == 1


def test_a_claim_in_a_second_tab_makes_the_revision_of_the_first_stale(team):
    first = claim(team)
    second = claim(team, content=None)
    assert second.revision == first.revision + 1
    with pytest.raises(Conflict) as refusal:
        drafts.write_draft(**draft_args(team), content=NEW, revision=first.revision)
    assert refusal.value.code == Code.STALE_REVISION
    assert refusal.value.data["draft"]["revision"] == second.revision


def test_a_person_can_lock_one_draft_at_a_time(team):
    with transaction.atomic():
        wren = make_agent(team.workspace, team.alice, "Wren")
        other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[wren.id])
    claim(team)
    with pytest.raises(Conflict) as refusal:
        drafts.claim_draft(actor=team.alice, chat_id=other.id, agent_id=wren.id)
    assert refusal.value.code == Code.OTHER_DRAFT_LOCKED
    assert refusal.value.data["chat_id"] == str(team.chat.id)
    Draft.objects.update(lock_expires_at=timezone.now() - timedelta(seconds=1))
    assert drafts.claim_draft(actor=team.alice, chat_id=other.id, agent_id=wren.id).agent == wren


def test_an_applied_draft_answers_in_its_chat_and_a_second_apply_has_no_effect(team):
    draft = claim(team)
    applied = drafts.apply_draft(**draft_args(team), revision=draft.revision)
    again = drafts.apply_draft(**draft_args(team), revision=draft.revision)
    assert (applied.status, applied.apply_count, again.apply_count) == ("applied", 1, 1)
    assert applied.applied is not None
    assert (applied.applied.content["prompt"], applied.applied.number) == (NEW.prompt, None)
    assert get_production(team).number == 1
    assert list_system_messages(team) == ["DRAFT_STARTED", "DRAFT_APPLIED"]
    written = drafts.write_draft(**draft_args(team), content=SpecContent(prompt="Other"), revision=draft.revision)
    assert (written.status, written.applied) == ("drafting", applied.applied)


def test_saving_a_draft_creates_the_next_version_and_ends_it(team):
    content = SpecContent(
        prompt="Better", model="m", tools=(ToolUse(tool="current_time", usage_instructions="Use it"),)
    )
    draft = claim(team, content=content)
    spec = drafts.save_draft(**draft_args(team), revision=draft.revision, base_version=1, message=" why ")
    assert get_production(team) == spec
    assert (spec.number, spec.message, spec.origin, spec.base_version) == (2, "why", "draft", 1)
    assert spec.author == team.alice
    assert spec.parse_content() == content
    draft.refresh_from_db()
    assert (draft.status, draft.outcome, draft.lock_holder) == ("ended", "saved", None)
    assert list_system_messages(team) == ["DRAFT_STARTED", "SPEC_SAVED"]
    with pytest.raises(NotFound):
        selectors.get_draft(**draft_args(team))


def test_a_suggester_can_write_and_apply_a_draft_but_not_save_it(team):
    draft = claim(team, "bob")
    drafts.apply_draft(**draft_args(team, "bob"), revision=draft.revision)
    with pytest.raises(Forbidden):
        drafts.save_draft(**draft_args(team, "bob"), revision=draft.revision, base_version=1)
    assert get_production(team).number == 1
    assert AgentSpec.objects.filter(agent=team.robin, number__isnull=False).count() == 1


def test_a_draft_on_an_older_version_cannot_be_saved_before_a_rebase(team):
    draft = claim(team, "alice")
    newer = stored_specs.write_spec(
        team.robin, SpecContent(prompt="Newer"), author=team.bob, origin=SpecOrigin.DRAFT, number=2
    )
    team.robin.current_spec = newer
    team.robin.save()
    with pytest.raises(Conflict) as refusal:
        drafts.save_draft(**draft_args(team), revision=draft.revision, base_version=1)
    assert refusal.value.code == Code.STALE_BASE
    assert refusal.value.data["production"]["content"]["prompt"] == "Newer"
    assert get_production(team) == newer
    rebased = drafts.rebase_draft(**draft_args(team), revision=draft.revision)
    spec = drafts.save_draft(**draft_args(team), revision=rebased.revision, base_version=2)
    assert (spec.number, spec.content["prompt"]) == (3, NEW.prompt)


def test_a_draft_can_be_discarded_by_its_starter_and_by_editors(team):
    draft = claim(team)
    Draft.objects.update(lock_holder=None, lock_expires_at=None)
    with pytest.raises(Forbidden):
        drafts.discard_draft(**draft_args(team, "bob"), revision=draft.revision)
    assert Draft.objects.get().status == "drafting"
    drafts.discard_draft(**draft_args(team), revision=draft.revision)
    draft_of_bob = claim(team, "bob")
    drafts.discard_draft(**draft_args(team, "alice"), revision=draft_of_bob.revision)
    unchanged = claim(team, "bob", None)
    drafts.discard_draft(**draft_args(team, "alice"), revision=unchanged.revision)
    discarded = Message.objects.filter(type="DRAFT_DISCARDED").order_by("seq")
    assert [message.payload["authors"] for message in discarded] == [[], ["Bob"], []]
    assert set(Draft.objects.values_list("outcome", flat=True)) == {"discarded"}
    assert get_production(team).number == 1


def test_releasing_a_draft_unlocks_it_and_discards_an_unchanged_one(team):
    unchanged = claim(team, content=None)
    drafts.release_draft(**draft_args(team), revision=unchanged.revision)
    unchanged.refresh_from_db()
    assert unchanged.status == "ended"
    changed = claim(team)
    drafts.release_draft(**draft_args(team), revision=changed.revision)
    assert claim(team, "bob", None).written["prompt"] == NEW.prompt


def test_a_person_outside_the_workspace_can_neither_read_nor_change_a_draft(team):
    draft = claim(team)
    for attempt in (
        lambda: selectors.get_draft(**draft_args(team, "charlie")),
        lambda: claim(team, "charlie"),
        lambda: drafts.write_draft(**draft_args(team, "charlie"), content=NEW, revision=draft.revision),
        lambda: drafts.save_draft(**draft_args(team, "charlie"), revision=draft.revision, base_version=1),
        lambda: drafts.discard_draft(**draft_args(team, "charlie"), revision=draft.revision),
    ):
        with pytest.raises(NotFound):
            attempt()
    draft.refresh_from_db()
    assert (draft.status, draft.revision) == ("drafting", 1)


def test_leaving_the_chat_releases_the_lock_of_the_person(team):
    claim(team, "bob")
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    assert Draft.objects.get().lock_holder is None
    assert claim(team, "alice", None).written["prompt"] == NEW.prompt


def test_a_tool_that_does_not_exist_is_refused_before_anything_is_stored(team):
    with pytest.raises(AppError):
        claim(team, content=SpecContent(tools=(ToolUse(tool="no_such_tool"),)))
    assert not Draft.objects.exists()
