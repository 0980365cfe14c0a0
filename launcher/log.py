"""One log for all children: each line begins with the name of its child."""

import contextlib
import os
import selectors
import sys
from typing import IO

WIDTH = 8


def write_line(name: str, text: str) -> None:
    """Write one line to the standard output. It is no error if the output is closed."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.write(f"{name:<{WIDTH}} | {text}\n")
        sys.stdout.flush()


class Log:
    """Reads the pipes of the children when a selector finds them readable, and writes out complete lines."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self._rest: dict[int, bytes] = {}

    def follow(self, name: str, pipe: IO[bytes] | None) -> None:
        """Write out the lines of `pipe`, the output of a child, until its end. Raises `ValueError` if it has no pipe."""
        if pipe is None:
            raise ValueError(f"{name} was started without a pipe.")
        os.set_blocking(pipe.fileno(), False)
        self._rest[pipe.fileno()] = b""
        self._selector.register(pipe, selectors.EVENT_READ, name)

    def read(self, key: selectors.SelectorKey) -> None:
        """Write out the complete lines that have arrived. Close the pipe at its end."""
        try:
            part = os.read(key.fd, 65536)
        except BlockingIOError:
            return
        lines = (self._rest[key.fd] + part).split(b"\n")
        self._rest[key.fd] = lines.pop()
        for line in lines:
            write_line(key.data, line.decode(errors="replace").rstrip())
        if part:
            return
        if rest := self._rest.pop(key.fd):
            write_line(key.data, rest.decode(errors="replace"))
        self._selector.unregister(key.fileobj)
        key.fileobj.close()  # type: ignore[union-attr]  # always the pipe that it was registered with
