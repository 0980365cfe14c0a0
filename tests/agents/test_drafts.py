"""Drafts and their lock: who holds, what is written, applied, saved; and that nothing is lost or overwritten."""

from datetime import timedelta

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from agents import selectors
from agents.models import AgentSpec, Draft, Origin
from agents.services import drafts, specs
from agents.specs.content import SpecContent, ToolUse
from chats import services as chats
from chats.models import Message
from common.errors import AppError, Code, Conflict, Forbidden, NotFound
from tests.people import make_agent

pytestmark = pytest.mark.django_db(transaction=True)

NEW = SpecContent(prompt="Answer like a pirate.")


def where(team, who="alice", **more):
    return {"actor": team[who], "chat_id": team.chat.id, "agent_id": team.robin.id, **more}


def take(team, who="alice", content=NEW):
    return drafts.claim_draft(**where(team, who), content=content)


def lines(team):
    return list(Message.objects.filter(chat=team.chat, author=None).order_by("seq").values_list("type", flat=True))[3:]


def production(team):
    team.robin.refresh_from_db()
    return team.robin.current_spec


def test_the_first_edit_starts_the_draft_and_locks_it(team):
    draft = take(team)
    assert (draft.lock_holder, draft.base_version, draft.written["prompt"]) == (team.alice, 1, NEW.prompt)
    assert lines(team) == ["DRAFT_STARTED"]
    assert production(team).prompt == "Answer."


def test_typing_raises_the_revision_and_changes_nothing_in_the_log(team):
    draft = take(team)
    team.chat.refresh_from_db()
    version = team.chat.version
    written = drafts.write_draft(**where(team), content=SpecContent(prompt="Aye"), revision=draft.revision)
    team.chat.refresh_from_db()
    assert (written.revision, written.written["prompt"]) == (draft.revision + 1, "Aye")
    assert team.chat.version == version


def test_nobody_else_writes_what_somebody_locks(team):
    draft = take(team)
    with pytest.raises(Conflict) as refusal:
        take(team, "bob")
    assert refusal.value.code == Code.DRAFT_LOCKED
    assert refusal.value.data["lock_holder_name"] == "Alice"
    with pytest.raises(Conflict):
        drafts.write_draft(**where(team, "bob"), content=SpecContent(prompt="Mine"), revision=draft.revision)
    draft.refresh_from_db()
    assert (draft.written["prompt"], draft.lock_holder) == (NEW.prompt, team.alice)


@pytest.mark.parametrize(("minutes", "seconds", "is_free"), [(29, 59, False), (30, 1, True)])
def test_EDIT3_a_lock_ends_thirty_minutes_after_the_last_edit(team, minutes, seconds, is_free):
    start = timezone.now()
    with time_machine.travel(start - timedelta(minutes=10), tick=False):
        draft = take(team)
    with time_machine.travel(start, tick=False):
        drafts.write_draft(**where(team), content=NEW, revision=draft.revision)
    with time_machine.travel(start + timedelta(minutes=minutes, seconds=seconds), tick=False):
        if is_free:
            assert take(team, "bob", None).lock_holder == team.bob
        else:
            with pytest.raises(Conflict):
                take(team, "bob")


def test_EDIT2_after_a_takeover_the_old_lock_holder_writes_no_more_and_keeps_the_words(team):
    draft = take(team)
    Draft.objects.update(lock_expires_at=timezone.now() - timedelta(seconds=1))
    taken = take(team, "bob", None)
    assert taken.written["prompt"] == NEW.prompt
    for late in (
        lambda: drafts.write_draft(**where(team), content=SpecContent(prompt="Late"), revision=draft.revision),
        lambda: drafts.save_draft(**where(team), revision=draft.revision, base_version=1),
        lambda: drafts.apply_draft(**where(team), revision=draft.revision),
    ):
        with pytest.raises(Conflict):
            late()
    draft.refresh_from_db()
    assert (draft.lock_holder, draft.written["prompt"], draft.revision) == (team.bob, NEW.prompt, taken.revision)
    assert production(team).number == 1


def test_a_second_tab_of_the_same_person_takes_over_and_the_first_is_told(team):
    first = take(team)
    second = take(team, content=None)
    assert second.revision == first.revision + 1
    with pytest.raises(Conflict) as refusal:
        drafts.write_draft(**where(team), content=NEW, revision=first.revision)
    assert refusal.value.code == Code.STALE_REVISION
    assert refusal.value.data["draft"]["revision"] == second.revision


def test_one_person_writes_one_draft_anywhere(team):
    with transaction.atomic():
        wren = make_agent(team.workspace, team.alice, "Wren")
        other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[wren.id])
    take(team)
    with pytest.raises(Conflict) as refusal:
        drafts.claim_draft(actor=team.alice, chat_id=other.id, agent_id=wren.id)
    assert refusal.value.code == Code.OTHER_DRAFT_LOCKED
    assert refusal.value.data["chat_id"] == str(team.chat.id)
    Draft.objects.update(lock_expires_at=timezone.now() - timedelta(seconds=1))
    assert drafts.claim_draft(actor=team.alice, chat_id=other.id, agent_id=wren.id).agent == wren


