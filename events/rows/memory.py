"""Rows of the memory of agents: notes, history entries, and what runs have used."""

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from events.payloads import MemoryScope
from events.row import Row
from events.rows.people import ActorRow


class NoteScope(StrEnum):
    """Where a note may be used: in chats whose readers may all read the note's chat, or everywhere in the workspace."""

    CHAT = "chat"
    WORKSPACE = "workspace"


class TextsOfOthers(StrEnum):
    """Whose texts a run has read, besides those of the person it worked for: nobody's, those of other participants, or texts from
    outside the workspace."""

    NONE = ""
    OTHERS = "others"
    OUTSIDE = "outside"


class NoteRow(Row):
    """A note of an agent. `chat_id` null: a person wrote it for the whole workspace.

    `message_id` is the message in which the agent wrote it. `on_behalf_of`: whom the agent worked for.
    """

    id: UUID
    agent_id: UUID
    text: str
    topic: str
    scope: NoteScope
    revision: int
    author: ActorRow
    chat_id: UUID | None
    chat_title: str
    message_id: UUID | None
    run_id: UUID | None
    on_behalf_of: ActorRow | None
    read_texts: TextsOfOthers
    created_at: datetime
    last_used_at: datetime | None
    edited_at: datetime | None
    edited_by: ActorRow | None
    earlier_text: str | None
    forgotten_at: datetime | None


class NoteRevisionRow(Row):
    """What a note was before a change: `revision` is the number that it had, `replaced_by` the person who changed it."""

    revision: int
    text: str
    topic: str
    scope: NoteScope
    replaced_by: ActorRow
    replaced_at: datetime


class HistoryTurnRow(Row):
    """A part of a history entry: a message that the agent read, a tool call with the beginning of its result, or its answer."""

    kind: Literal["message", "call", "answer"]
    author_name: str
    text: str
    result: str
    message_id: UUID


class HistoryEntryRow(Row):
    """What one run of an agent read and did, taken from the messages of its chat."""

    id: UUID
    agent_id: UUID
    chat_id: UUID
    chat_title: str
    run_id: UUID
    outcome: Literal["completed", "failed", "stopped"]
    tokens: int
    created_at: datetime
    turns: list[HistoryTurnRow]


class WithheldMemoryRow(Row):
    """Notes and history of one chat that a run did not use, because `people` may not read that chat. Only a reader who may
    read the chat sees its id and title, and who the people are."""

    chat_id: UUID | None
    chat_title: str
    notes: int
    entries: int
    people: list[ActorRow]


class MemoryUseRow(Row):
    """What one run has used of its agent's memory, and what was withheld."""

    run_id: UUID
    chat_id: UUID
    chat_title: str
    notes: int
    entries: int
    tokens: int
    created_at: datetime
    withheld: list[WithheldMemoryRow]


class MemoryClearingRow(Row):
    """A clearing of an agent's history. It can be undone until `undo_until`; null: not any more."""

    id: UUID
    generation: int
    cleared_by: ActorRow
    cleared_at: datetime
    entries: int
    undo_until: datetime | None


class MemoryRow(Row):
    """The memory of an agent as a person may read it. `hidden_*`: of chats that this person may not read. `tokens`: of the entries
    that the person may read; `max_tokens`: how many a run uses at most."""

    agent_id: UUID
    memory_scope: MemoryScope
    generation: int
    notes: int
    hidden_notes: int
    entries: int
    hidden_entries: int
    tokens: int
    max_tokens: int
    can_edit: bool
    clearing: MemoryClearingRow | None
    withheld: list[MemoryUseRow]
