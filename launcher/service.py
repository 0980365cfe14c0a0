"""A child process that the launcher restarts when it dies, after a delay that grows each time."""

import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

from common.processes import spawn

FIRST_DELAY_SECONDS = 0.5
MAX_DELAY_SECONDS = 30.0
# Seconds of life after which the delay is reset.
STABLE_AFTER_SECONDS = 60.0
HOPELESS_DELAY_SECONDS = 4.0


@dataclass
class Service:
    """A process that runs as long as the launcher does."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    sockets: Sequence[int] = ()
    child: subprocess.Popen[bytes] | None = None
    _started: float = 0.0
    _delay: float = FIRST_DELAY_SECONDS
    _due: float = field(default=0.0)

    def start(self) -> None:
        """Start the process. The kernel kills it if the launcher is killed, because an orderly end without database and broker
        could hang for ever. Its runs have leases and are taken over after the next start."""
        self._started = time.monotonic()
        self.child = spawn(
            self.command,
            death_signal=signal.SIGKILL,
            env=self.environment,
            pass_fds=self.sockets,
            output=subprocess.PIPE,
        )

    @property
    def output(self) -> IO[bytes]:
        """The pipe with the output of the child."""
        assert self.child is not None
        assert self.child.stdout is not None
        return self.child.stdout

    def poll_exit(self) -> int | None:
        """Return the exit code if the child has ended since the last call, and schedule its restart; else None."""
        code = self.child.poll() if self.child else None
        if code is None:
            return None
        now = time.monotonic()
        was_stable = now - self._started > STABLE_AFTER_SECONDS
        self._delay = FIRST_DELAY_SECONDS if was_stable else min(self._delay * 2, MAX_DELAY_SECONDS)
        self._due = now + self._delay
        self.child = None
        return code

    @property
    def hint(self) -> str:
        """Advice for a child that dies at every start; empty while that may be chance."""
        if self._delay < HOPELESS_DELAY_SECONDS:
            return ""
        return " Its lines above say why; if packages are damaged: `make clean`, then start again (the data stay)."

    def is_due(self) -> bool:
        """Whether the child has ended and the delay is over."""
        return self.child is None and time.monotonic() >= self._due
