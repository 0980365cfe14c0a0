"""What the requests about runs may say, and the answers that are theirs alone."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from common.paging import PageQuery
from common.providers import WRONG_ADDRESS, FieldLabel, Options, ProviderName
from common.rest import Body
from common.shapes import Revision
from events.payloads import MAX_TEXT, MESSAGE_TEXT
from events.rows import Row, RunRow


class ComparisonBody(Body):
    """`id` is made by the client; asking the same again changes nothing. `revision` is of the draft, and what is applied;
    null: compare what is applied, whatever has been written since."""

    id: UUID
    text: str = Field(json_schema_extra=MESSAGE_TEXT)
    revision: Revision | None = None


class VoteBody(Body):
    """Null takes the vote back."""

    choice: Literal["production", "equal", "draft"] | None


class OfferRow(Row):
    """A model that can be had here without a key of one's own."""

    provider: ProviderName
    api_base: str | None = None
    label: str
    models: list[str]


class ProviderFieldRow(Row):
    """What a provider needs besides a model's name. `key` and `api_base` are fields of the request, all others its options."""

    name: str
    label: FieldLabel
    is_required: bool
    default: str
    example: str


class ProviderRow(Row):
    """A provider that a workspace can choose. `usual_model` is a model that it is known for; `lists_models`: a test without a
    model's name lists its models."""

    name: ProviderName
    label: str
    fields: list[ProviderFieldRow]
    usual_model: str
    model_label: Literal["model", "deployment"]
    lists_models: bool


class ModelTestBody(Body):
    """`default_model` empty: only the server's models are listed. `key` left out or null: the one that is set for the same
    provider and address."""

    model_config = ConfigDict(json_schema_extra={"not": WRONG_ADDRESS})

    provider: ProviderName
    default_model: str = Field(default="", max_length=200)
    api_base: str = Field(default="", max_length=400)
    options: Options = Field(default_factory=dict)
    key: str | None = Field(default=None, max_length=400)


class ModelTestRow(Row):
    """How far a test of a model has come. Once it is done, `code` and `message` say why the model did not answer (`code` as
    of a run that failed); `models` are the names that the server lists."""

    id: UUID
    state: Literal["waiting", "running", "done"]
    ok: bool
    code: str
    message: str
    seconds: float
    models: list[str]


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
    run: RunRow
    steps: list[StepRow]


class WakesBody(Body):
    text: str = Field(max_length=MAX_TEXT)
    reply_to: UUID | None = None


class WakesRow(Row):
    """What a message would do to one agent of the room."""

    agent_id: UUID
    effect: Literal["wakes", "steers", "cannot"]
    reason: str | None = None


class RunsQuery(PageQuery):
    state: Literal["active", "all"] = "active"
