"""`python -m launcher.launch`: run the whole installation as one process tree, which ends as one (RUN6).

The launcher prepares the data folder, its lock and secrets; opens the port; starts PostgreSQL and Valkey unless DATABASE_URL and
REDIS_URL name other servers; runs new migrations while web and worker load their code; restarts web and worker when they die; and
prints the URL when the installation is ready. It has one thread only, because the kernel ends the children when the thread that
started them ends.
"""

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from common.processes import StartError, die_with_parent, end_process, is_root, spawn
from launcher.disk import Disk
from launcher.home import ROOT, get_default_home, load_secrets, lock_home, open_home, write_running_file
from launcher.listener import ReadinessProbe, open_listener
from launcher.log import Log, write_line
from launcher.migrations import Migrations
from launcher.postgres import Postgres
from launcher.server import Server
from launcher.service import Service
from launcher.valkey import Valkey

LOOP_INTERVAL_SECONDS = 0.2
STOP_TIMEOUT = 20.0  # seconds that web and worker have to finish their work (RUN6)
# If a server dies more often than this within a minute, the launcher ends.
MAX_DEATHS_PER_MINUTE = 3
WORKER = "worker --pool threads --concurrency 4 --queues work --without-gossip --without-mingle --without-heartbeat"

FROM_FILES = ("HOST", "PORT", "PUBLIC_URL", "ATELIER_HOME", "DATABASE_URL", "REDIS_URL", "SECRET_KEY", "SECRET_KEYS")
"""The settings that the launcher reads or passes on with a value of its own. Each may come from a file (`NAME_FILE`)."""


