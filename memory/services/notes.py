"""Write, edit, forget and restore notes: by people, and by agents in their runs."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from agents.permissions import AgentVerb, get_agent_for
from chats.models import ChatActor, Message
from chats.permissions import ChatVerb, get_chat_for
from chats.selectors import list_shared_chats, load_titles
from chats.services.text_sources import classify_texts_of_others
from common.clock import now
from common.errors import Code, Conflict, Invalid, NotFound, QuotaReached, TooLarge
from common.text import remove_invisible, to_storable
from events import audit
from events.publish import publish_workspace_list_changed
from events.rows import NoteScope
from memory.models import MAX_NOTE, MAX_TOPIC, UNDO_HOURS, Note, NoteRevision
from memory.permissions import get_note_for
from memory.selectors import annotate_notes

MAX_NOTES = 500
"""Notes of one agent."""


@transaction.atomic
def create_note(actor: Actor, agent_id: UUID, *, text: str, topic: str = "", chat_id: UUID | None = None) -> Note:
    """Write a note for an agent: for one of the agent's chats that the actor may read, or without a chat for the whole workspace.
    Raises `NotFound`, `Forbidden`, `Invalid`, `TooLarge`, `QuotaReached`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.EDIT_MEMORY, lock=True)
    if chat_id is not None:
        get_chat_for(actor, chat_id, ChatVerb.SEE)
        if not ChatActor.objects.filter(chat=chat_id, actor=agent, ended_at=None).exists():
            raise NotFound("This agent is not in this chat.")
    _check_count(agent)
    if agent.workspace_id is None:
        raise TypeError("A public agent has no notes.")
    note = Note.objects.create(
        workspace_id=agent.workspace_id,
        agent=agent,
        chat_id=chat_id,
        scope=NoteScope.CHAT if chat_id else NoteScope.WORKSPACE,
        text=_clean(text),
        topic=_clean_topic(topic),
        author=actor,
    )
    _publish(actor, "note.written", note)
    return _read(actor, note)


@transaction.atomic
def edit_note(
    actor: Actor,
    note_id: UUID,
    *,
    revision: int,
    text: str | None = None,
    topic: str | None = None,
    scope: NoteScope | None = None,
) -> Note:
    """Change a note, and keep what it was. With the `scope` of the workspace it may be used in all chats of the agent, whoever is
    in them. Raises `NotFound`, `Forbidden`, `Invalid`, `TooLarge`, and `Conflict` (`stale_revision`), with the stored note."""
    note = _lock_note(actor, note_id, revision)
    changes: dict[str, Any] = {}
    if text is not None:
        changes["text"] = _clean(text)
    if topic is not None:
        changes["topic"] = _clean_topic(topic)
    if scope is not None:
        if scope == NoteScope.CHAT and note.chat_id is None:
            raise Invalid("This note belongs to no chat.", hints=["It can be used everywhere, or forgotten."])
        changes["scope"] = scope
    if all(getattr(note, name) == value for name, value in changes.items()):
        return _read(actor, note)
    NoteRevision.objects.create(
        note=note, revision=note.revision, text=note.text, topic=note.topic, scope=note.scope, replaced_by=actor
    )
    is_widened = changes.get("scope") == NoteScope.WORKSPACE and note.scope == NoteScope.CHAT
    _save(note, **changes, edited_at=now(), edited_by=actor)
    _publish(actor, "note.widened" if is_widened else "note.edited", note)
    return _read(actor, note)


@transaction.atomic
def forget_note(actor: Actor, note_id: UUID, *, revision: int) -> Note:
    """Forget a note: runs that begin afterwards do not use it. It can be restored for `UNDO_HOURS`. Raises `NotFound`, `Forbidden`,
    `Conflict` (`stale_revision`)."""
    note = _lock_note(actor, note_id, revision)
    _save(note, forgotten_at=now(), forgotten_by=actor)
    _publish(actor, "note.forgotten", note)
    return _read(actor, note)


@transaction.atomic
def restore_note(actor: Actor, note_id: UUID) -> Note:
    """Undo that a note was forgotten. Without effect for any other note. Raises `NotFound`, `Forbidden`, `QuotaReached`, and
    `Conflict` if it is too late."""
    note = get_note_for(actor, note_id, AgentVerb.EDIT_MEMORY, lock=True)
    if note.forgotten_at is None:
        return _read(actor, note)
    if note.forgotten_at < now() - timedelta(hours=UNDO_HOURS):
        raise Conflict("This note cannot be restored any more.", hints=[f"It can be restored for {UNDO_HOURS} hours."])
    _check_count(note.agent)
    _save(note, forgotten_at=None, forgotten_by=None)
    _publish(actor, "note.restored", note)
    return _read(actor, note)