def test_apply_answers_in_this_chat_and_twice_is_once(team):
    draft = take(team)
    applied = drafts.apply_draft(**where(team), revision=draft.revision)
    again = drafts.apply_draft(**where(team), revision=draft.revision)
    assert (applied.status, applied.apply_count, again.apply_count) == ("applied", 1, 1)
    assert applied.applied is not None
    assert (applied.applied.prompt, applied.applied.number) == (NEW.prompt, None)
    assert production(team).number == 1
    assert lines(team) == ["DRAFT_STARTED", "DRAFT_APPLIED"]
    written = drafts.write_draft(**where(team), content=SpecContent(prompt="Other"), revision=draft.revision)
    assert (written.status, written.applied) == ("drafting", applied.applied)


def test_save_makes_the_next_version_and_ends_the_draft(team):
    content = SpecContent(
        prompt="Better", model="m", tools=(ToolUse(tool="current_time", usage_instructions="Use it"),)
    )
    draft = take(team, content=content)
    spec = drafts.save_draft(**where(team), revision=draft.revision, base_version=1, message=" why ")
    assert production(team) == spec
    assert (spec.number, spec.message, spec.origin, spec.base_number, spec.author) == (2, "why", "draft", 1, team.alice)
    assert spec.content() == content
    draft.refresh_from_db()
    assert (draft.status, draft.outcome, draft.lock_holder) == ("ended", "saved", None)
    assert lines(team) == ["DRAFT_STARTED", "SPEC_SAVED"]
    with pytest.raises(NotFound):
        selectors.get_draft(**where(team))


def test_a_suggester_writes_and_applies_but_does_not_save(team):
    draft = take(team, "bob")
    drafts.apply_draft(**where(team, "bob"), revision=draft.revision)
    with pytest.raises(Forbidden):
        drafts.save_draft(**where(team, "bob"), revision=draft.revision, base_version=1)
    assert production(team).number == 1
    assert AgentSpec.objects.filter(agent=team.robin, number__isnull=False).count() == 1


def test_a_draft_started_on_an_older_version_is_not_saved_over_a_newer_one(team):
    draft = take(team, "alice")
    newer = specs.write_spec(team.robin, SpecContent(prompt="Newer"), author=team.bob, origin=Origin.DRAFT, number=2)
    team.robin.current_spec = newer
    team.robin.save()
    with pytest.raises(Conflict) as refusal:
        drafts.save_draft(**where(team), revision=draft.revision, base_version=1)
    assert refusal.value.code == Code.STALE_BASE
    assert refusal.value.data["production"]["prompt"] == "Newer"
    assert production(team) == newer
    rebased = drafts.rebase_draft(**where(team), revision=draft.revision)
    spec = drafts.save_draft(**where(team), revision=rebased.revision, base_version=2)
    assert (spec.number, spec.prompt) == (3, NEW.prompt)


def test_discard_is_for_ones_own_draft_or_for_an_editor(team):
    draft = take(team)
    Draft.objects.update(lock_holder=None, lock_expires_at=None)
    with pytest.raises(Forbidden):
        drafts.discard_draft(**where(team, "bob"), revision=draft.revision)
    assert Draft.objects.get().status == "drafting"
    drafts.discard_draft(**where(team), revision=draft.revision)
    bobs = take(team, "bob")
    drafts.discard_draft(**where(team, "alice"), revision=bobs.revision)
    assert set(Draft.objects.values_list("outcome", flat=True)) == {"discarded"}
    assert production(team).number == 1


def test_closing_frees_the_draft_and_an_unchanged_one_is_gone(team):
    unchanged = take(team, content=None)
    drafts.release_draft(**where(team), revision=unchanged.revision)
    unchanged.refresh_from_db()
    assert unchanged.status == "ended"
    changed = take(team)
    drafts.release_draft(**where(team), revision=changed.revision)
    assert take(team, "bob", None).written["prompt"] == NEW.prompt


def test_an_outsider_learns_nothing_and_changes_nothing(team):
    draft = take(team)
    for attempt in (
        lambda: selectors.get_draft(**where(team, "charlie")),
        lambda: take(team, "charlie"),
        lambda: drafts.write_draft(**where(team, "charlie"), content=NEW, revision=draft.revision),
        lambda: drafts.save_draft(**where(team, "charlie"), revision=draft.revision, base_version=1),
        lambda: drafts.discard_draft(**where(team, "charlie"), revision=draft.revision),
    ):
        with pytest.raises(NotFound):
            attempt()
    draft.refresh_from_db()
    assert (draft.status, draft.revision) == ("drafting", 1)


def test_leaving_the_chat_frees_what_one_locks_there(team):
    take(team, "bob")
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    assert Draft.objects.get().lock_holder is None
    assert take(team, "alice", None).written["prompt"] == NEW.prompt


def test_a_tool_that_does_not_exist_is_refused_before_anything_is_stored(team):
    with pytest.raises(AppError):
        take(team, content=SpecContent(tools=(ToolUse(tool="no_such_tool"),)))
    assert not Draft.objects.exists()
