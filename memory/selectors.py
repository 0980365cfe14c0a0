"""Reads of the memory of agents: what a run may use, and what people may read."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.fields import BooleanField

from actors.models import Actor
from agents.permissions import AgentVerb, compute_agent_verbs, get_agent_for, get_production
from chats.models import Chat
from chats.permissions import find_readers, list_readable_chats
from chats.selectors import list_shared_chats, load_titles
from common.access import replace_not_found
from common.errors import NotFound
from events.payloads import ContextStrategy, MemoryScope
from events.rows import (
    HistoryEntryRow,
    HistoryTurnRow,
    MemoryRow,
    MemoryUseRow,
    NoteScope,
    TextsOfOthers,
    WithheldMemoryRow,
)
from llm.tokens import estimate_tokens
from memory.history import format_turns, read_history_turns
from memory.models import HistoryEntry, MemoryClearing, MemoryUse, Note, NoteRevision, get_name
from memory.older import read_older_lines
from memory.permissions import history_visible_to, notes_visible_to
from tools.fence import fence_lines
from workspaces.models import Workspace

MAX_MEMORY_TOKENS = 16_000
"""Tokens of notes and history in the context of a run, by an estimate."""
MEMORY_DIVISOR = 8
"""Notes and history have at most an eighth of what the model reads."""
MAX_NOTES_READ = 200
MAX_NOTES_USED = 40
MAX_ENTRIES_READ = 100
MAX_ENTRIES_USED = 40
FULL_ENTRIES = 5
"""The newest entries, whose texts are cut to `FULL_CHARACTERS`; those of older ones to `SHORT_CHARACTERS`."""
FULL_CHARACTERS = 1_000
SHORT_CHARACTERS = 200
MAX_CHATS_NAMED = 20
"""Chats for which a `MemoryUse` stores what was withheld, and because of whom."""


@dataclass(frozen=True)
class WithheldMemory:
    """How many notes and entries of one chat a run did not use, because these readers of the run's chat may not read that chat."""

    chat_id: UUID
    notes: int
    entries: int
    actor_ids: list[UUID]

    def as_json(self) -> dict[str, Any]:
        return {
            "chat_id": str(self.chat_id),
            "notes": self.notes,
            "entries": self.entries,
            "actor_ids": [str(id) for id in self.actor_ids],
        }


@dataclass(frozen=True)
class ReadMemory:
    """What a run reads of its agent's memory. `has_texts_of_others`: some of it does not come from this chat, and may repeat
    texts of others, not only of the person that the run works for (FAIR8). `text` is empty if there is nothing."""

    text: str = ""
    notes: list[Note] = field(default_factory=list)
    entries: list[HistoryEntry] = field(default_factory=list)
    withheld: list[WithheldMemory] = field(default_factory=list)
    generation: int = 1
    has_texts_of_others: bool = False
    tokens: int = 0
    older_chat_ids: frozenset[UUID] = frozenset()
    """The chats of which older messages are read, by summaries or as matches of the request."""

    @property
    def chat_ids(self) -> tuple[UUID, ...]:
        """The chats that it comes from and whose readers alone may read it; the chat of the run may be one of them."""
        of_notes = {note.chat_id for note in self.notes if note.chat_id and note.scope == NoteScope.CHAT}
        return tuple(sorted(of_notes | {entry.chat_id for entry in self.entries} | self.older_chat_ids))


