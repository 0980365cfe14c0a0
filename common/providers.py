"""The providers of models. To add one, add an entry to `_ENTRIES`: the model's form, the API, the admin, the adapters and
the TypeScript types read this table.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from django.utils.translation import gettext_lazy, gettext_noop
from pydantic import Field, StringConstraints
from pydantic.config import JsonDict, JsonValue

from common.errors import Invalid

FieldLabel = Literal["api_base", "api_key", "secret_access_key", "access_key_id", "region", "api_version"]
"""The labels of fields. The web app has a text for each."""


@dataclass(frozen=True)
class ProviderField:
    """A value that a provider needs besides the model's name.

    The values of `api_base` and `key` have columns of their own; those of all other fields are the options of a credential.
    Only `key` is secret. The whole value of an option must match `pattern`. `parameter` is litellm's name for the value.
    """

    name: str
    label: FieldLabel
    is_required: bool = True
    example: str = ""
    default: str = ""
    pattern: str = r"[A-Za-z0-9_.-]{1,100}"
    parameter: str = ""


KEY = ProviderField("key", "api_key", parameter="api_key")
OPTIONAL_KEY = ProviderField("key", "api_key", is_required=False)


@dataclass(frozen=True)
class Provider:
    """A provider of models: its URL, the fields that it needs, and its adapter.

    `adapter`: `openai` speaks the OpenAI protocol directly, `litellm` uses that library.
    `api_base`: the base URL of the provider; empty where a field has it, or litellm has it built in.
    `path`: the path of a model call below that URL; `{model}` is replaced by the model's name.
    `query`: the parameters of the query string, each with the option that is its value.
    `usual_model`: a well-known model, which the form suggests; `model_label`: the provider's word for a model.
    `models_from`: the source of the list of models: the provider's server, litellm's table of prices, or none.
    `price_prefixes`: the prefixes of model names in litellm's table; `price_table_providers`: the providers of that table.
    """

    name: str
    label: str
    adapter: Literal["demo", "openai", "litellm"]
    fields: tuple[ProviderField, ...] = (KEY,)
    usual_model: str = ""
    model_label: Literal["model", "deployment"] = "model"
    models_from: Literal["server", "prices", "none"] = "server"
    price_prefixes: tuple[str, ...] = ()
    price_table_providers: tuple[str, ...] = ()
    model_pattern: str = ""
    """The pattern of model names, where they become a part of a URL; empty: any name."""
    # For the adapter `openai`:
    api_base: str = ""
    path: str = "chat/completions"
    query: Mapping[str, str] = field(default_factory=dict)
    key_header: Literal["Authorization", "api-key"] = "Authorization"
    max_tokens_parameter: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    reports_cost: bool = False
    """Whether the usage that it reports includes the cost, in US dollars."""
    # For the adapter `litellm`:
    model_prefix: str = ""
    litellm_parameters: Mapping[str, str] = field(default_factory=dict)
    """Parameters that are the same for every request. A value may name options: `{region}`."""

    def find_field(self, name: str) -> ProviderField | None:
        """Return the field of that name, or None."""
        return next((one for one in self.fields if one.name == name), None)

    @property
    def options(self) -> tuple[ProviderField, ...]:
        """The fields whose values are stored as options of a credential."""
        return tuple(one for one in self.fields if one.name not in ("api_base", "key"))

    def list_host_options(self, options: Mapping[str, str]) -> list[str]:
        """Return the values of those options that are a part of the host's name, such as a region."""
        urls = [value for value in self.litellm_parameters.values() if "://" in value]
        return [options.get(one.name, "") for one in self.options if any(f"{{{one.name}}}" in url for url in urls)]

    @property
    def has_api_base(self) -> bool:
        """Whether a workspace sets the URL."""
        return self.find_field("api_base") is not None

    def is_model_name(self, model: str) -> bool:
        """Return whether a model of this provider can have that name."""
        return not self.model_pattern or re.fullmatch(self.model_pattern, model) is not None

    @property
    def needs_key(self) -> bool:
        key = self.find_field("key")
        return key is not None and key.is_required

    def check_options(self, options: Mapping[str, str]) -> None:
        """Raise `Invalid` for an option that this provider does not have, or has no valid value for."""
        known = {one.name for one in self.options}
        if unknown := sorted(options.keys() - known):
            raise Invalid(
                f"{self.label} has no option {unknown[0]}.", hints=[f"Its options: {', '.join(sorted(known)) or '–'}."]
            )
        for one in self.options:
            value = options.get(one.name, "")
            if not value and one.is_required:
                raise Invalid(f"{self.label} needs {one.name}.", hints=[f"For example {one.example}."])
            if value and not re.fullmatch(one.pattern, value):
                raise Invalid(f"{one.name} is not valid.", hints=[f"For example {one.example}."])


def _build_openai_provider(name: str, label: str, api_base: str, usual_model: str) -> Provider:
    """Build the entry of a provider that speaks the OpenAI protocol and has the same name in litellm's table of prices."""
    return Provider(
        name,
        label,
        "openai",
        api_base=api_base,
        usual_model=usual_model,
        price_prefixes=(f"{name}/",),
        price_table_providers=(name,),
    )


