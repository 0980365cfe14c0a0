"""Find model servers that run on this machine, in embedded mode only.

Workers search for them every `SEARCH_INTERVAL_SECONDS` and store the result in Redis, where web processes read it: no
request waits for a port to answer (FAIR2).
"""

import asyncio
import json
from dataclasses import asdict, dataclass

import aiohttp
from django.conf import settings
from pydantic_core import from_json

from common.egress import (
    LOCAL_MODEL_SERVERS,
    MODEL_PATH,
    check_url,
    get_session_for,
    list_hosts_of_this_machine,
    read_capped,
)
from common.redis_client import redis_client

PORT_TIMEOUT_SECONDS = 0.7
"""Time limit of a request to one port."""
SEARCH_INTERVAL_SECONDS = 20.0
"""Seconds between two searches."""
RESULT_TTL_SECONDS = 90
"""Seconds for which the result of a search is valid."""
MAX_LIST_BYTES = 1024 * 1024
_KEY = "local-model-servers"


@dataclass(frozen=True)
class LocalServer:
    """A model server that answered, and the names of its models."""

    label: str
    api_base: str
    models: list[str]


async def search_local_servers() -> None:
    """Search for ever, and store the result in Redis. Return at once unless embedded."""
    while settings.EMBEDDED:
        found = await find_local_servers()
        await asyncio.to_thread(store_local_servers, found)
        await asyncio.sleep(SEARCH_INTERVAL_SECONDS)


async def find_local_servers() -> list[LocalServer]:
    """Return the model servers that answer now at their usual ports; our own port is left out."""
    ports = {
        label: port
        for label, port in LOCAL_MODEL_SERVERS.items()
        if f"localhost:{port}" in list_hosts_of_this_machine()
    }
    answers = await asyncio.gather(*(_query_server(label, port) for label, port in ports.items()))
    return [server for server in answers if server and server.models]


def store_local_servers(servers: list[LocalServer]) -> None:
    """Store the servers in Redis for the web processes."""
    found = json.dumps([asdict(server) for server in servers])
    redis_client.call(lambda client: client.set(_KEY, found, ex=RESULT_TTL_SECONDS), None)


def list_local_servers() -> list[LocalServer]:
    """Return the servers that a worker found in the last `RESULT_TTL_SECONDS`; an empty list without a worker or Redis."""
    if not settings.EMBEDDED:
        return []
    stored = redis_client.call(lambda client: client.get(_KEY), None)
    return [LocalServer(**server) for server in json.loads(stored)] if stored else []


def was_found_on_this_machine(port: int | None) -> bool:
    """Return whether a model server was found at this port of this machine."""
    return any(server.api_base.endswith(f":{port}{MODEL_PATH}") for server in list_local_servers())


async def _query_server(label: str, port: int) -> LocalServer | None:
    base = f"http://localhost:{port}{MODEL_PATH}"
    target = check_url(f"{base}/models", any_host=True)
    limit = aiohttp.ClientTimeout(total=PORT_TIMEOUT_SECONDS)
    try:
        async with get_session_for(target).get(target.url, allow_redirects=False, timeout=limit) as response:
            if response.status != 200:
                return None
            read = from_json(await read_capped(response, MAX_LIST_BYTES))
        return LocalServer(label, base, [str(model["id"]) for model in read["data"]])
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError, TypeError, KeyError):
        return None  # no server, or another program
