"""Model servers that run on this machine already: offered at onboarding, in embedded mode only."""

import asyncio
from dataclasses import dataclass

import aiohttp
from django.conf import settings
from pydantic_core import from_json

from common.egress import LOCAL_MODEL_SERVERS, check_url, close_sessions, read_capped, session_for

TIMEOUT = 0.7
"""Seconds for all of them together: the person is waiting for the page."""
MAX_LIST = 1024 * 1024


@dataclass(frozen=True)
class LocalServer:
    """A server that answered, and the models it has."""

    label: str
    api_base: str
    models: list[str]


def find_local_servers(*, own_port: int | None = None) -> list[LocalServer]:
    """Those that answer now at their usual ports; none unless embedded. Blocks for less than a second; not for a loop.

    `own_port` is left out: the door of ours that speaks the same wire is no model server.
    """
    if not settings.EMBEDDED:
        return []
    ports = {label: port for label, port in LOCAL_MODEL_SERVERS.items() if port != own_port}
    return asyncio.run(_found(ports))


async def _found(ports: dict[str, int]) -> list[LocalServer]:
    try:
        answers = await asyncio.gather(*(_ask(label, port) for label, port in ports.items()))
    finally:
        await close_sessions()
    return [server for server in answers if server and server.models]


async def _ask(label: str, port: int) -> LocalServer | None:
    base = f"http://localhost:{port}/v1"
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
