"""Who this process is, for leases; and whether another one of this host still lives."""

import logging
import os
import secrets
import socket
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

logger = logging.getLogger(__name__)


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


def is_dead(owner: str) -> bool:
    """Whether a process of this host, by its owner's name, is gone for sure."""
    where, pid, birth = owner.rsplit(":", 2)
    if where != host():
        return False
    now = _birth(int(pid))
    # Without /proc nothing is known: then its lease will tell.
    return Path("/proc/self/stat").exists() and now != birth


def die_without_memory() -> NoReturn:
    """Memory has run out, and nobody knows whom else that has hit: all that is under way here begins again elsewhere (B9)."""
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