class Launcher:
    """The root of the process tree."""

    def __init__(self, settings: dict[str, str]) -> None:
        self._settings = settings
        self._selector = selectors.DefaultSelector()
        self._log = Log(self._selector)
        self._servers: list[Server] = []
        self._services: list[Service] = []
        self._deaths: dict[str, list[float]] = {}
        self._signals = 0
        self._running_file: Path | None = None
        self._migrations_pipe: int | None = None

    def run(self) -> int:
        """Start the installation, supervise it, stop it, and return the exit code."""
        self._listen_for_signals()
        try:
            self._start()
            self._supervise()
        except StartError as error:
            write_line("atelier", str(error))
            return 1
        except OSError as error:
            # For example a file that cannot be written, or a program that cannot be run.
            write_line("atelier", f"{error.filename or 'The installation'}: {error.strerror or error}.")
            return 1
        finally:
            self._stop()
        return 0

    # --- start ---------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """Open the data folder and the port, start the servers, and run new migrations while web and worker load their code."""
        self._settings = _read_files(self._settings)
        home = open_home(Path(self._settings.get("ATELIER_HOME") or get_default_home()))
        self._lock = lock_home(home)
        self._disk = Disk(home)
        self._listener, address = open_listener(self._settings)
        self.url = self._settings.get("PUBLIC_URL") or address
        environment = self._start_servers(home) | {"ATELIER_ADDRESS": address}
        self._running_file = write_running_file(home, environment)
        # Web and worker wait until our end of this pipe is closed (`wait_for_migrations`).
        migrated, self._migrations_pipe = os.pipe()
        service_environment = environment | {"ATELIER_MIGRATED": str(migrated)}
        listener = self._listener.fileno()
        self._services = [
            Service(
                "web",
                [sys.executable, "-m", "server.serve"],
                service_environment | {"ATELIER_SOCKET": str(listener)},
                pass_fds=[migrated, listener],
            ),
            Service(
                "worker",
                [sys.executable, "-m", "celery", "-q", "-A", "config", *WORKER.split()],
                service_environment,
                pass_fds=[migrated],
            ),
        ]
        data_folder = next((server.data for server in self._servers if isinstance(server, Postgres)), None)
        self._migrate(Migrations(data_folder, environment))
        os.close(self._migrations_pipe)
        self._migrations_pipe = None
        self._probe = ReadinessProbe(self._listener, self._selector)

    def _start_servers(self, home: Path) -> dict[str, str]:
        """Start the servers whose URLs are not in the settings. Return the environment of web and worker."""
        stored = load_secrets(home)
        defaults = {
            "SECRET_KEY": stored.secret_key,
            "SECRET_KEYS": stored.secret_keys,
            "PYTHONUNBUFFERED": "1",
        }
        if not self._settings.get("DATABASE_URL"):
            defaults["DATABASE_URL"] = self._start_server(
                Postgres(home, stored.postgres_password, output=subprocess.PIPE)
            )
            defaults["ATELIER_EMBEDDED"] = "1"
        if not self._settings.get("REDIS_URL"):
            defaults["REDIS_URL"] = self._start_server(Valkey(home, stored.valkey_password, output=subprocess.PIPE))
        if is_root():
            # Celery refuses to run as root unless it is told to.
            defaults |= {"C_FORCE_ROOT": "1", "PYTHONWARNINGS": "ignore:You're running the worker"}
        settings = {name: value for name, value in self._settings.items() if value}
        return defaults | settings | {"ATELIER_HOME": str(home)}

    def _start_server(self, server: Server) -> str:
        self._check_for_signals()
        self._servers.append(server)
        child = server.start()
        self._log.follow(server.name, child.stdout)
        return server.url

    def _migrate(self, migrations: Migrations) -> None:
        """Run new migrations, and start web and worker meanwhile. If there are none, `_supervise` starts web and worker."""
        self._check_for_signals()
        if not migrations.are_needed():
            return
        write_line("atelier", "Bringing the database up to date …")
        child = spawn(
            migrations.command, death_signal=signal.SIGKILL, env=migrations.environment, output=subprocess.PIPE
        )
        self._log.follow("migrate", child.stdout)
        for service in self._services:
            self._start_service(service)
        while child.poll() is None:
            self._process_events()
            if self._signals:
                child.kill()
        self._process_events()
        self._check_for_signals()
        if child.returncode:
            raise StartError("The database cannot be reached or migrated; the lines above say why.")
        migrations.mark_applied()

    # --- supervise ----------------------------------------------------------------------------------------------------

    def _supervise(self) -> None:
        while not self._signals:
            for service in self._services:
                self._supervise_service(service)
            for server in self._servers:
                self._supervise_server(server)
            self._process_events()
            if self._probe.poll():
                write_line("atelier", f"Atelier is ready: {self.url}")
            if change := self._disk.report_change():
                write_line("atelier", change)

    def _supervise_service(self, service: Service) -> None:
        code = service.poll_exit()
        if code is not None:
            write_line("atelier", f"{service.name} {_describe_exit(code)}; it is started again.{service.hint}")
        if service.is_due():
            self._start_service(service)

    def _start_service(self, service: Service) -> None:
        child = service.start()
        self._log.follow(service.name, child.stdout)

    def _supervise_server(self, server: Server) -> None:
        code = server.child.poll() if server.child else None
        if code is None:
            return
        now = time.monotonic()
        deaths = [*(death for death in self._deaths.get(server.name, []) if now - death < 60), now]
        self._deaths[server.name] = deaths
        if len(deaths) > MAX_DEATHS_PER_MINUTE:
            raise StartError(f"{server.name} ends again and again; its last lines say why.")
        write_line("atelier", f"{server.name} {_describe_exit(code)}; it is started again.")
        child = server.start()
        self._log.follow(server.name, child.stdout)

    def _process_events(self) -> None:
        """Wait for events for at most `LOOP_INTERVAL_SECONDS`, and process those that came: output of children, signals, and the
        response to the probe."""
        for key, _ in self._selector.select(LOOP_INTERVAL_SECONDS):
            if callable(key.data):
                key.data()
            else:  # the name of a child, whose pipe `_log` follows
                self._log.read(key)

    # --- stop ----------------------------------------------------------------------------------------------------

    def _stop(self) -> None:
        """Stop web and worker, then the servers. A second signal ends the wait for web and worker."""
        running = [service.child for service in self._services if service.child and service.child.poll() is None]
        for child in running:
            if self._migrations_pipe is None:
                child.terminate()
            else:
                child.kill()  # It has begun nothing, and waits for the migrations.
        deadline = time.monotonic() + STOP_TIMEOUT
        while any(child.poll() is None for child in running):
            self._process_events()
            if time.monotonic() > deadline or self._signals > 1:
                break
        for child in running:
            end_process(child, signal.SIGKILL, seconds=5)
        for server in reversed(self._servers):
            server.stop()
        if self._running_file is not None:
            self._running_file.unlink(missing_ok=True)
        self._process_events()

    # --- signals -------------------------------------------------------------------------------------------------

    def _listen_for_signals(self) -> None:
        reader, writer = socket.socketpair()
        for end_of_pair in (reader, writer):
            end_of_pair.setblocking(False)
        self._selector.register(reader, selectors.EVENT_READ, lambda: reader.recv(4096))
        self._wakeup_sockets = (reader, writer)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        # The handler only wakes the loop, which polls the children itself.
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1

    def _check_for_signals(self) -> None:
        if self._signals:
            raise StartError("Stopped before it was ready.")


def _read_files(settings: dict[str, str]) -> dict[str, str]:
    """Return the settings with the values of the files that `NAME_FILE` names; these take precedence, as in `Variables`."""
    files = {name: settings[f"{name}_FILE"] for name in FROM_FILES if settings.get(f"{name}_FILE")}
    values = {name: Path(file).read_text(encoding="utf-8").rstrip("\r\n") for name, file in files.items()}
    return {name: value for name, value in settings.items() if name.removesuffix("_FILE") not in values} | values


def _describe_exit(code: int) -> str:
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def main() -> int:
    """Run the installation until a signal arrives or a server cannot be started. Return the exit code."""
    if os.environ.get("MAKELEVEL"):
        # If `make` is killed by SIGKILL, it cannot pass that on: the kernel ends this process then.
        die_with_parent(signal.SIGTERM)
    os.chdir(ROOT)
    return Launcher(dict(os.environ)).run()


if __name__ == "__main__":
    sys.exit(main())
