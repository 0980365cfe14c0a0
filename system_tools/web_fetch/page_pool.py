"""Extract the text of pages in separate processes, with limited time and memory; two at a time."""

import atexit
import json
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

from common.isolated_scripts import build_script_command
from common.shared_slots import SharedThreads
from tools.interface import ToolError

PAGE_SECONDS = 15.0
"""Seconds for one page, after which its process is killed."""
PROCESSES = 2

_SCRIPT = Path(__file__).with_name("page_process.py")


@dataclass(frozen=True)
class WebPage:
    """A part of the text of a page. `total`: characters of the whole text. Unknown fields are empty."""

    title: str
    site: str
    published: str
    text: str
    total: int


class PageProcess:
    """A process that extracts one page after another. Only one thread uses it at a time."""

    def __init__(self) -> None:
        self.is_timed_out = False
        # Without environment variables, which may contain keys. When this process ends, the child's stdin is closed, and it ends.
        self._process = subprocess.Popen(
            build_script_command(_SCRIPT),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise TypeError("The process was started without pipes.")
        self._stdin, self._stdout = self._process.stdin, self._process.stdout

    def ask(self, job: dict[str, Any], body: bytes, seconds: float) -> dict[str, Any] | None:
        """Send a job and return the answer, or null if the process has ended."""
        timer = Timer(seconds, self._kill)
        timer.start()
        try:
            self._stdin.write(json.dumps(job | {"size": len(body)}).encode() + b"\n" + body)
            self._stdin.flush()
            line = self._stdout.readline()
        except BrokenPipeError:
            return None
        finally:
            timer.cancel()
        answer: dict[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
        return answer

    def _kill(self) -> None:
        self.is_timed_out = True
        self._process.kill()

    def end(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._stdin, self._stdout):
            with suppress(BrokenPipeError):  # the process had not read everything
                pipe.close()


_threads = SharedThreads(PROCESSES, "pages")
_idle: list[PageProcess] = []


async def read_page(body: bytes, *, url: str, is_html: bool | None, charset: str, start: int, length: int) -> WebPage:
    """Extract the text of a page and return `length` characters of it from `start`; see `page_process.extract_page`.

    Only one page of a workspace is read at a time, so that one workspace cannot occupy all processes. Raises `ToolError` for a
    body that is not text, and for one that takes too much time or memory.
    """
    job = {"url": url, "is_html": is_html, "charset": charset, "start": start, "length": length}
    answer = await _threads.run(partial(_run_job, job, body))
    if answer is None:
        raise ToolError("The page is too large or too tangled to be read.", is_final=True)
    if "error" in answer:
        raise ToolError(f"The page cannot be read. {answer['error']}", is_final=True)
    return WebPage(**answer)


def _run_job(job: dict[str, Any], body: bytes) -> dict[str, Any] | None:
    while True:
        try:
            process, is_new = _idle.pop(), False
        except IndexError:
            process, is_new = PageProcess(), True
        answer = process.ask(job, body, PAGE_SECONDS)
        if answer is not None:
            _idle.append(process)
            return answer
        process.end()
        if is_new or process.is_timed_out:
            return None
        # The idle process had ended by itself: try the next one.


@atexit.register
def end_page_processes() -> None:
    """Kill the idle processes."""
    while _idle:
        _idle.pop().end()
