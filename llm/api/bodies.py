"""Bodies and rows of the requests about models."""

from typing import Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from common.providers import WRONG_ADDRESS, FieldLabel, Options, ProviderName
from common.rest import Body
from events.rows import Row


class OfferRow(Row):
    """A model that can be used here without a key of one's own."""

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
