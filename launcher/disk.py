"""The disk that the data lie on: full, nothing is lost, but nothing new can be stored; somebody must be told."""

import shutil
import time
from pathlib import Path

# PostgreSQL writes its journal 16 MB at a time; with less than two of them the next one may fail.
ROOM = 32 << 20  # bytes
EVERY = 5.0  # seconds


def megabytes_left(folder: Path) -> int | None:
    """How little there is on a full disk; None when there is room."""
    free = shutil.disk_usage(folder).free
    return free >> 20 if free < ROOM else None


class Disk:
    """Looks now and then, and says when something has changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._was_full = False
        self._next = 0.0

    def news(self) -> str:
        """A line for people when the disk has just become full, or has room again; else nothing."""
        if time.monotonic() < self._next:
            return ""
        self._next = time.monotonic() + EVERY
        left = megabytes_left(self._folder)
        if (left is not None) == self._was_full:
            return ""
        self._was_full = left is not None
        if left is None:
            return f"The disk of {self._folder} has room again."
        return f"The disk of {self._folder} is full ({left} MB left): new messages are refused until there is room."
