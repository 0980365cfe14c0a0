"""A complete installation for a test: the launcher, on a port and a data folder of its own."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import psycopg

from common.processes import die_with_parent, find_free_port, is_alive
from launcher.home import ROOT
from tests.servers import copy_migrated_home

# Variables of the test run: the stack starts its own servers and reads the ordinary settings.
NOT_PASSED_ON = (
    "DATABASE_URL",
    "REDIS_URL",
    "SECRET_KEY",
    "SECRET_KEYS",
    "ATELIER_TEST_SERVERS",
    "DJANGO_SETTINGS_MODULE",
    "MAKELEVEL",
)
MARKS = {"postgres": "/bin/postgres ", "valkey": "valkey-server", "web": "server.serve", "worker": " worker "}


class Stack:
    """One installation. As a context manager it is ready inside the block, and deleted afterwards.

    `environment` is added to the environment of the processes, e.g. `RUN_LEASE="2"`. With `is_migrated`, the database has its
    tables before the first start, which takes seconds less. `root`: the checkout whose code is started.
    """

    def __init__(
        self,
        home: Path | None = None,
        port: int | None = None,
        *,
        is_migrated: bool = False,
        root: Path = ROOT,
        **environment: str,
    ) -> None:
        self._root = root
        self.home = home or Path(tempfile.mkdtemp(prefix="atelier-stack-"))
        self._own_home = home is None
        if is_migrated:
            copy_migrated_home(self.home)
        self.port = port or find_free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {name: value for name, value in os.environ.items() if name not in NOT_PASSED_ON}
        self.environment |= {"ATELIER_HOME": str(self.home), "PORT": str(self.port), **environment}
        self.log_file = self.home.with_name(self.home.name + ".log")
        self.launcher: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Stack":
        self.start()
        self.wait_until_ready()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()
        if self._own_home:
            shutil.rmtree(self.home, ignore_errors=True)
        self.log_file.unlink(missing_ok=True)

    @property
    def log(self) -> str:
        """The output of all processes."""
        return self.log_file.read_text()

    @property
    def launcher_pid(self) -> int:
        """The process id of the launcher. Raises `RuntimeError` if it was not started."""
        if self.launcher is None:
            raise RuntimeError("The installation was not started.")
        return self.launcher.pid

    def start(self) -> None:
        """Start the launcher, without waiting until it is ready."""
        with self.log_file.open("ab") as log:
            self.launcher = subprocess.Popen(
                [sys.executable, "-m", "launcher.launch"],
                cwd=self._root,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A test run that is killed must not leave a stack behind.
                preexec_fn=lambda: die_with_parent(signal.SIGTERM),
            )

    def wait_until_ready(self, seconds: float = 60) -> None:
        """Wait until `/readyz` is 200. Raises `TimeoutError` with the log."""
        assert self.launcher is not None
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.launcher.poll() is None:
            if self.status("/readyz") == 200:
                return
            time.sleep(0.1)
        raise TimeoutError(f"The stack is not ready:\n{self.log[-5000:]}")

    def status(self, path: str) -> int:
        """Return the HTTP status of a path; 0 if there is no response."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        except OSError:
            return 0

    def processes(self) -> dict[str, int]:
        """Return the process ids of the living children of the launcher: `postgres`, `valkey`, `web`, `worker`."""
        launcher_pid = self.launcher_pid
        found: dict[str, int] = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if parent == launcher_pid and is_alive(int(entry.name)):
                found |= {name: int(entry.name) for name, mark in MARKS.items() if mark in words}
        return found

    def execute(self, sql: str, *params: object) -> None:
        """Execute a statement in the database of the installation, for what cannot be waited for."""
        environment = Path(f"/proc/{self.processes()['web']}/environ").read_bytes().split(b"\0")
        url = next(line.partition(b"=")[2].decode() for line in environment if line.startswith(b"DATABASE_URL="))
        with psycopg.connect(url) as connection:
            connection.execute(sql, params)

    def kill(self, name: str) -> int:
        """`kill -9` one of the processes. Return its id."""
        process = self.processes()[name]
        os.kill(process, signal.SIGKILL)
        return process

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        """Stop the launcher. Return its exit code."""
        if self.launcher is None:
            return 0
        if self.launcher.poll() is None:
            self.launcher.send_signal(by)
        return self.launcher.wait(60)
