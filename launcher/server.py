"""The base class of the embedded PostgreSQL and Valkey: a program that listens on a port of the loopback interface."""

import os
import re
import shutil
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from common.processes import (
    StartError,
    Stream,
    end_process,
    find_free_port,
    is_reachable_by_others,
    is_root,
    read_last_lines,
    wait_until,
)
from launcher.disk import get_megabytes_left_if_full

START_TRIES = 3
RESTART_TRIES = 20
RESTART_DELAY_SECONDS = 0.5
"""Seconds between two attempts to restart."""


class Server(ABC):
    """One server with its data under `home`. If `durable` is false, as in tests, what it writes is not synced to the disk."""

    name: str
    title: str
    ends_by: signal.Signals
    # Seconds. After a crash PostgreSQL first replays its write-ahead log.
    starts_within = 60.0
    ends_within = 20.0
    # Advice that is added to the error when the server does not start.
    if_damaged = ""

    def __init__(self, home: Path, password: str, *, durable: bool = True, output: Stream = None) -> None:
        self._home = home
        self._password = password
        self._durable = durable
        self._output = output
        self._port = 0
        self.child: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """The URL for `DATABASE_URL` or `REDIS_URL`."""

    @abstractmethod
    def prepare(self) -> None:
        """Find the program and make the data ready for it. Raises `StartError`."""

    @abstractmethod
    def run(self) -> subprocess.Popen[bytes]:
        """Start the program on `_port`."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Return whether the server accepts connections."""

    def start(self) -> subprocess.Popen[bytes]:
        """Run the server, wait until it answers, and return its process. Raises `StartError`.

        The first start tries several ports, because another program may take a port first. A restart keeps the port, because
        other processes use it, and waits until it is free.
        """
        self.prepare()
        keeps_port = self._port != 0
        for _ in range(RESTART_TRIES if keeps_port else START_TRIES):
            self._port = self._port or find_free_port()
            self.child = child = self.run()
            if wait_until(self.is_ready, child, seconds=self.starts_within):
                return child
            self.stop()
            output = read_last_lines(child)
            if keeps_port:
                time.sleep(RESTART_DELAY_SECONDS)
            else:
                self._port = 0
        raise self.build_error(f"{self.title} did not start on {self._home}", output + self.if_damaged)

    def stop(self) -> None:
        """Shut the server down. All committed data are kept."""
        if self.child is not None:
            end_process(self.child, self.ends_by, seconds=self.ends_within)

    def build_error(self, problem: str, reason: str) -> StartError:
        """Return the error for a failure. If the disk is full, this replaces the reason."""
        left = get_megabytes_left_if_full(self._home)
        if left is not None:
            reason = f"the disk of {self._home} is full ({left} MB left). Make room and start again: nothing is lost."
        return StartError(f"{problem}: {reason}")

    def make_reachable(self, program: Path, *parts: Path) -> Path:
        """Return `program`, or the path of a copy under `home` if the user `nobody` has to run it and cannot reach it.

        The folders `parts` are copied with it and keep their relative paths, because programs find their libraries by them.
        """
        folders = [part for part in parts if part.exists()]
        if not is_root() or (is_reachable_by_others(program) and _are_world_readable(folders)):
            return program
        shared = Path(os.path.commonpath([program.parent, *folders]))
        copy = self._home / f"{self.name}-program-{program.stat().st_mtime_ns}"
        if not copy.exists():
            for old in self._home.glob(f"{self.name}-program-*"):
                shutil.rmtree(old)
            temporary = copy.with_suffix(".new")
            temporary.mkdir()
            for folder in folders:
                shutil.copytree(folder, temporary / folder.relative_to(shared), symlinks=True, dirs_exist_ok=True)
            if not folders:
                shutil.copy(program, temporary)
            for path in [temporary, *temporary.rglob("*")]:
                if not path.is_symlink():
                    path.chmod(path.stat().st_mode | _get_world_mode(path))
            temporary.rename(copy)
        return copy / program.relative_to(shared)


def read_version(program: Path) -> tuple[int, ...]:
    """Return the version that a program prints for `--version`, such as (18, 4); empty if it does not run here."""
    try:
        output = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ()
    found = re.search(r"\d+(\.\d+)*", output)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _get_world_mode(path: Path) -> int:
    """Return the mode bits with which all users may read the file, and run or enter it if its owner may."""
    return 0o555 if path.stat().st_mode & 0o100 else 0o444


def _are_world_readable(folders: Sequence[Path]) -> bool:
    # Only the direct contents: checking all 1800 files at each start is too slow, and an installer gives them the same rights.
    paths = [path for folder in folders for path in folder.iterdir() if not path.is_symlink()]
    return all(path.stat().st_mode & 0o005 == _get_world_mode(path) & 0o005 for path in paths)
