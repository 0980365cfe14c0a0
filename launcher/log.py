"""One log for all: the lines of every child, each after its name."""

import contextlib
import os
import selectors
import sys
from typing import IO

WIDTH = 8


def say(name: str, text: str) -> None:
    """One line. Whoever reads may have gone away: that ends nothing."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.write(f"{name:<{WIDTH}} | {text}\n")
        sys.stdout.flush()


class Log:
    """Reads the children's pipes as a selector finds them readable, and passes whole lines on."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self._rest: dict[int, bytes] = {}

    def follow(self, name: str, pipe: IO[bytes]) -> None:
        """Pass on what comes from `pipe`, until its end."""
        os.set_blocking(pipe.fileno(), False)
        self._rest[pipe.fileno()] = b""
        self._selector.register(pipe, selectors.EVENT_READ, name)

    def read(self, key: selectors.SelectorKey) -> None:
        """Pass on the lines that have come; let go of a pipe that has ended."""
        try:
            part = os.read(key.fd, 65536)
        except BlockingIOError:
            return
        lines = (self._rest[key.fd] + part).split(b"\n")
        self._rest[key.fd] = lines.pop()
        for line in lines:
            say(key.data, line.decode(errors="replace").rstrip())
        if not part:
            self._let_go(key)

    def _let_go(self, key: selectors.SelectorKey) -> None:
        rest = self._rest.pop(key.fd)
        if rest:
            say(key.data, rest.decode(errors="replace"))
        self._selector.unregister(key.fileobj)
        key.fileobj.close()  # type: ignore[union-attr]  # always the pipe it was registered with
