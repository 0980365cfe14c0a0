"""The rows of summaries of chats, and of a workspace's settings for long chats."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from events.payloads import ContextStrategy, MessageReference
from events.row import Row
from events.rows.people import ModelRow

SummaryWriting = Literal["none", "writing", "ready", "failed"]
"""The state of the last attempt to write a summary of a chat; `none`: there was none."""


class EndedCorrectionRow(Row):
    """A correction of a sentence that was corrected again, or undone."""

    id: UUID
    text: str
    by_name: str
    created_at: datetime


class SentenceRow(Row):
    """A sentence of a summary, with the messages that it is from. A corrected sentence has the text before (`old_text`), the
    person who corrected it and when. `ended`: its corrections that were replaced or undone, the newest first."""

    id: UUID
    section: str
    text: str
    sources: list[MessageReference]
    correction_id: UUID | None = None
    old_text: str | None = None
    corrected_by: UUID | None = None
    corrected_by_name: str = ""
    corrected_at: datetime | None = None
    ended: list[EndedCorrectionRow] = []


class HistorySummaryRow(Row):
    """The summary of a chat's older messages, from `from_seq` to `through_seq`. Its fields are null and empty while there is none.

    `state` and `error_code` are those of the last attempt. `source_tokens`: an estimate for the messages that it stands for.
    """

    chat_id: UUID
    state: SummaryWriting
    error_code: str | None = None
    id: UUID | None = None
    from_seq: int | None = None
    through_seq: int | None = None
    through_id: UUID | None = None
    messages: int = 0
    from_at: datetime | None = None
    through_at: datetime | None = None
    written_at: datetime | None = None
    model: str = ""
    tokens: int = 0
    source_tokens: int = 0
    sentences: list[SentenceRow] = []
    strategy: ContextStrategy


class EmbeddingModelRow(Row):
    """The model that computes the embeddings of messages in long chats. `model` null: none is set, and their words are searched.

    `is_supported`: the database can store embeddings (it has pgvector). `dimensions`: how many numbers an embedding has, null
    until one is computed. `chats`: how many chats are embedded; `due_chats`: those of them with messages that are not embedded
    yet. `failed_at`, `failure_code` (as those of failed runs), `failure_message`: the last request, if it failed.
    """

    model: ModelRow | None = None
    is_supported: bool
    dimensions: int | None = None
    chats: int = 0
    due_chats: int = 0
    failed_at: datetime | None = None
    failure_code: str = ""
    failure_message: str = ""


class ContextSettingsRow(Row):
    """What models read of the long chats of a workspace. `max_tokens` null: as much as the model allows."""

    strategy: ContextStrategy
    max_tokens: int | None
    revision: int
