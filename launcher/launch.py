"""`python -m launcher.launch`: the whole installation as one process tree, ended as one (RUN6).

In order: the data folder, its lock and secrets; the port; PostgreSQL and Valkey unless DATABASE_URL and REDIS_URL name
others; migrations when there are new ones; web and worker, restarted when they die; one line with the address when the
installation is ready. One thread only: the kernel ties the children's lives to the thread that started them.
"""

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from common.processes import CannotStart, die_with_parent, end, is_root, spawn
from launcher.disk import Disk
from launcher.door import Probe, open_door
from launcher.home import ROOT, default_home, load_secrets, lock, note_running, open_home
from launcher.log import Log, say
from launcher.migrations import Migrations
from launcher.postgres import Postgres
from launcher.server import Server
from launcher.service import Service
from launcher.valkey import Valkey

TICK = 0.2  # seconds
PATIENCE = 20.0  # what web and worker have to finish what they began (RUN6)
# PostgreSQL that dies more often than this within a minute will not be had.
DEATHS_A_MINUTE = 3
WORKER = (
    "worker --pool threads --concurrency 4 --queues runs,work --without-gossip --without-mingle --without-heartbeat"
)


class Launcher:
    """Holds the tree together."""

    def __init__(self, settings: dict[str, str]) -> None:
        self._settings = settings
        self._selector = selectors.DefaultSelector()
        self._log = Log(self._selector)
        self._servers: list[Server] = []
        self._services: list[Service] = []
        self._deaths: dict[str, list[float]] = {}
        self._signals = 0
        self._running: Path | None = None

    def run(self) -> int:
        """Start, keep, stop; the exit code."""
        self._listen_for_signals()
        try:
            self._start()
            self._keep()
        except CannotStart as error:
            say("atelier", str(error))
            return 1
        except OSError as error:
            # A file that cannot be written, a program that cannot be run: its name and the reason say enough.
            say("atelier", f"{error.filename or 'The installation'}: {error.strerror or error}.")
            return 1
        finally:
            self._stop()
        return 0

    # --- start ---------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        home = open_home(Path(self._settings.get("ATELIER_HOME") or default_home()))
        self._lock = lock(home)
        self._disk = Disk(home)
        self._door, self.address = open_door(self._settings)
        environment = self._environment(home) | {"ATELIER_ADDRESS": self.address}
        self._running = note_running(home, environment)
        clusters = [server.data for server in self._servers if isinstance(server, Postgres)]
        self._migrate(Migrations(clusters[0] if clusters else None, environment))
        self._services = [
            Service(
                "web",
                [sys.executable, "-m", "server.serve"],
                environment | {"ATELIER_SOCKET": str(self._door.fileno())},
                sockets=[self._door.fileno()],
            ),
            Service("worker", [sys.executable, "-m", "celery", "-q", "-A", "config", *WORKER.split()], environment),
        ]
        self._probe = Probe(self._door, self._selector)

    def _environment(self, home: Path) -> dict[str, str]:
        """What the children read. Starts the servers that nobody has named."""
        kept = load_secrets(home)
        made = {
            "SECRET_KEY": kept.secret_key,
            "SECRET_KEYS": kept.secret_keys,
            "PYTHONUNBUFFERED": "1",
        }
        if not self._settings.get("DATABASE_URL"):
            made["DATABASE_URL"] = self._serve(Postgres(home, kept.postgres_password, output=subprocess.PIPE))
            made["ATELIER_EMBEDDED"] = "1"
        if not self._settings.get("REDIS_URL"):
            made["REDIS_URL"] = self._serve(Valkey(home, kept.valkey_password, output=subprocess.PIPE))
        if is_root():
            # Celery refuses root by itself; here it is the person's own choice.
            made |= {"C_FORCE_ROOT": "1", "PYTHONWARNINGS": "ignore:You're running the worker"}
        said = {name: value for name, value in self._settings.items() if value}
        return made | said | {"ATELIER_HOME": str(home)}

    def _serve(self, server: Server) -> str:
        self._check_for_signals()
        self._servers.append(server)
        server.start()
        assert server.child is not None
        assert server.child.stdout is not None
        self._log.follow(server.name, server.child.stdout)
        return server.url

    def _migrate(self, migrations: Migrations) -> None:
        self._check_for_signals()
        if not migrations.are_needed():
            return
        say("atelier", "Bringing the database up to date …")
        child = spawn(migrations.command, dies_by=signal.SIGKILL, env=migrations.environment, output=subprocess.PIPE)
        assert child.stdout is not None
        self._log.follow("migrate", child.stdout)
        while child.poll() is None:
            self._look_around()
            if self._signals:
                child.kill()
        self._look_around()
        if child.returncode:
            raise CannotStart("The database cannot be had, or not be brought up to date; the lines above say why.")
        migrations.note()

    # --- keep ----------------------------------------------------------------------------------------------------

    def _keep(self) -> None:
        while not self._signals:
            for service in self._services:
                self._keep_service(service)
            for server in self._servers:
                self._keep_server(server)
            self._look_around()
            if self._probe.found_ready():
                say("atelier", f"Atelier is ready: {self.address}")
            if news := self._disk.news():
                say("atelier", news)

    def _keep_service(self, service: Service) -> None:
        code = service.died()
        if code is not None:
            say("atelier", f"{service.name} {_how_it_ended(code)}; it is started again.{service.hint}")
        if service.is_due():
            service.start()
            self._log.follow(service.name, service.output)

    def _keep_server(self, server: Server) -> None:
        assert server.child is not None
        code = server.child.poll()
        if code is None:
            return
        now = time.monotonic()
        deaths = [*(death for death in self._deaths.get(server.name, []) if now - death < 60), now]
        self._deaths[server.name] = deaths
        if len(deaths) > DEATHS_A_MINUTE:
            raise CannotStart(f"{server.name} ends again and again; its last lines say why.")
        say("atelier", f"{server.name} {_how_it_ended(code)}; it is started again.")
        server.start()
        assert server.child.stdout is not None
        self._log.follow(server.name, server.child.stdout)

    def _look_around(self) -> None:
        """Pass on what was said, for one tick at most."""
        for key, _ in self._selector.select(TICK):
            if callable(key.data):
                key.data()
            else:
                self._log.read(key)

    # --- stop ----------------------------------------------------------------------------------------------------

    def _stop(self) -> None:
        """First those who use the servers, then the servers. A second signal shortens the goodbye."""
        running = [service.child for service in self._services if service.child and service.child.poll() is None]
        for child in running:
            child.terminate()
        deadline = time.monotonic() + PATIENCE
        while any(child.poll() is None for child in running):
            self._look_around()
            if time.monotonic() > deadline or self._signals > 1:
                break
        for child in running:
            end(child, signal.SIGKILL, seconds=5)
        for server in reversed(self._servers):
            server.stop()
        if self._running is not None:
            self._running.unlink(missing_ok=True)
        self._look_around()

    # --- signals -------------------------------------------------------------------------------------------------

    def _listen_for_signals(self) -> None:
        ours, theirs = socket.socketpair()
        for end_of_pair in (ours, theirs):
            end_of_pair.setblocking(False)
        self._selector.register(ours, selectors.EVENT_READ, _emptier(ours))
        self._wakers = (ours, theirs)
        signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        # Only to be woken: the loop looks after the children itself.
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1

    def _check_for_signals(self) -> None:
        if self._signals:
            raise CannotStart("Stopped before it was ready.")


def _emptier(wire: socket.socket) -> Callable[[], None]:
    def empty() -> None:
        wire.recv(4096)

    return empty


def _how_it_ended(code: int) -> str:
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def main() -> int:
    """Run until a signal, or until PostgreSQL cannot be had."""
    if os.environ.get("MAKELEVEL"):
        # `make` killed by -9 cannot pass anything on.
        die_with_parent(signal.SIGTERM)
    os.chdir(ROOT)
    return Launcher(dict(os.environ)).run()


if __name__ == "__main__":
    sys.exit(main())
