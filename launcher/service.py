"""One kept child of the launcher: started again, later each time, when it dies."""

import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

from common.processes import spawn

FIRST_DELAY = 0.5  # seconds
LONGEST_DELAY = 30.0
# Who lived as long as this was well: the next delay is the first again.
GOOD_LIFE = 60.0
HOPELESS_DELAY = 4.0


@dataclass
class Service:
    """A process that is to run as long as the launcher does."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    sockets: Sequence[int] = ()
    child: subprocess.Popen[bytes] | None = None
    _started: float = 0.0
    _delay: float = FIRST_DELAY
    _due: float = field(default=0.0)

    def start(self) -> None:
        """Run it. If the launcher is killed the kernel kills it, too: what it had begun is taken up at the next start
        (its runs have leases), while a slow goodbye without database and broker could hang for ever."""
        self._started = time.monotonic()
        self.child = spawn(
            self.command,
            dies_by=signal.SIGKILL,
            env=self.environment,
            keep=self.sockets,
            output=subprocess.PIPE,
        )

    @property
    def output(self) -> IO[bytes]:
        """What the child says."""
        assert self.child is not None
        assert self.child.stdout is not None
        return self.child.stdout

    def died(self) -> int | None:
        """The exit code of a child that has just been found dead; then `due` says when it is to be started again."""
        code = self.child.poll() if self.child else None
        if code is None:
            return None
        now = time.monotonic()
        self._delay = FIRST_DELAY if now - self._started > GOOD_LIFE else min(self._delay * 2, LONGEST_DELAY)
        self._due = now + self._delay
        self.child = None
        return code

    @property
    def hint(self) -> str:
        """What to do about a child that dies whenever it is started; nothing while that may be chance."""
        if self._delay < HOPELESS_DELAY:
            return ""
        return " Its lines above say why; if packages are damaged: `make clean`, then start again (the data stay)."

    def is_due(self) -> bool:
        """Whether it is dead and has waited long enough."""
        return self.child is None and time.monotonic() >= self._due
