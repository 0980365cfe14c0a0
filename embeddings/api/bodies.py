"""Bodies of the requests about embeddings."""

from pydantic import ConfigDict, Field

from common.providers import EMBEDDING_PROVIDERS, WRONG_API_BASE, Options, ProviderName
from common.request_types import NOT_BLANK, Revision
from common.rest import Body


class EmbeddingModelBody(Body):
    """`GET model-providers` lists the providers and their options. `key` null keeps the stored key if provider and address are
    unchanged; "" deletes it. `revision` 0: none is set."""

    model_config = ConfigDict(json_schema_extra={"not": WRONG_API_BASE})

    provider: ProviderName = Field(json_schema_extra={"enum": EMBEDDING_PROVIDERS})
    api_base: str = Field(default="", max_length=400)
    options: Options = Field(default_factory=dict)
    key: str | None = Field(default=None, max_length=400)
    default_model: str = Field(max_length=200, pattern=NOT_BLANK)
    revision: Revision
