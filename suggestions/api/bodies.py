"""The bodies and queries of requests about suggestions and merges."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from agents.specs.content import SpecContent
from common.paging import PageQuery
from common.request_types import Revision, Version
from common.rest import Body
from events.rows import Row


class SuggestBody(Body):
    revision: Revision
    """The revision of the draft that was read."""
    note: str = Field(default="", max_length=400)
    """Why, for those who decide."""


class NewSuggestionBody(Body):
    id: UUID
    """A UUID that the client makes. The same request again changes nothing."""
    content: SpecContent
    """The whole spec that is suggested."""
    base_version: Version
    """The number of the version on which it is based."""
    note: str = Field(default="", max_length=400)
    """Why, for those who decide."""


class SuggestionsQuery(PageQuery):
    state: Literal["pending", "accepted", "rejected", "withdrawn", "unused", "all"] = "pending"
    agent_id: UUID | None = None
    author_id: UUID | None = None
    limit: int = Field(default=50, ge=1, le=50)


class CountRow(Row):
    pending: int


class RejectBody(Body):
    reason: str = Field(default="", max_length=400)
    """Why, for the author."""


class AcceptBody(Body):
    id: UUID
    """The id of the merge: a UUID that the client makes."""
    chat_id: UUID
    """The chat in which the draft is created."""


class MergeBody(AcceptBody):
    suggestion_ids: list[UUID] = Field(min_length=1, max_length=20)
    """The suggestions to merge."""


class MergesQuery(PageQuery):
    state: Literal["active", "all"] = "active"
    limit: int = Field(default=50, ge=1, le=50)
