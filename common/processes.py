"""Child processes that end with their parent, however it ends, and that never run as root when they are servers."""

import ctypes
import gc
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

Stream = int | IO[Any] | None


class StartError(Exception):
    """The installation cannot start. The message is shown to the person who started it."""


def die_with_parent(by: signal.Signals) -> None:
    """Ask the kernel to send this process the signal `by` when the thread that started it ends, even by `kill -9`. Does nothing
    outside Linux."""
    if _prctl is not None:
        if by != signal.SIGKILL:
            # Until a program has handlers of its own: a process in the background of a shell inherits that SIGINT is ignored,
            # and Python's handler would swallow it between fork and exec.
            signal.signal(by, signal.SIG_DFL)
        _prctl(PR_SET_PDEATHSIG, by)


def spawn(
    command: Sequence[str | Path],
    *,
    death_signal: signal.Signals,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    as_unprivileged_user: bool = False,
    pass_fds: Sequence[int] = (),
    stdin: Stream = subprocess.DEVNULL,
    output: Stream = None,
) -> subprocess.Popen[bytes]:
    """Start a child, which gets the signal `death_signal` when this process ends and inherits the file descriptors `pass_fds`.

    Call it from the main thread only: the kernel watches the thread that forked. The child has a session of its own,
    so that Ctrl-C in the terminal reaches the parent alone, which ends its children in the right order.
    """
    parent = os.getpid()
    user: dict[str, Any] = {}
    if as_unprivileged_user:
        account = pwd.getpwnam("nobody")
        user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}

    def prepare_child() -> None:
        # After the change of user, which would clear the death signal.
        die_with_parent(death_signal)
        if os.getppid() != parent:  # it ended before the kernel was asked
            os._exit(1)

    return subprocess.Popen(
        [str(part) for part in command],
        env=dict(env) if env is not None else None,
        cwd=cwd,
        stdin=stdin,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        start_new_session=True,
        pass_fds=tuple(pass_fds),
        preexec_fn=prepare_child,
        **user,
    )


def is_root() -> bool:
    """Return whether we run as root. PostgreSQL refuses to run as root, so servers then run as the user `nobody`."""
    return os.geteuid() == 0


def give_to_unprivileged_user(path: Path) -> None:
    """Make the user `nobody` the owner of a folder or file."""
    account = pwd.getpwnam("nobody")
    os.chown(path, account.pw_uid, account.pw_gid)


def is_reachable_by_others(path: Path) -> bool:
    """Return whether users other than the owner may enter all folders above `path`, and enter or run `path` itself."""
    return all(part.stat().st_mode & 0o001 for part in [path, *path.parents])


def is_alive(pid: int) -> bool:
    """Return whether a process runs. A zombie does not count: in a container it may never be reaped."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return "\nState:\tZ" not in status and "\nState:\tX" not in status


def list_processes_working_in(folder: Path) -> list[int]:
    """Return the ids of running processes whose working directory is `folder`, such as those of a PostgreSQL in its data folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink() == folder and is_alive(int(entry.name)):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def wait_for_migrations() -> None:
    """Wait until the launcher has brought the database up to date. Call it when this process has loaded its code.

    The launcher starts web and worker at the same time as `migrate`, and closes the pipe `ATELIER_MIGRATED` when that is done.
    """
    if pipe := os.environ.pop("ATELIER_MIGRATED", ""):
        with open(int(pipe), "rb") as migrated:
            migrated.read()


def freeze_collector() -> None:
    """Take the objects that exist now out of garbage collection, and collect new ones less often. Call it when this process has
    loaded its code: half a million objects live until it ends, and checking them in each full collection takes up to 0.2 seconds.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def find_free_port() -> int:
    """Return a port of the loopback interface that is free at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(ready: Callable[[], bool], child: subprocess.Popen[bytes], *, seconds: float) -> bool:
    """Return whether `ready` became true before the child ended and within `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and child.poll() is None:
        if ready():
            return True
        time.sleep(0.02)
    return False


def end_process(child: subprocess.Popen[bytes], by: signal.Signals, *, seconds: float) -> None:
    """Send a signal to a child, wait for its end, and kill it if it does not end in time."""
    if child.poll() is not None:
        return
    child.send_signal(by)
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def read_last_lines(child: subprocess.Popen[bytes]) -> str:
    """Return the last lines that an ended child wrote into its pipe, and close the pipe."""
    if child.stdout is None:
        return ""
    with child.stdout as pipe:
        return join_last_lines(pipe.read())


def join_last_lines(output: bytes) -> str:
    """Return the last five lines of a program's output as one line."""
    return " / ".join(output.decode(errors="replace").strip().splitlines()[-5:])


# --- the identity of a process ------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def get_host() -> str:
    """Return the name of this host with its namespace of process ids, since two containers may have the same host name."""
    try:
        space = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        space = "0"
    return f"{socket.gethostname()[:40]}.{space}"


@lru_cache(maxsize=1)
def get_lease_owner() -> str:
    """Return this process as an owner of leases: `host:pid:start`. The start time tells it from a later one with the same id."""
    pid = os.getpid()
    return f"{get_host()}:{pid}:{_get_start_time(pid) or secrets.token_hex(4)}"


def is_on_this_host(owner: str) -> bool:
    """Return whether an owner's process is on this host, so that `is_dead` can judge it."""
    return owner.rsplit(":", 2)[0] == get_host() and Path("/proc/self/stat").exists()


def is_dead(owner: str) -> bool:
    """Return whether the process of this owner is on this host and has certainly ended."""
    host, pid, start = owner.rsplit(":", 2)
    if host != get_host():
        return False
    # Without /proc this cannot be found out: then the lease has to expire.
    return Path("/proc/self/stat").exists() and _get_start_time(int(pid)) != start


def exit_on_memory_error() -> NoReturn:
    """End this process after a `MemoryError`, since any thread may have failed. Other workers reclaim its runs (RUN9)."""
    try:
        logger.critical("This process has no memory left. It ends; other workers reclaim its runs.")
    finally:
        os._exit(os.EX_OSERR)


def _get_start_time(pid: int) -> str:
    """Return when the process started, in clock ticks since boot; empty if there is none or it is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
