"""The bodies and queries of requests about the memory of agents."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from common.paging import PageQuery
from common.request_types import NOT_BLANK, Revision
from common.rest import Body
from events.rows import NoteScope
from memory.models import MAX_NOTE, MAX_TOPIC

Text = Annotated[str, Field(min_length=1, max_length=MAX_NOTE, pattern=NOT_BLANK)]
Topic = Annotated[str, Field(max_length=MAX_TOPIC)]


class NotesQuery(PageQuery):
    """`q`: words that occur in the note. `chat_id`: of the chat in which it was learnt."""

    q: str = Field(default="", max_length=200)
    chat_id: UUID | None = None
    which: Literal["all", "people", "never_used"] = "all"
    limit: int = Field(default=50, ge=1, le=100)


class NewNoteBody(Body):
    text: Text
    """What the agent remembers."""
    topic: Topic = ""
    """A word by which notes are grouped."""
    chat_id: UUID | None = None
    """The chat in which it is used; null: the whole workspace."""


class EditNoteBody(Body):
    """What is left out stays."""

    revision: Revision
    """The revision of the note that was read."""
    text: Text | None = None
    """What the agent remembers."""
    topic: Topic | None = None
    """A word by which notes are grouped."""
    scope: NoteScope | None = None
    """Where it is used."""


class ForgetNoteBody(Body):
    revision: Revision


class HistoryQuery(PageQuery):
    chat_id: UUID | None = None
    limit: int = Field(default=20, ge=1, le=50)
