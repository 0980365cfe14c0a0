"""Notes of agents: written and forgotten by tools and by people, where they are used, and who may read them."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals.selectors import find_consent
from chats import services as chats
from chats.models import ChatActor
from common.clock import now
from common.errors import Code, Conflict, Forbidden, Invalid, LimitReached, NotFound, TooLarge
from events.models import AuditRecord
from events.rows import NoteScope
from inspector.selectors import build_inspected_run_rows, get_run_inspection, list_runs_of_agent
from memory import services as memory
from memory.models import MemoryUse, Note, NoteRevision
from memory.selectors import build_history_rows, get_memory_row, get_memory_use, list_history, list_notes
from tests.people import make_agent
from tests.recorder import prepare_run
from tools.interface import ToolContext
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db


@pytest.fixture
def carol(team):
    """A member of the workspace who is in no chat."""
    workspaces.join_workspace(team.charlie, team.workspace.id, role="suggester", invited_by=team.alice)
    return team.charlie


def test_a_note_has_its_source_and_is_read_in_the_next_run(driver):
    team = driver.team
    run = driver.ask(team.chat, "Remember that I like canary tea.", by=team.bob)
    result = run.call("remember", text="Bob likes canary tea.", topic="drinks")
    run.answer()
    note = Note.objects.get()
    assert result == f"Noted, as note {note.id}. It is used where everybody may read this chat."
    assert (note.chat_id, note.run_id, note.on_behalf_of, note.author) == (
        team.chat.id,
        run.run.id,
        team.bob,
        team.robin,
    )
    assert (note.scope, note.read_texts, note.last_used_at, note.topic) == ("chat", "others", None, "drinks")
    assert note.message_id is not None
    context = driver.ask(team.chat, "What do I like?", by=team.bob).context
    head = f"[note {note.id}, {note.created_at:%Y-%m-%d}, by you, working for Bob, in “Room”, after texts of others, about drinks]"
    assert f"{head}\nBob likes canary tea." in context
    note.refresh_from_db()
    assert note.last_used_at is not None


def test_remembering_needs_no_approval_though_others_have_written(driver):
    run = driver.ask(driver.team.chat, "Remember tea.")
    context = ToolContext(run.run.agent, run.run.on_behalf_of, run.run.chat_id, run.run.id, "c", has_outside_texts=True)
    configured = run.prepared.tools["remember"]
    consent = find_consent(
        configured.tool, configured.policy, context, {}, chat_id=run.run.chat_id, workspace_id=run.run.workspace_id
    )
    assert consent.reason is None


def test_the_same_note_is_kept_once(driver):
    run = driver.ask(driver.team.chat, "Remember tea.")
    run.call("remember", text="Tea.")
    run.call("remember", text=" Tea. ")
    assert Note.objects.count() == 1


def test_MEM1_a_note_is_used_only_where_all_may_read_its_chat(driver, carol):
    team = driver.team
    run = driver.ask(team.chat, "x")
    run.call("remember", text="canary-one")
    run.answer()
    chats.rename_chat(team.alice, team.chat.id, title="Secret room")
    with_carol = driver.open_chat("Carol", carol)
    same = driver.open_chat("Same", team.bob)
    run = driver.ask(with_carol, "x")
    assert "canary-one" not in run.context
    run.answer()
    row = get_memory_use(carol, run.run.id)
    assert [(item.chat_id, item.chat_title, item.notes, item.people) for item in row.withheld] == [(None, "", 1, [])]
    [withheld] = get_memory_use(team.alice, run.run.id).withheld
    assert (withheld.chat_title, withheld.notes, [person.name for person in withheld.people]) == (
        "Secret room",
        1,
        ["Charlie"],
    )
    assert "canary-one" in driver.ask(same, "x").context


def test_with_a_memory_of_each_chat_only_its_own_notes_are_used(driver):
    team = driver.team
    driver.set_memory_scope("chat")
    run = driver.ask(team.chat, "x")
    run.call("remember", text="canary-one")
    run.answer()
    memory.create_note(team.alice, team.robin.id, text="canary-two")
    other = driver.open_chat("Other", team.bob)
    run = driver.ask(other, "x")
    assert "canary" not in run.context
    assert not MemoryUse.objects.exists()
    run.answer()
    context = driver.ask(team.chat, "x").context
    assert "canary-one" in context
    assert "canary-two" not in context


def test_an_agent_without_notes_that_remembers_each_chat_makes_no_query_for_memory(driver):
    driver.set_memory_scope("chat")

    with CaptureQueriesContext(
        connection,
    ) as queries:
        driver.ask(driver.team.chat, "x")
    assert not [
        query for query in queries if query["sql"].startswith("SELECT") and 'FROM "memory_' in query["sql"][:400]
    ]


def test_a_later_attempt_replaces_the_use_of_a_note_that_was_forgotten_meanwhile(driver):
    team = driver.team
    driver.set_memory_scope("chat")
    writing = driver.ask(team.chat, "x")
    writing.call("remember", text="canary-one")
    writing.answer()
    note = Note.objects.get()
    memory.create_note(team.alice, team.robin.id, text="Tea.")
    run = driver.ask(team.chat, "x").run
    assert MemoryUse.objects.get(run_id=run.id).note_ids == [note.id]
    memory.forget_note(team.alice, note.id, revision=note.revision)
    prepared = prepare_run(run)
    assert "canary" not in prepared.transcript.turns[0].text
    assert MemoryUse.objects.get(run_id=run.id).note_ids == []
    assert prepared.claimed.has_outside_texts


def test_FAIR8_an_editor_widens_a_note_to_the_whole_workspace(driver, carol):
    team = driver.team
    run = driver.ask(team.chat, "x")
    run.call("remember", text="canary-one")
    run.answer()
    note = memory.edit_note(team.alice, Note.objects.get().id, revision=1, scope=NoteScope.WORKSPACE)
    assert (note.scope, note.revision) == ("workspace", 2)
    assert AuditRecord.objects.filter(action="note.widened", object_id=note.id, actor_id=team.alice.id).exists()
    with_carol = driver.open_chat("Carol", carol)
    run = driver.ask(with_carol, "x")
    assert "canary-one" in run.context
    assert run.claimed.has_outside_texts, "it had read texts of others, so a call that writes waits for a person"
    assert [note.text for note in list_notes(carol, team.robin.id)] == ["canary-one"]


def test_a_note_is_taken_from_a_run_when_it_is_forgotten_meanwhile(driver):
    team = driver.team
    memory.create_note(team.alice, team.robin.id, text="canary-one")
    run = driver.ask(team.chat, "x")
    assert "canary-one" in run.context
    note = Note.objects.get()
    memory.forget_note(team.alice, note.id, revision=note.revision)
    run.call("remember", text="Tea.")
    assert "canary-one" not in run.context


def test_an_agent_forgets_only_what_it_wrote_itself_and_may_use_here(driver, carol):
    team = driver.team
    of_person = memory.create_note(team.alice, team.robin.id, text="By Alice", chat_id=team.chat.id)
    run = driver.ask(team.chat, "x")
    run.call("remember", text="One")
    run.call("remember", text="Two")
    run.answer()
    one, two = Note.objects.get(text="One"), Note.objects.get(text="Two")
    memory.edit_note(team.alice, two.id, revision=1, text="Two, by Alice")
    elsewhere = driver.open_chat("Carol", carol)
    run = driver.ask(elsewhere, "x")
    refusals = ["You have no such note here that you wrote yourself.", "There is no note with this id here."]
    assert run.call("forget", note_id=str(one.id)) in refusals
    run.answer()
    run = driver.ask(team.chat, "x")
    assert run.call("forget", note_id=str(of_person.id)) in refusals
    assert run.call("forget", note_id=str(two.id)) in refusals
    assert run.call("forget", note_id=str(uuid4())) in refusals
    assert not Note.objects.exclude(forgotten_at=None).exists()
    assert run.call("forget", note_id=str(one.id)) == "Forgotten. People can restore it for a day."
    one.refresh_from_db()
    assert one.forgotten_by == team.robin
    memory.restore_note(team.alice, one.id)
    assert Note.objects.get(pk=one.id).forgotten_at is None


def test_people_edit_and_the_old_text_is_kept(team):
    note = memory.create_note(team.alice, team.robin.id, text="Tea costs three.", chat_id=team.chat.id)
    edited = memory.edit_note(team.alice, note.id, revision=1, text="Tea costs four.", topic="prices")
    assert (edited.text, edited.topic, edited.revision, edited.edited_by) == (
        "Tea costs four.",
        "prices",
        2,
        team.alice,
    )
    assert edited.to_row().earlier_text == "Tea costs three."
    [old] = NoteRevision.objects.all()
    assert (old.revision, old.text, old.replaced_by) == (1, "Tea costs three.", team.alice)
    with pytest.raises(Conflict) as refusal:
        memory.edit_note(team.alice, note.id, revision=1, text="Tea costs five.")
    assert refusal.value.data["note"]["text"] == "Tea costs four."
    assert Note.objects.get().text == "Tea costs four."


def test_a_forgotten_note_is_restored_for_a_day_and_then_deleted(team):
    note = memory.create_note(team.alice, team.robin.id, text="Tea")
    memory.forget_note(team.alice, note.id, revision=1)
    assert not list_notes(team.alice, team.robin.id).exists()
    with pytest.raises(NotFound):
        memory.edit_note(team.alice, note.id, revision=2, text="x")
    assert memory.restore_note(team.alice, note.id).revision == 3
    memory.forget_note(team.alice, note.id, revision=3)
    Note.objects.update(forgotten_at=now() - timedelta(hours=25))
    with pytest.raises(Conflict):
        memory.restore_note(team.alice, note.id)
    assert memory.delete_forgotten_notes() == 1


def test_members_read_what_comes_from_their_chats_and_only_editors_write(team):
    private = chats.create_chat(team.alice, team.workspace.id, title="Private", actor_ids=[team.robin.id])
    memory.create_note(team.alice, team.robin.id, text="Secret", chat_id=private.id)
    shared = memory.create_note(team.alice, team.robin.id, text="Shared", chat_id=team.chat.id)
    assert [note.text for note in list_notes(team.bob, team.robin.id)] == ["Shared"]
    row = get_memory_row(team.bob, team.robin.id)
    assert (row.notes, row.hidden_notes, row.can_edit) == (1, 1, False)
    secret = Note.objects.get(text="Secret")
    for service in (memory.forget_note, memory.edit_note):
        with pytest.raises(Forbidden):
            service(team.bob, shared.id, revision=1)
        with pytest.raises(NotFound):
            service(team.bob, secret.id, revision=1)
        with pytest.raises(NotFound):
            service(team.charlie, shared.id, revision=1)
    with pytest.raises(Forbidden):
        memory.create_note(team.bob, team.robin.id, text="x")
    with pytest.raises(NotFound):
        memory.create_note(team.charlie, team.robin.id, text="x")
    with pytest.raises(NotFound):
        memory.create_note(team.alice, team.robin.id, text="x", chat_id=uuid4())
    assert set(Note.objects.values_list("text", "revision")) == {("Secret", 1), ("Shared", 1)}


def test_an_editor_who_left_the_chat_of_a_note_sees_it_no_more(team):
    note = memory.create_note(team.alice, team.robin.id, text="Secret", chat_id=team.chat.id)
    ChatActor.objects.filter(chat=team.chat, actor=team.alice).update(ended_at=now())
    with pytest.raises(NotFound):
        memory.edit_note(team.alice, note.id, revision=1, scope=NoteScope.WORKSPACE)
    assert not list_notes(team.alice, team.robin.id).exists()


def test_notes_are_found_by_words_chat_and_kind(driver):
    team = driver.team
    memory.create_note(team.alice, team.robin.id, text="綠茶的價格是三元", topic="tea")
    run = driver.ask(team.chat, "x")
    run.call("remember", text="Coffee costs four.")
    run.answer()

    def find(**which):
        return [note.text for note in list_notes(team.alice, team.robin.id, **which)]

    assert find(query="價格 tea") == ["綠茶的價格是三元"]
    assert find(query="coffee") == ["Coffee costs four."]
    assert find(which="people") == ["綠茶的價格是三元"]
    assert find(chat_id=team.chat.id) == ["Coffee costs four."]
    assert len(find(which="never_used")) == 1


@pytest.mark.parametrize(("text", "error"), [("  ", Invalid), ("\u200b", Invalid), ("x" * 1001, TooLarge)])
def test_an_empty_or_too_long_note_is_refused(team, text, error):
    with pytest.raises(error):
        memory.create_note(team.alice, team.robin.id, text=text)
    assert not Note.objects.exists()


def test_an_agent_has_a_limited_number_of_notes(team, monkeypatch):
    monkeypatch.setattr("memory.services.notes.MAX_NOTES", 1)
    memory.create_note(team.alice, team.robin.id, text="One")
    with pytest.raises(LimitReached) as refusal:
        memory.create_note(team.alice, team.robin.id, text="Two")
    assert refusal.value.code == Code.QUOTA_REACHED


def test_notes_of_another_agent_are_not_read(driver):
    team = driver.team
    sparrow = make_agent(team.workspace, team.alice, "Sparrow")
    memory.create_note(team.alice, sparrow.id, text="canary-one")
    assert "canary" not in driver.ask(team.chat, "x").context


def test_editors_read_change_and_clear_the_memory_of_a_chat_between_agents(driver, carol):
    team = driver.team
    pair = driver.open_pair()
    run = driver.ask(pair, "Tea?", by=team.bob)
    run.call("remember", text="Green tea")
    run.answer()
    row = get_memory_row(team.alice, team.robin.id)
    assert (row.notes, row.hidden_notes, row.entries, row.hidden_entries) == (1, 0, 1, 0)
    row = get_memory_row(team.bob, team.robin.id)
    assert (row.notes, row.hidden_notes, row.entries, row.hidden_entries) == (0, 1, 0, 1)
    [note] = list_notes(team.alice, team.robin.id)
    assert [entry.chat_id for entry in list_history(team.alice, team.robin.id)] == [pair.id]
    for person in (team.bob, carol):
        assert not list_notes(person, team.robin.id).exists()
        assert not list_history(person, team.robin.id).exists()
        with pytest.raises(NotFound):
            memory.forget_note(person, note.id, revision=1)
    assert Note.objects.get().forgotten_at is None
    assert memory.edit_note(team.alice, note.id, revision=1, text="Black tea").text == "Black tea"
    assert memory.clear_history(team.alice, team.robin.id).count == 1
    run = driver.ask(pair, "And now?", by=team.bob)
    assert get_memory_use(team.alice, run.run.id).notes == 1
    with pytest.raises(NotFound):
        get_memory_use(team.bob, run.run.id)


def test_an_agent_forgets_its_own_note_in_a_chat_between_agents(driver):
    run = driver.ask(driver.open_pair(), "Tea?", by=driver.team.bob)
    run.call("remember", text="Green tea")
    note = Note.objects.get()
    assert run.call("forget", note_id=str(note.id)) == "Forgotten. People can restore it for a day."
    note.refresh_from_db()
    assert note.forgotten_by == driver.team.robin


def test_a_chat_without_a_title_is_named_after_the_others_in_memory_and_runs(driver):
    team = driver.team
    direct, _ = chats.open_direct_chat(team.alice, team.workspace.id, team.robin.id)
    run = driver.ask(direct, "Tea?")
    run.call("remember", text="Green tea")
    run.answer()
    pair = driver.open_pair()
    driver.ask(pair, "Coffee?").answer()
    read = driver.ask(direct, "And now?")
    note = memory.create_note(team.alice, team.robin.id, text="Black tea", chat_id=pair.id)
    assert note.to_row().chat_title == "Robin · Writer"
    rows = build_history_rows(team.alice, list_history(team.alice, team.robin.id).order_by("pk"))
    assert [row.chat_title for row in rows] == ["Robin", "Robin · Writer"]
    assert get_memory_use(team.alice, read.run.id).chat_title == "Robin"
    runs = list_runs_of_agent(team.alice, team.robin.id).order_by("pk")
    assert {row.chat_title for row in build_inspected_run_rows(team.alice, list(runs))} == {"Robin", "Robin · Writer"}
    assert get_run_inspection(team.alice, read.run.id).chat_title == "Robin"
