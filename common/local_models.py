"""Find model servers: on this machine, in embedded mode only, and those that the operator allows for models only.

Workers search for them every `SEARCH_INTERVAL_SECONDS` and store the result in Redis, where web processes read it: no
request waits for a port to answer (FAIR2).
"""

import asyncio
import json
from dataclasses import asdict, dataclass

import aiohttp
from django.conf import settings
from pydantic_core import from_json
from yarl import URL

from common.egress import (
    LOCAL_MODEL_SERVERS,
    MODEL_PATH,
    check_url,
    format_host_and_port,
    get_session_for,
    list_allowed_hosts,
    list_hosts_of_this_machine,
    list_hosts_without_path,
    list_model_hosts,
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
    """Search for ever, and store the result in Redis. Return at once if there is nowhere to search."""
    while settings.EMBEDDED or list_allowed_hosts():
        found = await find_local_servers()
        await asyncio.to_thread(store_local_servers, found)
        await asyncio.sleep(SEARCH_INTERVAL_SECONDS)


async def find_local_servers() -> list[LocalServer]:
    """Return the model servers that answer now: at their usual ports of this machine, except our own, and at the hosts that the
    operator allows with a path. Those without one may be servers of tools, which would be asked every few seconds."""
    ports = {
        label: port
        for label, port in LOCAL_MODEL_SERVERS.items()
        if f"localhost:{port}" in list_hosts_of_this_machine()
    }
    bases = {f"http://localhost:{port}{MODEL_PATH}": label for label, port in ports.items()}
    without_path = list_hosts_without_path()
    for host, paths in list_allowed_hosts().items():
        if host not in without_path and not host.startswith("127.0.0.1:"):  # it is found as localhost
            bases = {f"http://{host}{path}": host for path in sorted(paths)} | bases
    answers = await asyncio.gather(*(_query_server(label, base) for base, label in bases.items()))
    return [server for server in answers if server and server.models]


def store_local_servers(servers: list[LocalServer]) -> None:
    """Store the servers in Redis for the web processes."""
    found = json.dumps([asdict(server) for server in servers])
    redis_client.call(lambda client: client.set(_KEY, found, ex=RESULT_TTL_SECONDS), None)


def list_local_servers() -> list[LocalServer]:
    """Return the servers that a worker found in the last `RESULT_TTL_SECONDS` and that may still be used; an empty list without a
    worker or Redis."""
    allowed = list_model_hosts()
    if not allowed:
        return []
    stored = redis_client.call(lambda client: client.get(_KEY), None)
    found = [LocalServer(**server) for server in json.loads(stored)] if stored else []
    return [server for server in found if format_host_and_port(URL(server.api_base)) in allowed]


def was_found_on_this_machine(port: int | None) -> bool:
    """Return whether a model server was found at this port of this machine."""
    return any(server.api_base == f"http://localhost:{port}{MODEL_PATH}" for server in list_local_servers())


async def _query_server(label: str, base: str) -> LocalServer | None:
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
