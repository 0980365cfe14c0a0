"""Resolve host names from tenants in separate threads, with a time limit and a limit per tenant (FAIR2).

A lookup of the C library cannot be interrupted. After `LOOKUP_SECONDS` its caller gives up, but the lookup keeps its thread and
a slot of its tenant until it ends. So a tenant whose name server never answers delays only itself. `limit_resolver` shortens
such lookups.
"""

import asyncio
import os
import socket
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from common.tenants import get_current_tenant

LOOKUP_SECONDS = 2.0
"""Time limit of one lookup, with the wait for a slot."""
PER_TENANT = 4
"""Concurrent lookups of one tenant in this process, including those whose caller has given up."""
THREADS = 32

_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="dns")
_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] = WeakKeyDictionary()


async def resolve_host(host: str, port: int, family: int = socket.AF_UNSPEC) -> list[Any]:
    """Return the result of `getaddrinfo`. Raises `socket.gaierror`, with `EAI_AGAIN` if the lookup took too long."""
    loop = asyncio.get_running_loop()
    slots = _slots.setdefault(loop, {})
    slot = slots.setdefault(get_current_tenant(), asyncio.Semaphore(PER_TENANT))

    def release(done: Future[Any]) -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(slot.release)

    try:
        async with asyncio.timeout(LOOKUP_SECONDS):
            await slot.acquire()
            lookup = _threads.submit(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM)
            lookup.add_done_callback(release)
            result = asyncio.wrap_future(lookup)
            # If the caller has given up, asyncio would log that the exception was never retrieved.
            result.add_done_callback(lambda done: done.cancelled() or done.exception())
            return await asyncio.shield(result)
    except TimeoutError as error:
        raise socket.gaierror(
            socket.EAI_AGAIN, f"The name {host} could not be looked up in {LOOKUP_SECONDS:g} s."
        ) from error
    finally:
        if len(slots) > 1000:
            # Delete unused semaphores only: a new one would not count the lookups that are still running.
            for name in [name for name, one in slots.items() if one._value == PER_TENANT]:
                del slots[name]


def limit_resolver() -> None:
    """Set short time limits for the C library's resolver, unless the operator has set others. Call it before the first lookup."""
    os.environ.setdefault("RES_OPTIONS", "timeout:1 attempts:2")
