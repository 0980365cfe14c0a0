"""Which models a server has: its own list where it gives one, else the names that litellm's table knows."""

import asyncio

import aiohttp
from pydantic_core import from_json

from common.egress import HostRefused, read_capped, session_for
from common.providers import get_provider
from llm.adapters.openai import headers_of, target_of
from llm.errors import error_of_status
from llm.prices import known_models
from llm.protocol import Endpoint, LLMError
from llm.scrubbing import scrubbed

SECONDS = 8.0
MAX_BODY = 2 * 1024 * 1024
MOST_NAMES = 1000
MAX_NAME = 200


async def list_models(endpoint: Endpoint) -> list[str]:
    """Return the names of the endpoint's models, sorted. Raises `LLMError`."""
    provider = get_provider(endpoint.provider)
    if provider.adapter == "demo":
        return [provider.usual_model]
    if provider.models_from == "nobody":
        raise LLMError("not_found", f"{provider.label} does not list its models.")
    if provider.models_from == "prices":
        return await asyncio.to_thread(known_models, endpoint.provider)
    try:
        async with asyncio.timeout(SECONDS):
            return await _ask_server(endpoint)
    except TimeoutError as error:
        raise LLMError("timeout_total", f"The server did not list its models within {SECONDS:g} s.") from error
    except HostRefused as refused:
        raise LLMError("host_refused", refused.message) from refused
    except (aiohttp.ClientError, OSError) as error:
        text = scrubbed(f"The model's server cannot be reached: {error}", endpoint.key)
        raise LLMError("unreachable", text) from error


async def _ask_server(endpoint: Endpoint) -> list[str]:
    target, key = target_of(endpoint, "models"), endpoint.key
    async with session_for(target).get(target.url, headers=headers_of(endpoint), allow_redirects=False) as response:
        body = await read_capped(response, MAX_BODY)
        if response.status != 200:
            raise error_of_status(response.status, response.headers, body[:65536], key)
    try:
        names = {str(model["id"])[:MAX_NAME] for model in from_json(body)["data"]}
    except (ValueError, TypeError, KeyError) as error:
        raise LLMError("garbled", "The server's list of models cannot be read.") from error
    return sorted(names)[:MOST_NAMES]