_ENTRIES = (
    Provider("demo", gettext_noop("Demo"), "demo", fields=(), usual_model="demo"),
    Provider(
        "openai",
        gettext_noop("OpenAI"),
        "openai",
        api_base="https://api.openai.com/v1",
        usual_model="gpt-4.1-mini",
        max_tokens_parameter="max_completion_tokens",
        price_prefixes=("", "openai/"),
        price_table_providers=("openai",),
    ),
    Provider(
        "anthropic",
        gettext_noop("Anthropic"),
        "litellm",
        usual_model="claude-sonnet-4-5",
        models_from="prices",
        model_prefix="anthropic/",
        price_prefixes=("", "anthropic/"),
        price_table_providers=("anthropic",),
    ),
    Provider(
        "gemini",
        gettext_noop("Google Gemini"),
        "litellm",
        usual_model="gemini-2.5-flash",
        models_from="prices",
        model_prefix="gemini/",
        price_prefixes=("gemini/", ""),
        price_table_providers=("gemini",),
    ),
    _build_openai_provider("deepseek", gettext_noop("DeepSeek"), "https://api.deepseek.com/v1", "deepseek-chat"),
    _build_openai_provider("mistral", gettext_noop("Mistral"), "https://api.mistral.ai/v1", "mistral-small-latest"),
    _build_openai_provider("groq", gettext_noop("Groq"), "https://api.groq.com/openai/v1", "openai/gpt-oss-20b"),
    _build_openai_provider("xai", gettext_noop("xAI"), "https://api.x.ai/v1", "grok-4.3"),
    Provider(
        "openrouter",
        gettext_noop("OpenRouter"),
        "openai",
        api_base="https://openrouter.ai/api/v1",
        usual_model="openai/gpt-4.1-mini",
        reports_cost=True,
        price_prefixes=("openrouter/",),
        price_table_providers=("openrouter",),
    ),
    Provider(
        "azure",
        gettext_noop("Azure OpenAI"),
        "openai",
        fields=(
            ProviderField("api_base", "api_base", example="https://name.openai.azure.com"),
            KEY,
            ProviderField("api_version", "api_version", example="2024-10-21", default="2024-10-21"),
        ),
        model_label="deployment",
        model_pattern=r"[A-Za-z0-9][A-Za-z0-9_.-]*",
        models_from="none",
        path="openai/deployments/{model}/chat/completions",
        query={"api-version": "api_version"},
        key_header="api-key",
        max_tokens_parameter="max_completion_tokens",
        price_prefixes=("azure/",),
    ),
    Provider(
        "bedrock",
        gettext_noop("Amazon Bedrock"),
        "litellm",
        fields=(
            ProviderField(
                "access_key_id",
                "access_key_id",
                example="AKIAIOSFODNN7EXAMPLE",
                pattern="[A-Z0-9]{16,128}",
                parameter="aws_access_key_id",
            ),
            ProviderField("key", "secret_access_key", parameter="aws_secret_access_key"),
            # It becomes a part of the host's name.
            ProviderField(
                "region",
                "region",
                example="eu-central-1",
                pattern=r"[a-z]{2}(-[a-z]+){1,2}-\d{1,2}",
                parameter="aws_region_name",
            ),
        ),
        usual_model="anthropic.claude-sonnet-4-5-20250929-v1:0",
        models_from="prices",
        price_prefixes=("",),
        price_table_providers=("bedrock", "bedrock_converse"),
        model_prefix="bedrock/converse/",
        model_pattern=r"[A-Za-z0-9_.:-]+|arn:aws[a-z-]*:bedrock:[a-z0-9-]+:\d*:[a-z-]+/[A-Za-z0-9_.:-]+",
        litellm_parameters={
            # If a parameter is not given, litellm reads it from the environment of the process, so all three are given.
            "api_key": "",
            "aws_session_token": "",
            "aws_bedrock_runtime_endpoint": "https://bedrock-runtime.{region}.amazonaws.com",
        },
    ),
    Provider(
        "openai_compatible",
        gettext_noop("OpenAI-compatible"),
        "openai",
        fields=(ProviderField("api_base", "api_base", example="https://llm.example.org/v1"), OPTIONAL_KEY),
    ),
)

PROVIDERS: dict[str, Provider] = {provider.name: provider for provider in _ENTRIES}
"""The providers that a workspace can choose, in the order of the form."""
EMBEDDING_PROVIDERS: list[JsonValue] = [provider.name for provider in _ENTRIES if provider.adapter == "openai"]
"""The names of the providers that the API accepts for embeddings: those with the OpenAI protocol, whether they have such a model or
not."""
if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    ProviderName = str
else:
    ProviderName = Literal[*PROVIDERS]
    """The type of the fields of requests and rows, whose schema and TypeScript types thus list the names."""

Options = Annotated[
    dict[
        Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}$")], Annotated[str, StringConstraints(max_length=200)]
    ],
    Field(json_schema_extra={"additionalProperties": False}),
]
"""The values that a provider needs besides `api_base` and key, by the name of the field."""
_WITH_API_BASE: list[JsonValue] = [provider.name for provider in _ENTRIES if provider.has_api_base]
WRONG_API_BASE: JsonDict = {
    "anyOf": [
        {"properties": {"provider": {"enum": _WITH_API_BASE}, "api_base": {"maxLength": 0}}},
        {
            "properties": {"provider": {"not": {"enum": _WITH_API_BASE}}, "api_base": {"minLength": 1}},
            "required": ["api_base"],
        },
    ]
}
"""The JSON schema of wrong requests: a missing `api_base`, or one for a provider that has its own."""


def get_provider(name: str) -> Provider:
    """Return the provider of that name. Raises `Invalid` if there is none."""
    if name not in PROVIDERS:
        raise Invalid("We do not know this provider.", hints=[f"Known are: {', '.join(PROVIDERS)}."])
    return PROVIDERS[name]


def list_provider_choices() -> list[tuple[str, "StrPromise"]]:
    """Return the names with their labels, for a column's choices. A new provider needs no migration."""
    return [(provider.name, gettext_lazy(provider.label)) for provider in PROVIDERS.values()]
