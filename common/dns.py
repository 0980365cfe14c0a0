"""Resolve host names from tenants in separate threads, with a time limit (FAIR2).

A lookup of the C library cannot be interrupted. After `LOOKUP_SECONDS` its caller gives up, but the lookup keeps its thread,
which counts for its tenant, until it ends. So a tenant whose name server never answers delays only itself. `limit_resolver`
shortens such lookups.
"""

import asyncio
import os
import socket
from functools import partial
from typing import Any

from common.shared_slots import SharedThreads

LOOKUP_SECONDS = 2.0
"""Time limit of one lookup, with the wait for a thread."""
THREADS = 32
"""Concurrent lookups of this process, including those whose caller has given up."""

_threads = SharedThreads(THREADS, "dns")


async def resolve_host(host: str, port: int, family: int = socket.AF_UNSPEC) -> list[Any]:
    """Return the result of `getaddrinfo`. Raises `socket.gaierror`, with `EAI_AGAIN` if the lookup took too long."""
    lookup = partial(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM)
    try:
        async with asyncio.timeout(LOOKUP_SECONDS):
            return await _threads.run(lookup)
    except TimeoutError as error:
        raise socket.gaierror(
            socket.EAI_AGAIN, f"The name {host} could not be looked up in {LOOKUP_SECONDS:g} s."
        ) from error


def limit_resolver() -> None:
    """Set short time limits for the C library's resolver, unless the operator has set others. Call it before the first lookup."""
    os.environ.setdefault("RES_OPTIONS", "timeout:1 attempts:2")
