"""What tokens cost and how much a model can read, from the list that litellm brings along.

The file is read by itself: importing litellm takes seconds and 185 MB, and the web process must never do it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic_core import from_json
from yarl import URL

from common.providers import PROVIDERS, get_provider
from llm.adapters.assembly import Assembly
from llm.messages import Request, Usage
from llm.protocol import Endpoint
from llm.tokens import estimated_input, estimated_tokens

_FILE = "model_prices_and_context_window_backup.json"
_MICRO = 1_000_000

# What the list puts before the models of a host that speaks the OpenAI protocol.
_PREFIX_OF_HOST = {
    URL(provider.api_base).host: provider.price_prefixes[0] for provider in PROVIDERS.values() if provider.api_base
} | {
    "api.anthropic.com": "",
    "api.together.xyz": "together_ai/",
    "api.fireworks.ai": "fireworks_ai/",
    "api.perplexity.ai": "perplexity/",
    "generativelanguage.googleapis.com": "gemini/",
}


@dataclass(frozen=True)
class Price:
    """Of one model: millionths of a dollar per token (as a float: prices go far below one), and its sizes in tokens."""

    input: float
    output: float
    cached_input: float
    context: int | None
    max_output: int | None


def price_of(endpoint: Endpoint, model: str) -> Price | None:
    """What the model costs there; None when that is not known, as with a server of one's own."""
    names = _names(endpoint, model)
    if not names:
        return None  # the list takes a while to read
    known = _list()
    return next((known[name] for name in names if name in known), None)


def context_size(endpoint: Endpoint, model: str) -> int | None:
    """Tokens the model can read, when known."""
    price = price_of(endpoint, model)
    return price.context if price else None


def answer_size(endpoint: Endpoint, model: str) -> int | None:
    """Tokens the model can write in one answer, when known."""
    price = price_of(endpoint, model)
    return price.max_output if price else None


def known_models(provider: str) -> list[str]:
    """Names of a provider's chat models, as one would write them in a spec."""
    entry = get_provider(provider)
    if not entry.price_owners:
        return []
    listed = {name.removeprefix(f"{provider}/") for name, owner in _owners().items() if owner in entry.price_owners}
    return sorted(name for name in listed if entry.is_model_name(name))


def usage_of(endpoint: Endpoint, request: Request, said: Mapping[str, Any] | None, made: Assembly) -> Usage:
    """What a request used: as the server said it, else estimated from the texts."""
    said = said if isinstance(said, Mapping) else {}
    tokens_in, tokens_out = _tokens(said.get("prompt_tokens")), _tokens(said.get("completion_tokens"))
    if tokens_in is None or tokens_out is None:
        return estimated_usage(endpoint, request, _written(made))
    usage = Usage(tokens_in, tokens_out)
    provider = PROVIDERS.get(endpoint.provider)
    if provider is not None and provider.reports_cost and isinstance(cost := said.get("cost"), int | float):
        return replace(usage, cost_micro=round(cost * _MICRO))  # it says in dollars what it took
    details = said.get("prompt_tokens_details")
    cached = _tokens(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    return _priced(endpoint, request.model, usage, cached=min(cached or 0, tokens_in))


def estimated_usage(endpoint: Endpoint, request: Request, answer: str) -> Usage:
    """Return about what a request took whose answer came this far."""
    usage = Usage(estimated_input(request), estimated_tokens(answer), estimated=True)
    return _priced(endpoint, request.model, usage)


def _priced(endpoint: Endpoint, model: str, usage: Usage, *, cached: int = 0) -> Usage:
    price = price_of(endpoint, model)
    if price is None:
        return usage
    read = (usage.input_tokens - cached) * price.input + cached * price.cached_input
    return replace(usage, cost_micro=round(read + usage.output_tokens * price.output))


def _tokens(said: Any) -> int | None:
    return said if isinstance(said, int) and said >= 0 else None


def _written(made: Assembly) -> str:
    return "".join([made.text, made.thinking, *(f"{call.name}{call.arguments}" for call in made.calls())])


def _names(endpoint: Endpoint, model: str) -> list[str]:
    provider = PROVIDERS.get(endpoint.provider)
    if provider is not None and (provider.has_address or not endpoint.api_base) and provider.price_prefixes:
        return [prefix + model for prefix in provider.price_prefixes]
    host = URL(endpoint.api_base or "").host
    return [_PREFIX_OF_HOST[host] + model] if host in _PREFIX_OF_HOST else []


@cache
def _list() -> dict[str, Price]:
    return {name: _price(entry) for name, entry in _entries().items()}


@cache
def _owners() -> dict[str, str]:
    return {name: entry["litellm_provider"] for name, entry in _entries().items() if entry["mode"] == "chat"}


def _entries() -> dict[str, dict[str, Any]]:
    package = find_spec("litellm")
    if package is None or not package.origin:
        return {}
    read = from_json((Path(package.origin).parent / _FILE).read_bytes(), cache_strings="keys")
    return {name: entry for name, entry in read.items() if entry.get("mode") in ("chat", "responses")}


def _price(entry: Mapping[str, Any]) -> Price:
    each = float(entry.get("input_cost_per_token") or 0) * _MICRO
    cached = entry.get("cache_read_input_token_cost")
    return Price(
        input=each,
        output=float(entry.get("output_cost_per_token") or 0) * _MICRO,
        cached_input=float(cached) * _MICRO if cached is not None else each,
        context=_int(entry.get("max_input_tokens") or entry.get("max_tokens")),
        max_output=_int(entry.get("max_output_tokens")),
    )


def _int(value: Any) -> int | None:
    try:
        return int(value) if value else None
    except (TypeError, ValueError):
        return None
