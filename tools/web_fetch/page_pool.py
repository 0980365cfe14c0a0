"""Reads pages in processes of their own, with limited time and memory; two at a time."""

import asyncio
import atexit
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any
from weakref import WeakValueDictionary

from tools.interface import ToolError

PAGE_SECONDS = 15.0
"""Time for one page; then the process that reads it is killed."""
PROCESSES = 2

_SCRIPT = Path(__file__).with_name("page_process.py")


@dataclass(frozen=True)
class Page:
    """A part of a page's text, of `total` characters in all. What is not known is empty."""

    title: str
    site: str
    published: str
    text: str
    total: int


class PageProcess:
    """A process that reads one page after another. Only one thread uses it at a time."""

    def __init__(self) -> None:
        self.is_timed_out = False
        # No environment: ours may have keys. When this process ends, its stdin ends, and so does the child.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", str(_SCRIPT)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={}, cwd="/",
        )  # fmt: skip

    def ask(self, job: dict[str, Any], body: bytes, seconds: float) -> dict[str, Any] | None:
        """Return its answer, or null if the process has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        end = Timer(seconds, self._kill)
        end.start()
        try:
            self._process.stdin.write(json.dumps(job | {"size": len(body)}).encode() + b"\n" + body)
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            return None
        finally:
            end.cancel()
        answer: dict[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
        return answer

    def _kill(self) -> None:
        self.is_timed_out = True
        self._process.kill()

    def end(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass  # it had not read everything


_locks: "WeakValueDictionary[tuple[int, str], asyncio.Lock]" = WeakValueDictionary()
_threads = ThreadPoolExecutor(PROCESSES, thread_name_prefix="process")
_idle: list[PageProcess] = []


async def read_page(
    body: bytes, *, url: str, is_html: bool | None, charset: str, start: int, length: int, tenant: str = ""
) -> Page:
    """Return the readable text of a page, from `start` for `length` characters; see `page_process.extract_page`.

    One page of a tenant is read at a time, so that the others have a process, too. Raises `ToolError` for a body that is not
    text, and for one that takes too much time or memory.
    """
    job = {"url": url, "is_html": is_html, "charset": charset, "start": start, "length": length}
    loop = asyncio.get_running_loop()
    lock = _locks.setdefault((id(loop), tenant), asyncio.Lock())
    async with lock:
        answer = await loop.run_in_executor(_threads, partial(_run_job, job, body))
    if answer is None:
        raise ToolError("The page is too large or too tangled to be read.", final=True)
    if "error" in answer:
        raise ToolError(f"The page cannot be read. {answer['error']}", final=True)
    return Page(**answer)


def _run_job(job: dict[str, Any], body: bytes) -> dict[str, Any] | None:
    while True:
        process, is_new = _get_process()
        answer = process.ask(job, body, PAGE_SECONDS)
        if answer is not None:
            _idle.append(process)
            return answer
        process.end()
        if is_new or process.is_timed_out:
            return None
        # The process had ended by itself, idle or with too much memory: another one gets the job.


def _get_process() -> tuple[PageProcess, bool]:
    try:
        return _idle.pop(), False
    except IndexError:
        return PageProcess(), True


@atexit.register
def end_page_processes() -> None:
    """Kill the idle processes."""
    while _idle:
        _idle.pop().end()
