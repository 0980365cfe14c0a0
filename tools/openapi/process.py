"""Reads an OpenAPI document in a process of its own, with limited time and memory, and without keys."""

import json
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

from common.isolated_scripts import run_script
from common.shared_slots import SharedThreads
from tools.openapi.document import InvalidDocument

READ_SECONDS = 30.0
"""Seconds of the clock; then the process is killed. Its CPU time has a limit of its own."""
PROCESSES = 2

_SCRIPT = Path(__file__).with_name("reader.py")
_threads = SharedThreads(PROCESSES, "openapi")


async def read_document(text: str, url: str) -> dict[str, Any]:
    """Return what was read of a document; see `reader.describe_document`. Raises `InvalidDocument`."""
    return await _threads.run(partial(read_in_process, text, url))


def read_in_process(text: str, url: str) -> dict[str, Any]:
    """Return the same as `read_document`, but block this thread until the process has ended. Raises `InvalidDocument`."""
    try:
        content = json.dumps({"text": text, "url": url}).encode()
        done = run_script(_SCRIPT, content=content, seconds=READ_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise InvalidDocument("It takes too long to be read.") from error
    if done.returncode:
        raise InvalidDocument("It is too large or too tangled to be read.")
    found: dict[str, Any] = json.loads(done.stdout)
    if "problem" in found:
        raise InvalidDocument(found["problem"])
    return found
