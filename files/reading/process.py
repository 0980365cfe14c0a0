"""Reads a file in a process of its own, with limited time and memory, and without environment variables, which may contain keys."""

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

from common.isolated_scripts import run_script

READ_SECONDS = 40.0
"""Seconds of the clock; then the process is killed. Its CPU time has a limit of its own."""

_SCRIPT = Path(__file__).with_name("reader.py")


class UnreadableFile(Exception):
    """A file is damaged, encrypted, or takes too much time or memory to read."""


def read_in_process(kind: str, content: bytes) -> dict[str, Any]:
    """Return what was read of a file of this kind; see `reader.read_file`. Raises `UnreadableFile`."""
    try:
        done = run_script(_SCRIPT, kind, content=content, seconds=READ_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise UnreadableFile("It took too long.") from error
    if done.returncode:
        last_line = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise UnreadableFile(f"The reader ended with status {done.returncode}: {last_line[:300]}")
    found: dict[str, Any] = json.loads(done.stdout)
    if "thumbnail" in found:
        found["thumbnail"] = base64.b64decode(found["thumbnail"])
    return found
