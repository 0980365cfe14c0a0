"""Bodies of the requests about embeddings."""

from pydantic import ConfigDict, Field

from common.providers import EMBEDDING_PROVIDERS, WRONG_API_BASE, Options, ProviderName
from common.request_types import NOT_BLANK, Revision
from common.rest import Body


class EmbeddingModelBody(Body):
    """`GET model-providers` lists the providers and their options."""

    model_config = ConfigDict(json_schema_extra={"not": WRONG_API_BASE})

    provider: ProviderName = Field(json_schema_extra={"enum": EMBEDDING_PROVIDERS})
    """The name of a provider (`GET model-providers`)."""
    api_base: str = Field(default="", max_length=400)
    """The address of the server, such as `https://example.org/v1`, if the provider asks for it."""
    options: Options = Field(default_factory=dict)
    """The other fields that the provider has."""
    key: str | None = Field(default=None, max_length=400)
    """Null keeps the stored key if provider and address are unchanged; "" deletes it. It is never returned."""
    default_model: str = Field(max_length=200, pattern=NOT_BLANK)
    """The model's name at its provider."""
    revision: Revision
    """The revision of the settings that were read; 0: there are none."""
