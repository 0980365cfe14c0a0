"""Model servers that run on this machine already, in embedded mode only.

Workers search for them every `EVERY` seconds and store what they found in the cache, where web processes read it: no
request waits for a port to answer (F2).
"""

import asyncio
import json
from dataclasses import asdict, dataclass

import aiohttp
from django.conf import settings
from django.core.cache import cache
from pydantic_core import from_json
from redis import RedisError

from common.egress import LOCAL_MODEL_SERVERS, MODEL_PATH, check_url, local_hosts, read_capped, session_for

TIMEOUT = 0.7
"""Seconds that each port gets to answer."""
EVERY = 20.0
"""Seconds between two searches."""
KEPT = 90
"""Seconds that what was found counts when no worker searches any more."""
MAX_LIST = 1024 * 1024
_KEY = "local-model-servers"


@dataclass(frozen=True)
class LocalServer:
    """A server that answered, and the models it has."""

    label: str
    api_base: str
    models: list[str]


async def search_local_servers() -> None:
    """Search for ever, storing what is found in the cache. Return at once unless embedded."""
    while settings.EMBEDDED:
        found = await find_local_servers()
        await asyncio.to_thread(keep_local_servers, found)
        await asyncio.sleep(EVERY)


async def find_local_servers() -> list[LocalServer]:
    """Return the servers that answer now at their usual ports; our own port is not asked."""
    ports = {label: port for label, port in LOCAL_MODEL_SERVERS.items() if f"localhost:{port}" in local_hosts()}
    answers = await asyncio.gather(*(_ask(label, port) for label, port in ports.items()))
    return [server for server in answers if server and server.models]


def keep_local_servers(servers: list[LocalServer]) -> None:
    """Store what was found for web processes. Without Redis, do nothing."""
    try:
        cache.set(_KEY, json.dumps([asdict(server) for server in servers]), timeout=KEPT)
    except (RedisError, OSError):
        return


def list_local_servers() -> list[LocalServer]:
    """Return what a worker found in the last `KEPT` seconds; an empty list when that is not known."""
    if not settings.EMBEDDED:
        return []
    try:
        kept = cache.get(_KEY)
    except (RedisError, OSError):
        return []
    return [LocalServer(**server) for server in json.loads(kept)] if kept else []


def has_answered(port: int | None) -> bool:
    """Return whether a model server was found at this port of this machine."""
    return any(server.api_base.endswith(f":{port}{MODEL_PATH}") for server in list_local_servers())


async def _ask(label: str, port: int) -> LocalServer | None:
    base = f"http://localhost:{port}{MODEL_PATH}"
    target = check_url(f"{base}/models", any_host=True)
    limit = aiohttp.ClientTimeout(total=TIMEOUT)
    try:
        async with session_for(target).get(target.url, allow_redirects=False, timeout=limit) as response:
            if response.status != 200:
                return None
            read = from_json(await read_capped(response, MAX_LIST))
        return LocalServer(label, base, [str(model["id"]) for model in read["data"]])
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError, TypeError, KeyError):
        return None  # nobody there, or somebody else
