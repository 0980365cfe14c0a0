"""Run a script of ours in a process of its own, because the data that it reads may harm the process."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")


def build_script_command(script: Path, *arguments: str) -> list[str]:
    """Return the command of a script, which sees neither the environment variables of Python nor the current folder."""
    return [sys.executable, "-I", "-X", "utf8", str(script), *arguments]


def run_script(script: Path, *arguments: str, content: bytes, seconds: float) -> subprocess.CompletedProcess[bytes]:
    """Run a script with `content` on stdin, and without environment variables: ours may have keys. The script sets the limits of
    its memory and CPU time. Raises `subprocess.TimeoutExpired` after `seconds` of real time."""
    command = build_script_command(script, *arguments)
    return subprocess.run(command, input=content, capture_output=True, timeout=seconds, env={}, cwd="/", check=False)


class TenantThreads:
    """Threads that wait for processes. A tenant uses one thread at a time, so that there is another for the other tenants."""

    def __init__(self, threads: int, name: str) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        # One for each event loop and tenant.
        self._locks: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()

    async def run(self, work: Callable[[], T], *, tenant: str) -> T:
        """Return the result of `work`. Work without a tenant shares one queue."""
        loop = asyncio.get_running_loop()
        lock = self._locks.setdefault((id(loop), tenant), asyncio.Lock())
        async with lock:
            return await loop.run_in_executor(self._threads, work)
