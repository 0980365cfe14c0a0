"""List the models of an endpoint, by a request to its server or from litellm's table."""

import asyncio

import aiohttp
from pydantic_core import from_json

from common.egress import HostRefused, get_session_for, read_capped
from common.providers import get_provider
from llm.adapters.openai import build_headers, get_target
from llm.errors import build_status_error, build_text_error, redact
from llm.prices import list_known_models
from llm.protocol import Endpoint, LLMError

LIST_SECONDS = 8.0
MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_NAMES = 1000
MAX_NAME_LENGTH = 200


async def list_models(endpoint: Endpoint) -> list[str]:
    """Return the names of the endpoint's models, sorted. Raises `LLMError`."""
    provider = get_provider(endpoint.provider)
    if provider.adapter == "demo":
        return [provider.usual_model]
    if provider.models_from == "none":
        raise LLMError("not_found", f"{provider.label} does not list its models.")
    if provider.models_from == "prices":
        return await asyncio.to_thread(list_known_models, endpoint.provider)
    try:
        async with asyncio.timeout(LIST_SECONDS):
            return await _fetch_names(endpoint)
    except TimeoutError as error:
        raise LLMError("timeout_total", f"The server did not list its models within {LIST_SECONDS:g} s.") from error
    except HostRefused as refused:
        raise LLMError("host_refused", refused.message) from refused
    except (aiohttp.ClientError, OSError) as error:
        text = redact(f"The model's server cannot be reached: {error}", endpoint.key)
        raise LLMError("unreachable", text) from error


async def _fetch_names(endpoint: Endpoint) -> list[str]:
    target, key = get_target(endpoint, "models"), endpoint.key
    async with get_session_for(target).get(
        target.url, headers=build_headers(endpoint), allow_redirects=False
    ) as response:
        body = await read_capped(response, MAX_BODY_BYTES)
        if response.status != 200:
            raise build_status_error(response.status, response.headers, body[:65536], key)
    try:
        names = {str(model["id"])[:MAX_NAME_LENGTH] for model in from_json(body)["data"]}
    except (ValueError, TypeError, KeyError) as error:
        if body.lstrip().startswith(b"<"):
            raise build_text_error(body, key) from error
        raise LLMError("garbled", "The server's list of models cannot be read.") from error
    return sorted(names)[:MAX_NAMES]
