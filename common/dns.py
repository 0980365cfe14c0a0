"""Looking up the names of hosts that a tenant gave, in threads of its own, bounded in time and per tenant (FAIR2).

The C library's look-up cannot be interrupted: one that takes too long is given up, but keeps its thread and its
tenant's slot until it ends. So a tenant whose name server never answers delays only itself. Workers make that end come
soon (`limit_resolver`).
"""

import asyncio
import os
import socket
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from common.tenants import current_tenant

SECONDS = 2.0
"""What one look-up may take, waiting for a slot included."""
PER_TENANT = 4
"""Look-ups of one tenant at once, in this process; those that were given up count until they end."""
THREADS = 32

_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="dns")
_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] = WeakKeyDictionary()


async def look_up(host: str, port: int, family: int = socket.AF_UNSPEC) -> list[Any]:
    """Return what `getaddrinfo` says. Raises `socket.gaierror`, with `EAI_AGAIN` when it took too long."""
    loop = asyncio.get_running_loop()
    slots = _slots.setdefault(loop, {})
    slot = slots.setdefault(current_tenant(), asyncio.Semaphore(PER_TENANT))

    def release(done: Future[Any]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(slot.release)

    try:
        async with asyncio.timeout(SECONDS):
            await slot.acquire()
            asked = _threads.submit(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM)
            asked.add_done_callback(release)
            answer = asyncio.wrap_future(asked)
            answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be waiting for it
            return await asyncio.shield(answer)
    except TimeoutError as error:
        raise socket.gaierror(socket.EAI_AGAIN, f"The name {host} could not be looked up in {SECONDS:g} s.") from error
    finally:
        if len(slots) > 1000:
            # Only those that nobody uses; one that is in use would be counted anew.
            for name in [name for name, one in slots.items() if one._value == PER_TENANT]:
                del slots[name]


def limit_resolver() -> None:
    """Make this process' look-ups end soon by themselves, unless the operator says otherwise; before the first one."""
    os.environ.setdefault("RES_OPTIONS", "timeout:1 attempts:2")
