"""Look up prices and sizes of models in the list that litellm contains.

The file is read directly: importing litellm takes seconds and 185 MB, which the web process must not spend.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic_core import from_json
from yarl import URL

from common.egress import list_hosts_of_this_machine
from common.providers import PROVIDERS, get_provider
from llm.adapters.assembly import Assembly
from llm.messages import ModelRequest, Usage
from llm.protocol import Endpoint, Price
from llm.tokens import estimate_input, estimate_tokens

_FILE = "model_prices_and_context_window_backup.json"
_MICRO = 1_000_000
MAX_TOKENS = 10_000_000
"""Tokens of a question, or of an answer, that a server may report. No model reads as many, and the sum of a run fits its column."""
MIN_TOKENS_FOR_FACTOR = 1_000
"""Requests with fewer tokens are not compared with our estimate: what the protocol adds counts too much in them."""
MAX_COST = 1_000_000
"""Dollars that a server may report for one request."""

# Hosts that speak the OpenAI protocol, and the prefix of their models in the list.
_PREFIX_OF_HOST = {
    URL(provider.api_base).host: provider.price_prefixes[0] for provider in PROVIDERS.values() if provider.api_base
} | {
    "api.anthropic.com": "",
    "api.together.xyz": "together_ai/",
    "api.fireworks.ai": "fireworks_ai/",
    "api.perplexity.ai": "perplexity/",
    "generativelanguage.googleapis.com": "gemini/",
}


def get_price(endpoint: Endpoint, model: str) -> Price | None:
    """Return the price of a model: that of the endpoint, else that of the list. Return null if neither is known, for example on a
    self-hosted server."""
    names = _build_names(endpoint, model)
    known = _load_prices() if names else {}  # reading the list takes a while
    listed = next((known[name] for name in names if name in known), None)
    own = endpoint.price
    if own is None:
        return listed
    base = listed or Price(own.input, own.output, own.input, None, None)
    return replace(base, input=own.input, output=own.output, cached_input=own.input, is_cost_known=True)


def is_free(endpoint: Endpoint, model: str) -> bool:
    """Return whether requests to the model cost nothing: by its price, or because its server runs on this machine and no price was
    set for it."""
    price = get_price(endpoint, model)
    if price is not None and price.is_cost_known:
        return not (price.input or price.output)
    base = URL(endpoint.api_base or "")
    return f"{base.host}:{base.port}" in list_hosts_of_this_machine()


def is_price_known(endpoint: Endpoint, model: str) -> bool:
    """Return whether the cost of a request to the model can be computed from its tokens."""
    price = get_price(endpoint, model)
    return price is not None and price.is_cost_known


def get_context_size(endpoint: Endpoint, model: str) -> int | None:
    """Return how many tokens the model can read, or null."""
    price = get_price(endpoint, model)
    return price.context if price else None


def get_answer_size(endpoint: Endpoint, model: str) -> int | None:
    """Return how many tokens the model can write in one answer, or null."""
    price = get_price(endpoint, model)
    return price.max_output if price else None


def can_see_images(endpoint: Endpoint, model: str) -> bool:
    """Return whether the model can read images, as far as is known."""
    price = get_price(endpoint, model)
    return price is not None and price.can_see_images


def list_known_models(provider: str) -> list[str]:
    """Return the names of a provider's chat models, as they are written in a spec."""
    entry = get_provider(provider)
    if not entry.price_table_providers:
        return []
    listed = {
        name.removeprefix(f"{provider}/")
        for name, owner in _load_providers_by_model().items()
        if owner in entry.price_table_providers
    }
    return sorted(name for name in listed if entry.is_model_name(name))


