"""Reads an OpenAPI document in a process of its own, with limited time and memory, and without keys."""

import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from tools.openapi.document import InvalidDocument

READ_SECONDS = 30.0
"""Seconds of the clock; then the process is killed. Its CPU time has a limit of its own."""
PROCESSES = 2

_SCRIPT = Path(__file__).with_name("reader.py")
_locks: "WeakValueDictionary[tuple[int, str], asyncio.Lock]" = WeakValueDictionary()
_threads = ThreadPoolExecutor(PROCESSES, thread_name_prefix="openapi")


async def read_document(text: str, url: str, *, tenant: str = "") -> dict[str, Any]:
    """Return what was read of a document; see `reader.describe_document`. Raises `InvalidDocument`.

    A tenant uses one process at a time, so that there is another for the other tenants.
    """
    loop = asyncio.get_running_loop()
    lock = _locks.setdefault((id(loop), tenant), asyncio.Lock())
    async with lock:
        return await loop.run_in_executor(_threads, partial(read_in_process, text, url))


def read_in_process(text: str, url: str) -> dict[str, Any]:
    """Return what was read of a document; see `reader.describe_document`. Raises `InvalidDocument`."""
    try:
        done = subprocess.run(
            # No environment: ours may have keys.
            [sys.executable, "-I", "-X", "utf8", str(_SCRIPT)],
            input=json.dumps({"text": text, "url": url}).encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            timeout=READ_SECONDS, env={}, cwd="/", check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise InvalidDocument("It takes too long to be read.") from error
    if done.returncode:
        raise InvalidDocument("It is too large or too tangled to be read.")
    found: dict[str, Any] = json.loads(done.stdout)
    if "problem" in found:
        raise InvalidDocument(found["problem"])
    return found
