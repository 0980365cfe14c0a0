"""What processes cost: CPU and memory, as the kernel tells."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from common.processes import die_with_parent
from launcher.home import ROOT

TICKS = os.sysconf("SC_CLK_TCK")


def child(
    module: str, *arguments: str, environment: Mapping[str, str] | None = None, nice: int = 0, **pipes: int
) -> "subprocess.Popen[bytes]":
    """Start a module of ours; it ends with us."""

    def prepare() -> None:
        die_with_parent(signal.SIGTERM)
        os.nice(nice)

    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, env=environment, preexec_fn=prepare, **pipes
    )


def cpu_seconds(pid: int) -> float:
    """What a process, its threads and its children that have ended have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / TICKS


def parents() -> dict[int, int]:
    """Every process → its parent."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return found


def tree(root: int) -> list[int]:
    """A process and all that come from it."""
    known, found = parents(), [root]
    for pid in found:
        found += [one for one, parent in known.items() if parent == pid]
    return found


def tree_cpu_seconds(root: int) -> float:
    """What a process and all that live below it have used."""
    return sum(_or_nothing(cpu_seconds, pid) for pid in tree(root))


def pss_mb(pids: Iterable[int]) -> float:
    """Memory that is really taken: pages shared by several processes count once in all."""
    return sum(_or_nothing(_pss_mb, pid) for pid in pids)


def _pss_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _or_nothing(what, pid: int) -> float:
    try:
        return what(pid)
    except (OSError, StopIteration):
        return 0.0


def environment_of(pid: int) -> dict[str, str]:
    """What a process was started with."""
    pairs = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


class Meter:
    """The CPU of named process trees since it was made."""

    def __init__(self, processes: Mapping[str, int]) -> None:
        self._processes = dict(processes)
        self._before = {name: tree_cpu_seconds(pid) for name, pid in self._processes.items()}

    def seconds(self, name: str) -> float:
        """CPU seconds of one tree."""
        return tree_cpu_seconds(self._processes[name]) - self._before[name]

    def per(self, units: int) -> str:
        """Milliseconds per unit of each, e.g. `web 6.1, worker 4.0`."""
        return ", ".join(f"{name} {self.seconds(name) / units * 1000:.1f}" for name in self._processes) + " ms"

    def share(self, seconds: float) -> str:
        """Part of a core of each in this time, e.g. `web 31%, worker 4%`."""
        return ", ".join(f"{name} {self.seconds(name) / seconds:.0%}" for name in self._processes)