def read_memory(
    agent: Actor,
    chat: Chat,
    *,
    person: Actor | None,
    memory_scope: MemoryScope,
    request: str = "",
    model_size: int,
    strategy: ContextStrategy = "truncate",
) -> ReadMemory:
    """Return what a run of the agent in this chat may read of the agent's memory, for a model that reads so many tokens.

    With `memory_scope` `chat` these are the notes of the chat. With `agent` these are also the notes for the whole workspace, and
    notes and history of other chats that everybody of this chat and the person whom the run works for may read now. Notes that
    have words in common with the `request` come first, then the newest. `strategy`: what is read of older history.
    """
    budget = min(MAX_MEMORY_TOKENS, model_size // MEMORY_DIVISOR)
    entries, generation = [], 1
    if memory_scope == "agent":
        shared = list_shared_chats(chat, agent, person)
        notes = _list_candidate_notes(agent, chat, shared)
        entries, generation = _list_candidate_entries(agent, chat, shared), get_generation(agent.pk)
    else:
        notes = _list_candidate_notes(agent, chat)
    used_notes, note_lines, note_tokens = _choose_notes(notes, request, budget // 2)
    left = budget - note_tokens
    usable = [entry for entry in entries if entry.is_usable]
    # With another strategy, at least a quarter is for older history (`read_older_lines`).
    for_entries = left if strategy == "truncate" else left * 3 // 4
    used_entries, entry_lines, entry_tokens = _choose_entries(usable, for_entries)
    older: list[tuple[UUID, str]] = []
    if memory_scope == "agent" and usable:
        older = read_older_lines(
            agent, chat, shared, strategy, request=request, entries=used_entries, budget=left - entry_tokens
        )
    person_id = person.pk if person else None
    return ReadMemory(
        text=_format_memory(note_lines, entry_lines, [line for _, line in older]),
        notes=used_notes,
        entries=used_entries,
        withheld=_find_withheld_memory(chat, notes, entries),
        generation=generation,
        has_texts_of_others=any(_may_have_texts_of_others(item, chat, person_id) for item in used_notes)
        or any(_may_have_texts_of_others(item, chat, person_id) for item in used_entries)
        or bool(older),
        tokens=note_tokens + entry_tokens + sum(estimate_tokens(line) for _, line in older),
        older_chat_ids=frozenset(chat_id for chat_id, _ in older),
    )


def _may_have_texts_of_others(item: Note | HistoryEntry, chat: Chat, person_id: UUID | None) -> bool:
    """Return whether this does not come from this chat, and comes from more than the texts of this person."""
    author_id = item.author_id if isinstance(item, Note) else None
    is_of_person = (item.on_behalf_of_id or author_id) == person_id
    return item.chat_id != chat.pk and (item.read_texts != TextsOfOthers.NONE or not is_of_person)


def _list_candidate_notes(agent: Actor, chat: Chat, shared: QuerySet[Chat] | None = None) -> list[Any]:
    """Return the newest notes, annotated with whether this chat may use them. If `shared` is null, only the notes of this chat.

    Unusable notes are returned, too, for `_find_withheld_memory`.
    """
    notes = Note.objects.filter(agent=agent, workspace=chat.workspace_id, forgotten_at=None)
    if shared is None:
        notes = notes.filter(chat=chat).annotate(is_usable=Value(True, BooleanField()))
    else:
        always_usable = Q(scope=NoteScope.WORKSPACE) | Q(chat=chat)
        is_shared = Exists(shared.filter(pk=OuterRef("chat_id")))
        notes = notes.annotate(is_usable=Case(When(always_usable, then=Value(True)), default=is_shared))
    rows: Any = notes.select_related("chat", "author", "on_behalf_of").order_by("-created_at")
    return list(rows[:MAX_NOTES_READ])


def _list_candidate_entries(agent: Actor, chat: Chat, shared: QuerySet[Chat]) -> list[Any]:
    """Return the newest entries of other chats, annotated with whether this chat may use them."""
    others = HistoryEntry.objects.filter(agent=agent, workspace=chat.workspace_id, clearing=None).exclude(chat=chat)
    rows: Any = others.annotate(is_usable=Exists(shared.filter(pk=OuterRef("chat_id")))).select_related("chat")
    return list(rows.order_by("-created_at")[:MAX_ENTRIES_READ])


def _choose_notes(notes: Iterable[Any], request: str, budget: int) -> tuple[list[Note], list[str], int]:
    """Return the notes that fit into the budget, their lines, and their tokens."""
    wanted = _split_words(request)
    usable = [note for note in notes if note.is_usable]
    usable.sort(key=lambda note: -len(wanted & _split_words(f"{note.topic} {note.text}")))
    chosen: list[Note] = []
    lines: list[str] = []
    tokens = 0
    for note in usable[:MAX_NOTES_USED]:
        block = _format_note(note)
        size = estimate_tokens("\n".join(block))
        if tokens + size > budget:
            break
        chosen.append(note)
        lines += block
        tokens += size
    return chosen, lines, tokens


def _choose_entries(entries: list[Any], budget: int) -> tuple[list[HistoryEntry], list[str], int]:
    """Return the newest entries that fit into the budget, their lines with the oldest first, and their tokens."""
    newest = entries[:MAX_ENTRIES_USED]
    turns = read_history_turns(newest)
    chosen: list[HistoryEntry] = []
    blocks: list[list[str]] = []
    tokens = 0
    for entry in newest:
        if not turns[entry.id]:
            continue  # its messages were deleted
        limit = FULL_CHARACTERS if len(chosen) < FULL_ENTRIES else SHORT_CHARACTERS
        where = f"in “{_to_one_line(entry.chat.title)}”" if entry.chat.title else "in another chat"
        block = [f"[{entry.created_at:%Y-%m-%d %H:%M} UTC, {where}]", *format_turns(turns[entry.id], limit)]
        size = estimate_tokens("\n".join(block))
        if tokens + size > budget:
            break
        chosen.append(entry)
        blocks.append(block)
        tokens += size
    return chosen, [line for block in reversed(blocks) for line in block], tokens


def _format_note(note: Note) -> list[str]:
    written = f"by {get_name(note.author)}" if note.author.is_human else "by you"
    if note.on_behalf_of is not None:
        written += f", working for {get_name(note.on_behalf_of)}"
    title = _to_one_line(note.chat.title) if note.chat else ""
    where = f", in “{title}”" if title else ""
    source = {TextsOfOthers.OTHERS: ", after texts of others", TextsOfOthers.OUTSIDE: ", after texts from outside"}
    topic = f", about {_to_one_line(note.topic)}" if note.topic else ""
    trust = source.get(TextsOfOthers(note.read_texts), "")
    return [f"[note {note.id}, {note.created_at:%Y-%m-%d}, {written}{where}{trust}{topic}]", *note.text.splitlines()]


def _format_memory(notes: list[str], entries: list[str], older: list[str]) -> str:
    parts = {"Notes:": notes, "Earlier, in other chats:": entries, "Before that, in other chats:": older}
    lines = [line for heading, part in parts.items() if part for line in (heading, *part)]
    if not lines:
        return ""
    fenced = fence_lines("memory", lines, authors="you, people and other agents", citation="its chat and its date")
    return "\n".join(["You remember this from before. It may be out of date.", *fenced])


def _find_withheld_memory(chat: Chat, notes: Iterable[Any], entries: Iterable[Any]) -> list[WithheldMemory]:
    """Return what this chat may not use, by the chat that it is from, with the readers of this chat who do not read that one. No
    query if there is nothing."""
    counts: dict[UUID, list[int]] = {}
    for position, items in enumerate((notes, entries)):
        for item in items:
            if not item.is_usable:
                counts.setdefault(item.chat_id, [0, 0])[position] += 1
    if not counts:
        return []
    chats = Chat.objects.filter(pk__in=[chat.pk, *list(counts)[:MAX_CHATS_NAMED]])
    readers = find_readers(chats)
    present = readers[chat.pk]
    return [
        WithheldMemory(chat_id, notes_count, entries_count, sorted(present - readers.get(chat_id, set()))[:20])
        for chat_id, (notes_count, entries_count) in list(counts.items())[:MAX_CHATS_NAMED]
    ]


def may_still_use(agent: Actor, chat: Chat, *, person: Actor | None, memory: ReadMemory) -> bool:
    """Return whether a run may still use what it has read of other chats: whether everybody who is in the chat now may read them,
    no history that it used was cleared, and no note was forgotten or got another scope."""
    chat_ids = set(memory.chat_ids) - {chat.pk}
    if chat_ids:
        readable = list_shared_chats(chat, agent, person).filter(pk__in=chat_ids)
        if readable.count() < len(chat_ids):
            return False
    notes = dict(
        Note.objects.filter(pk__in=[note.pk for note in memory.notes], forgotten_at=None).values_list("pk", "scope")
    )
    if any(notes.get(note.pk) != note.scope for note in memory.notes):
        return False
    if memory.older_chat_ids and get_generation(agent.pk) != memory.generation:
        return False
    entry_ids = [entry.pk for entry in memory.entries]
    return not entry_ids or HistoryEntry.objects.filter(pk__in=entry_ids, clearing=None).count() == len(entry_ids)


def get_generation(agent_id: UUID) -> int:
    """Return the generation of an agent's history: 1, and one more for each clearing."""
    return 1 + MemoryClearing.objects.filter(agent=agent_id).count()


def _split_words(text: str) -> set[str]:
    """Return the words of a text in lower case, and pairs of neighbouring characters of scripts without spaces."""
    words: set[str] = set()
    for part in text.lower().split():
        if part.isascii():
            words.add(part.strip(".,;:!?()[]\"'"))
        else:
            words |= {part[start : start + 2] for start in range(max(1, len(part) - 1))}
    return {word for word in words if len(word) > 1}


def _to_one_line(text: str) -> str:
    return " ".join(text.split())


# --- what people read -------------------------------------------------------------------------------------------------


def list_notes(
    actor: Actor,
    agent_id: UUID,
    *,
    query: str = "",
    chat_id: UUID | None = None,
    which: Literal["all", "people", "never_used"] = "all",
) -> QuerySet[Note]:
    """Return the notes of an agent that the actor may read, annotated with the text before the last change. `query`: words that
    all occur in the text or the topic. Raises `NotFound`, `Forbidden`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.SEE_MEMORY)
    notes = notes_visible_to(actor, agent).filter(forgotten_at=None)
    for word in query.split()[:20]:
        notes = notes.filter(Q(text__icontains=word) | Q(topic__icontains=word))
    if chat_id is not None:
        notes = notes.filter(chat=chat_id)
    if which == "people":
        notes = notes.filter(author__kind="human")
    elif which == "never_used":
        notes = notes.filter(last_used_at=None)
    return annotate_notes(notes)


def annotate_notes(notes: QuerySet[Note]) -> QuerySet[Note]:
    """Annotate and join what the rows of notes need."""
    earlier = NoteRevision.objects.filter(note=OuterRef("pk")).order_by("-revision").values("text")[:1]
    joined = notes.select_related("chat", "author", "on_behalf_of", "edited_by")
    return joined.annotate(earlier_text=Subquery(earlier))


def list_note_revisions(note: Note) -> QuerySet[NoteRevision]:
    """Return what a note was before, the newest first."""
    return note.revisions.select_related("replaced_by").order_by("-revision")


def list_history(actor: Actor, agent_id: UUID, *, chat_id: UUID | None = None) -> QuerySet[HistoryEntry]:
    """Return the history entries of an agent that are not cleared and are from chats that the actor may read. Raises `NotFound`,
    `Forbidden`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.SEE_MEMORY)
    entries = history_visible_to(actor, agent)
    if chat_id is not None:
        entries = entries.filter(chat=chat_id)
    return entries.select_related("chat")


def build_history_rows(reader: Actor, entries: Iterable[HistoryEntry]) -> list[HistoryEntryRow]:
    """Return the rows of history entries of one agent. Three queries for any number."""
    found = list(entries)
    load_titles(reader, [entry.chat for entry in found])
    turns = read_history_turns(found)
    return [
        HistoryEntryRow(
            id=entry.id,
            agent_id=entry.agent_id,
            chat_id=entry.chat_id,
            chat_title=entry.chat.shown_title,
            run_id=entry.run_id,
            outcome=entry.outcome,
            tokens=entry.tokens,
            created_at=entry.created_at,
            turns=[
                HistoryTurnRow(
                    kind=turn.kind,
                    author_name=turn.author,
                    text=turn.text,
                    result=turn.result,
                    message_id=turn.message_id,
                )
                for turn in turns[entry.id]
            ],
        )
        for entry in found
    ]


def get_memory_row(actor: Actor, agent_id: UUID) -> MemoryRow:
    """Return the state of an agent's memory as the actor may read it. Raises `NotFound`, `Forbidden`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.SEE_MEMORY)
    can_edit = AgentVerb.EDIT_MEMORY in compute_agent_verbs(agent)
    readable = list_readable_chats(actor).values("pk")
    is_readable = Q(chat__in=readable)
    notes = Note.objects.filter(agent=agent, forgotten_at=None).aggregate(
        all=Count("pk"), readable=Count("pk", filter=is_readable | Q(scope=NoteScope.WORKSPACE))
    )
    history = HistoryEntry.objects.filter(agent=agent, clearing=None).aggregate(
        all=Count("pk"), readable=Count("pk", filter=is_readable), tokens=Sum("tokens", filter=is_readable)
    )
    clearing = MemoryClearing.objects.filter(agent=agent).select_related("cleared_by").order_by("-generation").first()
    uses = MemoryUse.objects.filter(agent=agent, chat__in=readable).exclude(withheld=[])
    return MemoryRow(
        agent_id=agent.pk,
        memory_scope=get_production(agent).parse_content().memory,
        generation=get_generation(agent.pk),
        notes=notes["readable"],
        hidden_notes=notes["all"] - notes["readable"],
        entries=history["readable"],
        hidden_entries=history["all"] - history["readable"],
        tokens=history["tokens"] or 0,
        max_tokens=MAX_MEMORY_TOKENS,
        can_edit=can_edit,
        clearing=clearing.to_row() if clearing is not None and clearing.undone_at is None else None,
        withheld=build_use_rows(actor, uses.select_related("chat").order_by("-created_at")[:3]),
    )


def get_memory_use(actor: Actor, run_id: UUID) -> MemoryUseRow:
    """Return what a run has used of its agent's memory, if the actor may read its chat. Raises `NotFound`, also for a run of
    which `use_memory` has stored nothing."""
    with replace_not_found("memory of a run"):
        visible = MemoryUse.objects.filter(run_id=run_id, chat__in=list_readable_chats(actor).values("pk"))
        use = visible.select_related("chat").first()
        if use is None:
            raise NotFound("There is no such run.")
    return build_use_rows(actor, [use])[0]


def build_use_rows(actor: Actor, uses: Iterable[MemoryUse]) -> list[MemoryUseRow]:
    """Return the rows of uses in chats that the actor may read. The chat from which something was withheld, and the people who may
    not read it, are named only if the actor may read that chat."""
    found = list(uses)
    withheld = [(use, item) for use in found for item in use.withheld]
    load_titles(actor, [use.chat for use in found])
    titles = _find_readable_titles(actor, {UUID(item["chat_id"]) for _, item in withheld})
    people = Actor.objects.in_bulk({UUID(id) for _, item in withheld for id in item["actor_ids"]}) if withheld else {}
    rows: dict[UUID, list[WithheldMemoryRow]] = {}
    for use, item in withheld:
        chat_id = UUID(item["chat_id"])
        is_readable = chat_id in titles
        named = [people[UUID(id)].to_row() for id in item["actor_ids"] if UUID(id) in people] if is_readable else []
        rows.setdefault(use.pk, []).append(
            WithheldMemoryRow(
                chat_id=chat_id if is_readable else None,
                chat_title=titles.get(chat_id, ""),
                notes=item["notes"],
                entries=item["entries"],
                people=named,
            )
        )
    return [
        MemoryUseRow(
            run_id=use.run_id,
            chat_id=use.chat_id,
            chat_title=use.chat.shown_title,
            notes=len(use.note_ids),
            entries=len(use.entry_ids),
            tokens=use.tokens,
            created_at=use.created_at,
            withheld=rows.get(use.pk, []),
        )
        for use in found
    ]


def _find_readable_titles(actor: Actor, chat_ids: Collection[UUID]) -> dict[UUID, str]:
    if not chat_ids:
        return {}
    chats = list(list_readable_chats(actor).filter(pk__in=chat_ids))
    load_titles(actor, chats)
    return {chat.pk: chat.shown_title for chat in chats}


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return the memory of a workspace that is purged. A listener of `collect_rows_to_purge`."""
    return [
        MemoryUse.objects.filter(workspace=workspace),
        HistoryEntry.objects.filter(workspace=workspace),
        MemoryClearing.objects.filter(workspace=workspace),
        NoteRevision.objects.filter(note__workspace=workspace),
        Note.objects.filter(workspace=workspace),
    ]
