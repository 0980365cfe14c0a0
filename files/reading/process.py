"""Reads a file in a process of its own, with limited time and memory, and without environment variables, which may contain keys."""

import base64
import json
import signal
import subprocess
from pathlib import Path
from typing import Any

from common.isolated_scripts import run_script
from events.payloads import NoTextReason

READ_SECONDS = 40.0
"""Seconds of the clock; then the process is killed. Its CPU time has a limit of its own."""

_SCRIPT = Path(__file__).with_name("reader.py")
_ENDS_OF_LIMITS = {-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGABRT}
"""How the process ends at a limit: of CPU time, or of memory. Libraries in C and Rust abort if they get no memory."""


class UnreadableFile(Exception):
    """A file is damaged, encrypted, or takes too much time or memory to read."""

    def __init__(self, reason: NoTextReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def read_in_process(kind: str, content: bytes) -> dict[str, Any]:
    """Return what was read of a file of this kind; see `reader.read_file`. Raises `UnreadableFile`."""
    try:
        done = run_script(_SCRIPT, kind, content=content, seconds=READ_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise UnreadableFile(NoTextReason.TOO_LARGE, "It took too long.") from error
    last_line = done.stderr.decode(errors="replace").strip().rpartition("\n")[2][:300]
    if done.returncode:
        reason = NoTextReason.TOO_LARGE if done.returncode in _ENDS_OF_LIMITS else NoTextReason.DAMAGED
        raise UnreadableFile(reason, f"The reader ended with status {done.returncode}: {last_line}")
    found: dict[str, Any] = json.loads(done.stdout)
    if "failed_reason" in found:
        raise UnreadableFile(NoTextReason(found["failed_reason"]), last_line)
    if "thumbnail" in found:
        found["thumbnail"] = base64.b64decode(found["thumbnail"])
    return found
