"""The table of providers is complete, and refuses unknown providers and options."""

import pytest

from common.egress import check_model_server
from common.errors import Code, Invalid
from common.providers import PROVIDERS, list_provider_choices
from common.secrets import Secret
from llm.prices import get_price, list_known_models
from llm.protocol import Endpoint
from tests.llm.test_providers import AZURE, BEDROCK, FIXED, KEY, MODEL


@pytest.mark.parametrize("provider", sorted(name for name in FIXED if not PROVIDERS[name].reports_cost))
def test_the_models_of_each_provider_have_prices(provider: str) -> None:
    price = get_price(Endpoint(provider, None, Secret(KEY), "workspace"), PROVIDERS[provider].usual_model)
    assert price is not None
    assert 0 < price.input < price.output


def test_the_address_of_each_provider_is_tested() -> None:
    assert FIXED.keys() == {
        name for name, provider in PROVIDERS.items() if provider.adapter == "openai" and provider.api_base
    }


def test_the_models_of_bedrock_are_those_of_the_table_of_prices() -> None:
    models = list_known_models("bedrock")
    assert "anthropic.claude-sonnet-4-5-20250929-v1:0" in models
    assert all("/" not in model for model in models)
    assert get_price(Endpoint("bedrock", None, Secret(KEY), "workspace", BEDROCK), MODEL) is not None


@pytest.mark.parametrize(
    ("provider", "options"),
    [
        ("openai", {"region": "eu-central-1"}),
        ("azure", {}),
        ("azure", {"api_version": "2024 10"}),
        ("azure", AZURE | {"key": "k"}),
        ("bedrock", {"region": "eu-central-1"}),
        ("bedrock", BEDROCK | {"region": "eu"}),
        ("bedrock", BEDROCK | {"access_key_id": "x y"}),
    ],
)
def test_options_of_another_form_are_refused(provider: str, options: dict[str, str]) -> None:
    with pytest.raises(Invalid) as refused:
        PROVIDERS[provider].check_options(options)
    assert refused.value.code == Code.INVALID


def test_every_entry_of_the_table_is_complete(settings) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset()
    assert [name for name, _ in list_provider_choices()] == list(PROVIDERS)
    for provider in PROVIDERS.values():
        assert len(provider.name) <= 24, "as long as the column is"
        provider.check_options({one.name: one.default or one.example for one in provider.options})
        for address in filter(
            None, [provider.api_base, *(one.example for one in provider.fields if one.name == "api_base")]
        ):
            check_model_server(address)
        if provider.adapter == "litellm":
            assert provider.model_prefix
            assert all(one.parameter for one in provider.fields)
