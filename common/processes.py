"""Child processes that end with their parent, however it ends, and that never run as root when they are servers."""

import ctypes
import logging
import os
import pwd
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NoReturn

logger = logging.getLogger(__name__)

PR_SET_PDEATHSIG = 1
# Loaded before any fork: nothing may be imported between fork and exec.
_prctl: Callable[[int, int], int] | None = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

Output = int | IO[Any] | None


class CannotStart(Exception):
    """Something the installation needs cannot be had; the message is for the person who started it."""


def die_with_parent(by: signal.Signals) -> None:
    """Ask the kernel to send us `by` when our parent ends, even by `kill -9`. Does nothing outside Linux."""
    if _prctl is not None:
        _prctl(PR_SET_PDEATHSIG, by)


def spawn(
    command: Sequence[str | Path],
    *,
    dies_by: signal.Signals,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    as_nobody: bool = False,
    keep: Sequence[int] = (),
    stdin: Output = subprocess.DEVNULL,
    output: Output = None,
) -> subprocess.Popen[bytes]:
    """Start a child that gets the signal `dies_by` when this process is gone. It inherits the sockets in `keep`.

    Call it from the main thread only: the kernel watches the thread that forked. The child has a session of its own,
    so that Ctrl-C in the terminal reaches the parent alone, which ends its children in the right order.
    """
    parent = os.getpid()

    def arrange() -> None:
        # After the change of user, which would clear the death signal.
        die_with_parent(dies_by)
        if os.getppid() != parent:
            os._exit(1)

    return subprocess.Popen(
        [str(part) for part in command],
        env=dict(env) if env is not None else None,
        cwd=cwd,
        stdin=stdin,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        start_new_session=True,
        pass_fds=tuple(keep),
        preexec_fn=arrange,
        **(_nobody() if as_nobody else {}),
    )


def _nobody() -> dict[str, Any]:
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def is_root() -> bool:
    """Whether servers must be run as `nobody`: PostgreSQL refuses to be run by root."""
    return os.geteuid() == 0


def give_to_nobody(path: Path) -> None:
    """Make `nobody` the owner of one folder or file."""
    nobody = pwd.getpwnam("nobody")
    os.chown(path, nobody.pw_uid, nobody.pw_gid)


def nobody_can_reach(path: Path) -> bool:
    """Whether another user than the owner may walk down to `path`, and enter or run it."""
    return all(part.stat().st_mode & 0o001 for part in [path, *path.parents])


def is_alive(pid: int) -> bool:
    """Whether a process still does something. A zombie does not: in a container nobody may ever reap it."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return "\nState:\tZ" not in status and "\nState:\tX" not in status


def working_in(folder: Path) -> list[int]:
    """The live processes whose working directory is `folder`: those of a PostgreSQL are in its data folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink() == folder and is_alive(int(entry.name)):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def free_port() -> int:
    """A port of the loopback that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(ready: Callable[[], bool], child: subprocess.Popen[bytes], *, seconds: float) -> bool:
    """Whether `ready` came true before the child ended or the time was over."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and child.poll() is None:
        if ready():
            return True
        time.sleep(0.02)
    return False


def end(child: subprocess.Popen[bytes], by: signal.Signals, *, seconds: float) -> None:
    """Ask a child to end, wait, and kill it when it does not."""
    if child.poll() is not None:
        return
    child.send_signal(by)
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def last_words(child: subprocess.Popen[bytes]) -> str:
    """The last lines of a child that has ended, if it spoke into a pipe, which is closed."""
    if child.stdout is None:
        return ""
    with child.stdout as pipe:
        return last_lines(pipe.read())


def last_lines(said: bytes) -> str:
    """The end of what a program said, in one line."""
    return " / ".join(said.decode(errors="replace").strip().splitlines()[-5:])


# --- the identity of a process ------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def host() -> str:
    """This host, and within it this space of process ids: two containers may share a name."""
    try:
        space = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        space = "0"
    return f"{socket.gethostname()[:40]}.{space}"


@lru_cache(maxsize=1)
def owner_name() -> str:
    """`host:pid:birth`. The birth tells a process from a later one that was given the same id."""
    pid = os.getpid()
    return f"{host()}:{pid}:{_birth(pid) or secrets.token_hex(4)}"


def is_here(owner: str) -> bool:
    """Whether an owner's name is one of this host, where `is_dead` can tell."""
    return owner.rsplit(":", 2)[0] == host() and Path("/proc/self/stat").exists()


def is_dead(owner: str) -> bool:
    """Whether a process of this host, by its owner's name, is gone for sure."""
    where, pid, birth = owner.rsplit(":", 2)
    if where != host():
        return False
    now = _birth(int(pid))
    # Without /proc nothing is known: then its lease will tell.
    return Path("/proc/self/stat").exists() and now != birth


def die_without_memory() -> NoReturn:
    """Memory has run out, and nobody knows whom else that has hit: all that is under way here begins again elsewhere (RUN9)."""
    try:
        logger.critical("This process has no memory left. It ends; its runs are taken over.")
    finally:
        os._exit(os.EX_OSERR)


def _birth(pid: int) -> str:
    """When the process began, in clock ticks since boot; empty when there is none, or one that does nothing any more."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    # A zombie has died; in a container nobody may ever reap it.
    return "" if fields[0] in "ZX" else fields[19]
