"""Bodies and rows of the requests about runs."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from common.paging import PageQuery
from common.request_types import NOT_BLANK, Revision
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


class AgentProposalBody(Body):
    sentence: str = Field(max_length=4_000, pattern=NOT_BLANK)
    """What the agent shall do."""


class ProposedAgentRow(Row):
    """An agent that does not exist. `questions`: example questions to begin with."""

    name: str
    description: str
    prompt: str
    questions: list[str]


class AgentProposalRow(Row):
    """A proposal that a model writes. `error_code` and `error` say why there is none. `provider`, `model`: what has written it."""

    id: UUID
    state: Literal["queued", "running", "completed", "failed", "stopped"]
    agent: ProposedAgentRow | None = None
    provider: str = ""
    model: str = ""
    error_code: str = ""
    error: str = ""


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
