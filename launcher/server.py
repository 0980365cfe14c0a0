"""What a PostgreSQL and a Valkey of our own share: found, made reachable, run on a port of the loopback until ended."""

import os
import re
import shutil
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from common.processes import CannotStart, Output, end, free_port, is_root, last_words, nobody_can_reach, wait_until
from launcher.disk import megabytes_left

START_TRIES = 3
RESTART_TRIES = 20
RESTART_DELAY = 0.5
"""Seconds between two tries of a restart."""


class Server(ABC):
    """One server with its data under `home`."""

    name: str
    title: str
    ends_by: signal.Signals
    # Seconds: after a crash a PostgreSQL first reads what it had begun.
    starts_within = 60.0
    ends_within = 20.0
    # What to do when the data cannot be read.
    if_damaged = ""

    def __init__(self, home: Path, password: str, *, durable: bool = True, output: Output = None) -> None:
        self._home = home
        self._password = password
        self._durable = durable
        self._output = output
        self._port = 0
        self.child: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """How the installation reaches it."""

    @abstractmethod
    def prepare(self) -> None:
        """Find the program and make the data ready for it. Raises `CannotStart`."""

    @abstractmethod
    def run(self) -> subprocess.Popen[bytes]:
        """Start the program on `_port`."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether it takes connections."""

    def start(self) -> None:
        """Run the server and wait until it answers. Raises `CannotStart`.

        A first start tries other ports: another program may take the port before the server does. A restart keeps the port,
        because other processes have been given it, and waits until the port is free.
        """
        self.prepare()
        keeps_port = self._port != 0
        for _ in range(RESTART_TRIES if keeps_port else START_TRIES):
            self._port = self._port or free_port()
            self.child = self.run()
            if wait_until(self.answers, self.child, seconds=self.starts_within):
                return
            self.stop()
            said = last_words(self.child)
            if keeps_port:
                time.sleep(RESTART_DELAY)
            else:
                self._port = 0
        raise self.cannot(f"{self.title} did not start on {self._home}", said + self.if_damaged)

    def stop(self) -> None:
        """End it in good order: everything that was committed is kept."""
        if self.child is not None:
            end(self.child, self.ends_by, seconds=self.ends_within)

    def cannot(self, what: str, why: str) -> CannotStart:
        """The one line for a failure: a full disk, where it is full, else what the program said last."""
        left = megabytes_left(self._home)
        if left is not None:
            why = f"the disk of {self._home} is full ({left} MB left). Make room and start again: nothing is lost."
        return CannotStart(f"{what}: {why}")

    def reachable(self, program: Path, *parts: Path) -> Path:
        """`program` itself or, where `nobody` is to run it but cannot get to it, a copy of it under `home`.

        With it come `parts`, each in its place beside the others: programs find their libraries by relative paths.
        """
        folders = [part for part in parts if part.exists()]
        if not is_root() or (nobody_can_reach(program) and _are_open(folders)):
            return program
        shared = Path(os.path.commonpath([program.parent, *folders]))
        copy = self._home / f"{self.name}-program-{program.stat().st_mtime_ns}"
        if not copy.exists():
            for old in self._home.glob(f"{self.name}-program-*"):
                shutil.rmtree(old)
            beside = copy.with_suffix(".new")
            beside.mkdir()
            for folder in folders:
                shutil.copytree(folder, beside / folder.relative_to(shared), symlinks=True, dirs_exist_ok=True)
            if not folders:
                shutil.copy(program, beside)
            _open_to_everybody(beside)
            beside.rename(copy)
        return copy / program.relative_to(shared)


def version_of(program: Path) -> tuple[int, ...]:
    """What a program answers to `--version`, e.g. (18, 4); empty if it cannot be run here."""
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ()
    found = re.search(r"\d+(\.\d+)*", said)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _rights_for_all(path: Path) -> int:
    """What everybody needs: to read a file, and to run or enter what its owner can run or enter."""
    return 0o555 if path.stat().st_mode & 0o100 else 0o444


def _are_open(folders: Sequence[Path]) -> bool:
    # Not all of the 1800 files, at each start: an installer gives all of them the rights that it gives one.
    paths = [path for folder in folders for path in folder.iterdir() if not path.is_symlink()]
    return all(path.stat().st_mode & 0o005 == _rights_for_all(path) & 0o005 for path in paths)


def _open_to_everybody(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | _rights_for_all(path))
