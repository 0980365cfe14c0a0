"""From a fresh checkout to a running installation, with nothing but Python's standard library.

`run` sets up what is missing and becomes the launcher; `install` and `dev` only set up; each step leaves a stamp of
what it was made from, so that nothing is done twice. This file must be readable by old Pythons: it says what they lack.
"""

from __future__ import annotations

import ctypes
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
STAMPS = ROOT / ".make"
FRONTEND = ROOT / "frontend"
DIST = FRONTEND / "dist"
CHROMIUM = ROOT / "tests" / "chromium"
NOT_SOURCES = {"node_modules", "dist", "coverage"}


class Stop(Exception):
    """The installation cannot go on; the text says what is missing."""


def main(arguments: list[str]) -> int:
    """Do one of `run`, `install`, `dev`; the exit code."""
    what = arguments[0] if arguments else "run"
    try:
        use_a_fitting_python()
        os.chdir(str(ROOT))
        with OnlyOne():
            install("dev" if what == "dev" else "run")
            build_web_app()
            if what == "dev":
                install_node_packages(CHROMIUM)
    except Stop as stop:
        say(str(stop))
        return 1
    if what == "run":
        os.execv(str(PYTHON), [str(PYTHON), "-m", "common.embedded.launch"])
    return 0


def say(text: str) -> None:
    """One line of progress."""
    print("atelier  | " + text, flush=True)


# --- Python ----------------------------------------------------------------------------------------------------------


