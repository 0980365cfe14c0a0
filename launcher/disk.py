"""Watch the free space of the disk with the data. When it is full, no data are lost, but nothing new can be stored."""

import shutil
import time
from pathlib import Path

# PostgreSQL writes its write-ahead log in files of 16 MB; with less space than two of them, writing the next one may fail.
MIN_FREE_BYTES = 32 << 20
CHECK_INTERVAL_SECONDS = 5.0


def get_megabytes_left_if_full(folder: Path) -> int | None:
    """Return the megabytes left on a full disk; None when the disk is not full."""
    free = shutil.disk_usage(folder).free
    return free >> 20 if free < MIN_FREE_BYTES else None


class Disk:
    """Checks the disk at intervals and reports changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._was_full = False
        self._next = 0.0

    def report_change(self) -> str:
        """Return a message when the disk has become full or has room again; else the empty string."""
        if time.monotonic() < self._next:
            return ""
        self._next = time.monotonic() + CHECK_INTERVAL_SECONDS
        left = get_megabytes_left_if_full(self._folder)
        if (left is not None) == self._was_full:
            return ""
        self._was_full = left is not None
        if left is None:
            return f"The disk of {self._folder} has room again."
        return f"The disk of {self._folder} is full ({left} MB left): new messages are refused until there is room."
