"""Prices and sizes come from litellm's list, without importing litellm."""

import subprocess
import sys
from math import inf, nan

import pytest

from common.secrets import Secret
from llm.adapters.assembly import Assembly
from llm.messages import ModelRequest, Turn
from llm.prices import build_usage, get_context_size, get_price, list_known_models
from llm.protocol import Endpoint
from llm.tokens import estimate_tokens

ASK = ModelRequest("gpt-4o", [Turn("user", "Hello")])


def at(provider, api_base=None) -> Endpoint:
    return Endpoint(provider, api_base, Secret("k"), "workspace")


@pytest.mark.parametrize(
    ("endpoint", "model"),
    [
        (at("openai"), "gpt-4o"),
        (at("anthropic"), "claude-sonnet-4-5"),
        (at("gemini"), "gemini-2.5-pro"),
        (at("openai_compatible", "https://api.openai.com/v1"), "gpt-4o"),
        (at("openai_compatible", "https://api.deepseek.com/v1"), "deepseek-chat"),
    ],
)
def test_a_known_model_has_a_price_and_a_size(endpoint: Endpoint, model: str) -> None:
    price = get_price(endpoint, model)
    assert price is not None
    assert 0 < price.input < price.output
    assert (get_context_size(endpoint, model) or 0) >= 64_000


def test_a_self_hosted_server_has_no_price() -> None:
    assert get_price(at("openai_compatible", "http://localhost:11434/v1"), "gpt-4o") is None
    assert get_context_size(at("openai"), "no-such-model") is None


def test_usage_is_priced_in_millionths_of_a_dollar_with_a_separate_price_for_cached_tokens() -> None:
    reported = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 400}}
    usage = build_usage(at("openai"), ASK, reported, Assembly())
    assert (usage.input_tokens, usage.output_tokens, usage.estimated) == (1000, 100, False)
    assert usage.cost_micro == round(600 * 2.5 + 400 * 1.25 + 100 * 10)


def test_the_cost_that_openrouter_reports_is_used() -> None:
    reported = {"prompt_tokens": 10, "completion_tokens": 1, "cost": 0.0123}
    assert build_usage(at("openrouter"), ASK, reported, Assembly()).cost_micro == 12_300


@pytest.mark.parametrize("cost", [-1, -0.1, nan, inf, -inf, 1e300, 10**40, True, "0.1", None, [1]])
def test_a_reported_cost_that_is_no_amount_is_ignored(cost) -> None:
    reported = {"prompt_tokens": 10, "completion_tokens": 1, "cost": cost}
    usage = build_usage(at("openrouter"), ModelRequest("no/such-model", ASK.turns), reported, Assembly())
    assert (usage.input_tokens, usage.output_tokens, usage.cost_micro) == (10, 1, None)


@pytest.mark.parametrize(
    "reported",
    [
        None,
        {},
        {"prompt_tokens": None},
        {"prompt_tokens": "many"},
        {"prompt_tokens": -1},
        *({"prompt_tokens": 1, "completion_tokens": count} for count in (-1, True, 1.5, nan, inf, 10**18, 2**31)),
    ],
)
def test_usage_is_estimated_if_the_report_of_the_server_is_invalid(reported) -> None:
    made = Assembly()
    made.add_text("Four words are here.")
    usage = build_usage(at("openai_compatible", "https://models.example.com/v1"), ASK, reported, made)
    assert usage.estimated
    assert usage.input_tokens > 0
    assert usage.output_tokens == 5
    assert usage.cost_micro is None


def test_tokens_are_estimated_for_english_and_chinese() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("Four words are here.") == 5
    assert estimate_tokens("這個計畫很好") == 6


def test_known_models_have_the_names_that_specs_use() -> None:
    assert "gpt-4o" in list_known_models("openai")
    assert "gemini-2.5-pro" in list_known_models("gemini")
    assert list_known_models("openai_compatible") == []


def test_litellm_is_imported_neither_by_prices_nor_by_client() -> None:
    """The import takes seconds and 185 MB: only a worker may do it, when it is first needed."""
    code = "import sys, llm.client, llm.prices as p; p.list_known_models('openai'); sys.exit('litellm' in sys.modules)"
    env = {"DJANGO_SETTINGS_MODULE": "config.settings", "PATH": ""}
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0