def use_a_fitting_python() -> None:
    """Go on with a newer Python of this machine when the one that was called is too old. Raises `Stop`."""
    if sys.version_info >= OLDEST_PYTHON:
        return
    for minor in (13, 12, 11):
        found = shutil.which(f"python3.{minor}")
        # A name may be a shim that has no such version behind it.
        if found and subprocess.call([found, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            os.execv(found, [found, *sys.argv])
    raise Stop("Python {}.{} or newer is needed; this is {}.".format(*OLDEST_PYTHON, sys.version.split()[0]))


def install(which: str) -> None:
    """The virtual environment with the locked packages of `which`: run, or dev (which has those of run, too)."""
    locked = ROOT / "requirements" / (which + ".txt")
    stamp = Stamp("packages-" + which, [locked], sys.version, str(VENV))
    if stamp.holds() and PYTHON.exists():
        return
    make_virtual_environment()
    say("Installing the Python packages; the first time takes a minute …")
    if not install_with_uv(locked):
        say("uv cannot reach the packages; pip does it, slowly.")
        call([PYTHON, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", locked])
    stamp.set()


def make_virtual_environment() -> None:
    version = "{}.{}".format(*sys.version_info[:2])
    says = output_of([PYTHON, "-c", "import sys, pip; print('%d.%d' % sys.version_info[:2])"])
    if was_made_here() and says == version:
        return
    say(f"Making the virtual environment with Python {version} …")
    try:
        call([sys.executable, "-m", "venv", "--clear", VENV])
    except Stop as stop:
        raise Stop("Python's venv module does not work here (on Debian: apt install python3-venv).") from stop


def was_made_here() -> bool:
    """Whether the environment lies where it was made: its scripts bear the path, and do not run after a move."""
    notes = VENV / "pyvenv.cfg"
    return PYTHON.exists() and notes.exists() and str(VENV) in notes.read_text()


def install_with_uv(locked: Path) -> bool:
    """Whether uv could do it: ten times as fast as pip, and it compiles in parallel."""
    uv = VENV / "bin" / "uv"
    try:
        install_uv()
        # The system's certificates: a company's proxy has its own. Compiled: the first start is seconds faster.
        flags = ["--python", str(PYTHON), "--system-certs", "--require-hashes", "--compile-bytecode"]
        flags += [] if sys.stderr.isatty() else ["--quiet"]
        call([uv, "pip", "install", *flags, "-r", locked])
    except Stop:
        return False
    return True


def install_uv() -> None:
    text = (ROOT / "requirements" / "dev.txt").read_text()
    found = re.search(r"^uv==(\S+)(?: \\\n    --hash=\S+)+", text, re.MULTILINE)
    if not found:
        raise Stop("requirements/dev.txt does not name uv.")
    if output_of([VENV / "bin" / "uv", "--version"]).split(" ")[1:2] == [found.group(1)]:
        return
    pin = STAMPS / "uv.txt"
    pin.write_text(found.group(0) + "\n")
    call([PYTHON, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", pin])


# --- the web app -----------------------------------------------------------------------------------------------------


def build_web_app() -> None:
    """`frontend/dist`, compressed, when its sources have changed. Raises `Stop` without a Node that can build it."""
    if not (FRONTEND / "package.json").exists():
        return
    stamp = Stamp("web-app", web_app_sources())
    if stamp.holds() and (DIST / "index.html").exists():
        return
    install_node_packages(FRONTEND)
    say("Building the web app …")
    call(["npm", "run", "--silent", "build", "--", "--logLevel", "warn"], cwd=FRONTEND)
    call([PYTHON, "-m", "whitenoise.compress", "--quiet", DIST])
    stamp.set()


def web_app_sources() -> list[Path]:
    found: list[Path] = []
    for folder, folders, files in os.walk(str(FRONTEND)):
        folders[:] = sorted(set(folders) - NOT_SOURCES)
        found += [Path(folder) / name for name in sorted(files)]
    return found


def install_node_packages(folder: Path) -> None:
    """The locked packages of one `package.json`."""
    stamp = Stamp("node-" + folder.name, [folder / "package-lock.json"])
    if stamp.holds() and (folder / "node_modules").exists():
        return
    check_node()
    say(f"Installing the Node packages of {folder.relative_to(ROOT)} …")
    call(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder)
    stamp.set()


def check_node() -> None:
    said = output_of(["node", "--version"]).lstrip("v")
    version = tuple(int(part) for part in re.findall(r"\d+", said)[:2])
    if version < OLDEST_NODE or not shutil.which("npm"):
        wanted = "{}.{}".format(*OLDEST_NODE)
        raise Stop(
            "Node {} or newer with npm is needed to build the web app; found: {}.".format(wanted, said or "none")
        )


# --- ground ----------------------------------------------------------------------------------------------------------


class Stamp:
    """What a step was last done from."""

    def __init__(self, name: str, files: Iterable[Path], *others: str) -> None:
        self._path = STAMPS / name
        digest = hashlib.sha256("\n".join(others).encode())
        for file in files:
            digest.update(str(file.relative_to(ROOT)).encode() + b"\n")
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        self._now = digest.hexdigest()

    def holds(self) -> bool:
        """Whether nothing has changed since."""
        return self._path.exists() and self._path.read_text() == self._now

    def set(self) -> None:
        """The step is done."""
        self._path.write_text(self._now)


ENDING = {signal.SIGTERM, signal.SIGINT}


class OnlyOne:
    """Keeps a second set-up in the same folder waiting until the first is done."""

    def __enter__(self) -> None:
        STAMPS.mkdir(exist_ok=True)
        self._file = (STAMPS / "lock").open("w")
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *exception: object) -> None:
        self._file.close()


def hear_signals() -> None:
    """Let those signals through that `call` keeps back."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def call(command: Sequence[str | Path], cwd: Path = ROOT) -> None:
    """Run one step to its end, and its whole process group with us if we are ended. Raises `Stop` if it fails."""
    words = [str(word) for word in command]
    # Nothing may end us between the child's start and our knowing of it.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        child = subprocess.Popen(
            words, cwd=str(cwd), stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=hear_signals
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
        raise Stop("This step failed: {}".format(" ".join(words[:6])))


def output_of(command: Sequence[str | Path]) -> str:
    """What a command prints; nothing if it cannot be run."""
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    return done.stdout.decode().strip() if done.returncode == 0 else ""


def end_with_make() -> None:
    """`make` that is killed by -9 tells nobody: let the kernel do it."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    if os.environ.get("MAKELEVEL") and sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


if __name__ == "__main__":
    end_with_make()
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
