"""Bodies and rows of the requests about models."""

from typing import Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from common.providers import WRONG_API_BASE, FieldLabel, Options, ProviderName
from common.request_types import NOT_BLANK, Revision
from common.rest import Body
from common.secrets import Secret
from events.rows import Row
from llm.model_tests import ModelTestState


class OfferRow(Row):
    """A model that a workspace can use without a key."""

    provider: ProviderName
    api_base: str | None = None
    label: str
    models: list[str]


class ProviderFieldRow(Row):
    """A setting of a provider. `key` and `api_base` are fields of the request; all others are in its `options`."""

    name: str
    label: FieldLabel
    is_required: bool
    default: str
    example: str


class ProviderRow(Row):
    """A provider that a workspace can choose. `usual_model`: a well-known model of it. `lists_models`: a test without a model's
    name lists its models."""

    name: ProviderName
    label: str
    fields: list[ProviderFieldRow]
    usual_model: str
    model_label: Literal["model", "deployment"]
    lists_models: bool


class ModelServerBody(Body):
    """The server of a model. `GET model-providers` lists the fields of each provider."""

    model_config = ConfigDict(json_schema_extra={"not": WRONG_API_BASE})

    provider: ProviderName
    """The name of a provider (`GET model-providers`)."""
    api_base: str = Field(default="", max_length=400)
    """The address of the server, such as `https://example.org/v1`, if the provider asks for it."""
    options: Options = Field(default_factory=dict)
    """The other fields that the provider has."""
    key: str | None = Field(default=None, max_length=400)
    """The API key. It is stored encrypted and never returned."""

    @property
    def secret(self) -> Secret | None:
        """The key, or null if it was left out."""
        return None if self.key is None else Secret(self.key)


class ModelBody(ModelServerBody):
    """`key` null keeps the stored key if provider and address are unchanged; "" deletes it."""

    default_model: str = Field(max_length=200, pattern=NOT_BLANK)
    """The model's name at its provider."""
    context_size: int | None = Field(default=None, ge=256, le=20_000_000)
    """The most tokens of a request; null: as many as the server says, or shows by what it refuses."""
    revision: Revision
    """The revision of the settings that were read; 0: there are none."""


class ModelTestBody(ModelServerBody):
    """`key` left out or null: the key that is stored for the same provider and address."""

    default_model: str = Field(default="", max_length=200)
    """The model to test. Empty: only list the models of the server."""


class ModelPolicyBody(Body):
    allows_llm_profiles: bool
    """Whether members may use their own models in the workspace."""


class ModelTestRow(Row):
    """A test of a model. Once it is done, `code` (the same codes as those of failed runs) and `message` say why the model did
    not answer. It is `ok` with `no_tools` if it only answers without tools, and with `not_listed` if the server lists others.

    `models` are the names that the server lists; `context_sizes`, by name, how many tokens they read, as far as it says that.
    """

    id: UUID
    state: ModelTestState
    ok: bool
    code: str
    message: str
    seconds: float
    models: list[str]
    context_sizes: dict[str, int] = {}
