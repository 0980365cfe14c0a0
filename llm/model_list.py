"""List the models of an endpoint, by a request to its server or from litellm's table."""

import asyncio
from collections.abc import Mapping
from typing import Any

import aiohttp
from pydantic_core import from_json

from common.egress import HostRefused, get_session_for, read_capped
from common.providers import get_provider
from llm.adapters.openai import build_connection_error, build_headers, get_base_url, get_target
from llm.errors import build_status_error, build_text_error
from llm.prices import list_known_models
from llm.protocol import Endpoint, LLMError

LIST_SECONDS = 8.0
MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_NAMES = 1000
MAX_NAME_LENGTH = 200
MAX_SIZE = 20_000_000
"""Tokens above which a size is that of no model."""

_SIZES = (
    *("meta.n_ctx", "max_model_len", "loaded_context_length", "top_provider.context_length", "context_length"),
    *("context_window", "max_context_length", "max_input_tokens", "inputTokenLimit", "context_size", "n_ctx"),
)
"""Where servers say how many tokens a model reads: llama.cpp, vLLM, LM Studio, OpenRouter, Groq, Mistral and others. The size that
is loaded comes before the largest one."""


async def list_models(endpoint: Endpoint) -> dict[str, int | None]:
    """Return the names of the endpoint's models, sorted, each with the tokens that it reads; null if the server does not say that.
    Raises `LLMError`."""
    provider = get_provider(endpoint.provider)
    if provider.adapter == "demo":
        return {provider.usual_model: None}
    if provider.models_from == "none":
        raise LLMError("not_found", f"{provider.label} does not list its models.")
    if provider.models_from == "prices":
        return dict.fromkeys(await asyncio.to_thread(list_known_models, endpoint.provider))
    try:
        async with asyncio.timeout(LIST_SECONDS):
            return await _fetch_models(endpoint)
    except TimeoutError as error:
        raise LLMError("timeout_total", f"The server did not list its models within {LIST_SECONDS:g} s.") from error
    except HostRefused as refused:
        raise LLMError("host_refused", refused.message) from refused
    except (aiohttp.ClientError, OSError) as error:
        failed = build_connection_error(error, get_base_url(endpoint), endpoint.key)
        failed.retryable = False
        raise failed from error


async def _fetch_models(endpoint: Endpoint) -> dict[str, int | None]:
    target, key = get_target(endpoint, "models"), endpoint.key
    async with get_session_for(target).get(
        target.url, headers=build_headers(endpoint), allow_redirects=False
    ) as response:
        body = await read_capped(response, MAX_BODY_BYTES)
        if response.status != 200:
            raise build_status_error(response.status, response.headers, body[:65536], key)
    try:
        sizes = {str(model["id"])[:MAX_NAME_LENGTH]: _find_size(model) for model in from_json(body)["data"]}
    except (ValueError, TypeError, KeyError) as error:
        if body.lstrip().startswith(b"<"):
            raise build_text_error(body, key) from error
        raise LLMError("garbled", "The server's list of models cannot be read.") from error
    return dict(sorted(sizes.items())[:MAX_NAMES])


def _find_size(model: Mapping[str, Any]) -> int | None:
    """Return how many tokens a model reads, by its entry in the list, or null."""
    for path in _SIZES:
        value: Any = model
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_SIZE:
            return value
    return None
