"""What this app's operations take."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from agents.specs.content import SpecContent
from common.paging import PageQuery
from common.rest import Body
from common.shapes import Revision, Version
from events.rows import Row


class SuggestBody(Body):
    revision: Revision
    note: str = Field(default="", max_length=400)


class NewSuggestionBody(Body):
    """`id` is made by the client: asking again with it changes nothing."""

    id: UUID
    content: SpecContent
    base_version: Version
    note: str = Field(default="", max_length=400)


class SuggestionsQuery(PageQuery):
    state: Literal["pending", "accepted", "rejected", "withdrawn", "unused", "all"] = "pending"
    agent_id: UUID | None = None
    author_id: UUID | None = None
    limit: int = Field(default=50, ge=1, le=50)


class CountRow(Row):
    pending: int


class RejectBody(Body):
    reason: str = Field(default="", max_length=400)


class AcceptBody(Body):
    """`id` is the merge's, made by the client; the draft comes to be in `chat_id`."""

    id: UUID
    chat_id: UUID


class MergeBody(AcceptBody):
    suggestion_ids: list[UUID] = Field(min_length=1, max_length=20)


class MergesQuery(PageQuery):
    state: Literal["active", "all"] = "active"
    limit: int = Field(default=50, ge=1, le=50)