def remember(
    agent: Actor,
    chat_id: UUID,
    *,
    on_behalf_of: Actor | None,
    id: UUID,
    run_id: UUID,
    call_id: str,
    text: str,
    topic: str = "",
    has_outside_texts: bool = False,
) -> Note:
    """Write a note of an agent in a run. The note stores whose texts the run had read, and may be used only where everybody may
    read this chat. With an `id` that exists already, or the text of a note of this chat, return that note.

    It is called in the transaction of the tool call. Raises `NotFound`, `Forbidden`, `Invalid`, `TooLarge`, `QuotaReached`.
    """
    chat = get_chat_for(agent, chat_id, ChatVerb.POST, on_behalf_of=on_behalf_of)
    cleaned = _clean(text)
    known = Note.objects.filter(agent=agent, chat=chat, forgotten_at=None)
    if stored := Note.objects.filter(pk=id).first() or known.filter(text=cleaned).first():
        return stored
    _check_count(agent)
    texts_of_others = classify_texts_of_others(
        chat.pk,
        agent_id=agent.pk,
        workspace_id=chat.workspace_id,
        person_id=on_behalf_of.pk if on_behalf_of else None,
    )
    call = Message.objects.filter(run_id=run_id, type="TOOL_CALL", payload__call_id=call_id)
    note = Note.objects.create(
        id=id,
        workspace_id=chat.workspace_id,
        agent=agent,
        chat=chat,
        text=cleaned,
        topic=_clean_topic(topic),
        author=agent,
        message_id=call.values_list("pk", flat=True).first(),
        run_id=run_id,
        on_behalf_of=on_behalf_of,
        read_texts="outside" if has_outside_texts else texts_of_others or "",
    )
    _publish(agent, "note.written", note, on_behalf_of=on_behalf_of)
    return note


def forget_own_note(agent: Actor, chat_id: UUID, note_id: UUID, *, on_behalf_of: Actor | None) -> Note:
    """Forget a note that the agent wrote itself, that no person has changed, and that it may use in this chat. People can restore
    it. Raises `NotFound`, also for all other notes."""
    chat = get_chat_for(agent, chat_id, ChatVerb.POST, on_behalf_of=on_behalf_of)
    shared = list_shared_chats(chat, agent, on_behalf_of).values("pk")
    own = Note.objects.filter(pk=note_id, agent=agent, author=agent, forgotten_at=None, edited_by=None)
    note = own.filter(chat__in=shared).select_for_update(of=("self",), no_key=True).first()
    if note is None:
        raise NotFound("You have no such note here that you wrote yourself.")
    _save(note, forgotten_at=now(), forgotten_by=agent)
    _publish(agent, "note.forgotten", note, on_behalf_of=on_behalf_of)
    return note


def delete_forgotten_notes() -> int:
    """Delete the notes that can no longer be restored. Return how many. Called by the sweeper."""
    before = now() - timedelta(hours=UNDO_HOURS)
    return Note.objects.filter(forgotten_at__lt=before).delete()[0]


def _lock_note(actor: Actor, note_id: UUID, revision: int) -> Note:
    note = get_note_for(actor, note_id, AgentVerb.EDIT_MEMORY, lock=True)
    if note.forgotten_at is not None:
        raise NotFound("There is no such note.", hints=["It was forgotten."])
    if note.revision != revision:
        raise Conflict(
            "This note was changed meanwhile.",
            code=Code.STALE_REVISION,
            hints=["Compare with the stored note, then change that."],
            data={"note": _read(actor, note).to_row().model_dump(mode="json")},
        )
    return note


def _save(note: Note, **changes: Any) -> None:
    """Change these fields of the note, raise its revision, and save it."""
    for name, value in changes.items():
        setattr(note, name, value)
    note.revision += 1
    note.save(update_fields=[*changes, "revision"])


def _read(actor: Actor, note: Note) -> Note:
    """Return the note as it is stored, with what its row needs for this actor."""
    found = annotate_notes(Note.objects.filter(pk=note.pk)).get()
    load_titles(actor, [found.chat] if found.chat else [])
    return found


def _check_count(agent: Actor) -> None:
    if Note.objects.filter(agent=agent, forgotten_at=None).count() >= MAX_NOTES:
        raise QuotaReached(f"An agent has at most {MAX_NOTES} notes.", hints=["Forget notes that are out of date."])


def _clean(text: str) -> str:
    cleaned = remove_invisible(to_storable(text)).strip()
    if not cleaned:
        raise Invalid("The note is empty.")
    if len(cleaned) > MAX_NOTE:
        raise TooLarge(f"A note has at most {MAX_NOTE:,} characters.", hints=["Write several notes, or a shorter one."])
    return cleaned


def _clean_topic(topic: str) -> str:
    return " ".join(remove_invisible(to_storable(topic)).split())[:MAX_TOPIC]


def _publish(actor: Actor, action: str, note: Note, *, on_behalf_of: Actor | None = None) -> None:
    audit.record(
        actor, action, workspace_id=note.workspace_id, object_id=note.pk, on_behalf_of=on_behalf_of, scope=note.scope
    )
    publish_workspace_list_changed(note.workspace_id, "memory")
