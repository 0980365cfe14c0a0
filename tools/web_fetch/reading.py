"""Reading a page in a process apart, with an end to its time and memory; two at a time."""

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

SECONDS = 15.0
"""For one page; then the process that reads it is killed."""
PROCESSES = 2

_SCRIPT = Path(__file__).with_name("reader.py")


@dataclass(frozen=True)
class Page:
    """A part of a page's text, of `total` characters in all. What is not known is empty."""

    title: str
    site: str
    published: str
    text: str
    total: int


class Reader:
    """A process that reads page after page. Not for two threads at once."""

    def __init__(self) -> None:
        self.is_late = False
        # No environment: it needs none, and there may be keys in ours. When we die, its stdin ends, and it too.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", str(_SCRIPT)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={}, cwd="/",
        )  # fmt: skip

    def ask(self, job: dict[str, Any], body: bytes, seconds: float) -> dict[str, Any] | None:
        """Its answer; nothing when it died over it, or had died before."""
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
        self.is_late = True
        self._process.kill()

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass  # what it had not taken yet


_turns: "WeakValueDictionary[tuple[int, str], asyncio.Lock]" = WeakValueDictionary()
_threads = ThreadPoolExecutor(PROCESSES, thread_name_prefix="reader")
_idle: list[Reader] = []


async def read_page(
    body: bytes, *, url: str, is_html: bool | None, charset: str, start: int, length: int, tenant: str = ""
) -> Page:
    """The readable text of what a server sent, from `start` for `length` characters; see `reader.page_of`.

    One page of a tenant is read at a time, so that the processes are there for the pages of others. Raises `ToolError`
    for what is no text, and for what cannot be read within bounds.
    """
    job = {"url": url, "is_html": is_html, "charset": charset, "start": start, "length": length}
    loop = asyncio.get_running_loop()
    turn = _turns.setdefault((id(loop), tenant), asyncio.Lock())
    async with turn:
        answer = await loop.run_in_executor(_threads, partial(_ask, job, body))
    if answer is None:
        raise ToolError("The page is too large or too tangled to be read.", final=True)
    if "error" in answer:
        raise ToolError(f"The page cannot be read. {answer['error']}", final=True)
    return Page(**answer)


def _ask(job: dict[str, Any], body: bytes) -> dict[str, Any] | None:
    while True:
        reader, is_new = _taken()
        answer = reader.ask(job, body, SECONDS)
        if answer is not None:
            _idle.append(reader)
            return answer
        reader.end()
        if is_new or reader.is_late:
            return None
        # It had ended by itself, for want of work or of room: another one is asked.


def _taken() -> tuple[Reader, bool]:
    try:
        return _idle.pop(), False
    except IndexError:
        return Reader(), True


@atexit.register
def end_readers() -> None:
    """End the processes that wait for pages."""
    while _idle:
        _idle.pop().end()