def build_usage(
    endpoint: Endpoint, request: ModelRequest, reported: Mapping[str, Any] | None, assembly: Assembly
) -> Usage:
    """Return the usage of a request as the server reported it, else an estimate."""
    reported = reported if isinstance(reported, Mapping) else {}
    tokens_in, tokens_out = (
        _parse_tokens(reported.get("prompt_tokens")),
        _parse_tokens(reported.get("completion_tokens")),
    )
    if tokens_in is None or tokens_out is None:
        calls = (f"{call.name}{call.arguments}" for call in assembly.build_calls())
        return estimate_usage(endpoint, request, "".join([assembly.text, assembly.thinking, *calls]))
    # The two numbers are not compared for a short request (`MIN_TOKENS_FOR_FACTOR`), nor for images, whose tokens are not known.
    is_compared = tokens_in >= MIN_TOKENS_FOR_FACTOR and not any(turn.images for turn in request.turns)
    usage = Usage(tokens_in, tokens_out, estimated_input=estimate_input(request) if is_compared else None)
    if reports_cost(endpoint) and (cost_micro := _parse_cost(reported.get("cost"))) is not None:
        return replace(usage, cost_micro=cost_micro)
    details = reported.get("prompt_tokens_details")
    cached = _parse_tokens(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    return _add_cost(endpoint, request.model, usage, cached=min(cached or 0, tokens_in))


def build_embedding_usage(endpoint: Endpoint, request: ModelRequest, reported: Any) -> Usage:
    """Return the usage of a request for embeddings as the server reported it, else an estimate."""
    reported = reported if isinstance(reported, Mapping) else {}
    tokens = _parse_tokens(reported.get("prompt_tokens"))
    if tokens is None:
        return estimate_usage(endpoint, request, "")
    usage = Usage(tokens, 0)
    if reports_cost(endpoint) and (cost_micro := _parse_cost(reported.get("cost"))) is not None:
        return replace(usage, cost_micro=cost_micro)
    return _add_cost(endpoint, request.model, usage)


def reports_cost(endpoint: Endpoint) -> bool:
    """Return whether the server reports what a request cost, and no other price was set."""
    provider = PROVIDERS.get(endpoint.provider)
    return provider is not None and provider.reports_cost and endpoint.price is None


def estimate_usage(endpoint: Endpoint, request: ModelRequest, answer: str) -> Usage:
    """Return an estimate of the usage of a request with this part of its answer."""
    usage = Usage(estimate_input(request), estimate_tokens(answer), estimated=True)
    return _add_cost(endpoint, request.model, usage)


def _add_cost(endpoint: Endpoint, model: str, usage: Usage, *, cached: int = 0) -> Usage:
    price = get_price(endpoint, model)
    if price is None or not price.is_cost_known:
        return usage
    input_cost = (usage.input_tokens - cached) * price.input + cached * price.cached_input
    return replace(usage, cost_micro=round(input_cost + usage.output_tokens * price.output))


def _parse_tokens(reported: Any) -> int | None:
    is_number = isinstance(reported, int) and not isinstance(reported, bool)
    return reported if is_number and 0 <= reported <= MAX_TOKENS else None


def _parse_cost(reported: Any) -> int | None:
    """Return a cost in dollars as millionths; null if it is not a number, is negative, or exceeds `MAX_COST`."""
    is_number = isinstance(reported, int | float) and not isinstance(reported, bool)
    return round(reported * _MICRO) if is_number and 0 <= reported <= MAX_COST else None


def _build_names(endpoint: Endpoint, model: str) -> list[str]:
    provider = PROVIDERS.get(endpoint.provider)
    # For a provider with an address of its own, `api_base` is another server, which is looked up by its host.
    if provider is not None and provider.price_prefixes and (provider.has_api_base or not endpoint.api_base):
        return [prefix + model for prefix in provider.price_prefixes]
    host = URL(endpoint.api_base or "").host
    return [_PREFIX_OF_HOST[host] + model] if host in _PREFIX_OF_HOST else []


@cache
def _load_prices() -> dict[str, Price]:
    return {name: _build_price(entry) for name, entry in _load_entries().items()}


@cache
def _load_providers_by_model() -> dict[str, str]:
    return {name: entry["litellm_provider"] for name, entry in _load_entries().items() if entry["mode"] == "chat"}


def _load_entries() -> dict[str, dict[str, Any]]:
    package = find_spec("litellm")
    if package is None or not package.origin:
        return {}
    entries = from_json((Path(package.origin).parent / _FILE).read_bytes(), cache_strings="keys")
    return {name: entry for name, entry in entries.items() if entry.get("mode") in ("chat", "responses", "embedding")}


def _build_price(entry: Mapping[str, Any]) -> Price:
    input_cost = float(entry.get("input_cost_per_token") or 0) * _MICRO
    cached = entry.get("cache_read_input_token_cost")
    return Price(
        input=input_cost,
        output=float(entry.get("output_cost_per_token") or 0) * _MICRO,
        cached_input=float(cached) * _MICRO if cached is not None else input_cost,
        context=_parse_int(entry.get("max_input_tokens") or entry.get("max_tokens")),
        max_output=_parse_int(entry.get("max_output_tokens")),
        can_see_images=bool(entry.get("supports_vision")),
        is_cost_known="input_cost_per_token" in entry
        and ("output_cost_per_token" in entry or entry["mode"] == "embedding"),
    )


def _parse_int(value: Any) -> int | None:
    try:
        return int(value) if value else None
    except (TypeError, ValueError):
        return None
