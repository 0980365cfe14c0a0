"""Bodies and rows of the requests about runs."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from common.paging import PageQuery
from common.request_types import Revision
from common.rest import Body
from events.payloads import MESSAGE_TEXT
from events.rows import Row, RunRow
from runs.selectors import RunFilter


class ComparisonBody(Body):
    id: UUID
    """The id of the message: a UUID that the client makes. The same request again changes nothing."""
    text: str = Field(json_schema_extra=MESSAGE_TEXT)
    """The text that both sides answer."""
    revision: Revision | None = None
    """The revision of the draft, which must be applied; null: compare the applied revision, even if the draft was
    edited since."""


class StepRow(Row):
    """One step of a run: a model's answer, or a tool call."""

    number: int
    index: int
    kind: Literal["llm", "tool"]
    state: Literal["started", "done"]
    name: str
    started_at: datetime
    ended_at: datetime | None
    result: dict[str, Any]


class RunDetailRow(Row):
    """A run with its steps. `runs_ahead`: queued runs of its workspace that start before it; null if it waits for no slot."""

    run: RunRow
    steps: list[StepRow]
    runs_ahead: int | None = None


class RunsQuery(PageQuery):
    state: RunFilter = "active"
