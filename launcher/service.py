"""A child process that the launcher restarts when it dies, after a delay that grows each time."""

import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from common.processes import spawn

FIRST_DELAY_SECONDS = 0.5
MAX_DELAY_SECONDS = 30.0
# A process that ran for so long is started again without a longer delay.
STABLE_AFTER_SECONDS = 60.0
# From this delay on, the log line has a hint.
HOPELESS_DELAY_SECONDS = 4.0


@dataclass
class Service:
    """A process that runs as long as the launcher does."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    pass_fds: Sequence[int] = ()
    child: subprocess.Popen[bytes] | None = None
    _started: float = 0.0
    _delay: float = FIRST_DELAY_SECONDS
    _due: float = 0.0

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process and return it. The kernel kills it if the launcher is killed, because an orderly shutdown without
        database and broker could hang for ever. Its runs have leases and are reclaimed after the next start."""
        self._started = time.monotonic()
        self.child = spawn(
            self.command,
            death_signal=signal.SIGKILL,
            env=self.environment,
            pass_fds=self.pass_fds,
            output=subprocess.PIPE,
        )
        return self.child

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
        """Advice for a child that died at each of the last starts; empty after the first deaths."""
        if self._delay < HOPELESS_DELAY_SECONDS:
            return ""
        return " Its lines above say why; if packages are damaged: `make clean`, then start again (the data stay)."

    def is_due(self) -> bool:
        """Return whether the child has ended and the delay is over."""
        return self.child is None and time.monotonic() >= self._due
