"""CPU and memory of processes, read from `/proc`."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from common.processes import die_with_parent
from launcher.home import ROOT

TICKS = os.sysconf("SC_CLK_TCK")


def start_module(module: str, *arguments: str, nice: int = 0, **pipes: int) -> "subprocess.Popen[bytes]":
    """Start a module as a process that ends with this one."""

    def prepare() -> None:
        die_with_parent(signal.SIGTERM)
        os.nice(nice)

    return subprocess.Popen([sys.executable, "-m", module, *arguments], cwd=ROOT, preexec_fn=prepare, **pipes)


def write_to_stdin(process: "subprocess.Popen[bytes]", data: bytes) -> None:
    """Write to a process that was started with a pipe as its standard input, and close the pipe."""
    if process.stdin is None:
        raise ValueError("The process has no pipe as its standard input.")
    process.stdin.write(data)
    process.stdin.close()
    process.stdin = None  # `communicate` would flush it


def get_cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process, its threads and its ended children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / TICKS


def list_parents() -> dict[int, int]:
    """Return the parent of every process."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return found


def list_tree(root: int) -> list[int]:
    """Return a process and all its descendants."""
    known, found = list_parents(), [root]
    for pid in found:
        found += [one for one, parent in known.items() if parent == pid]
    return found


def get_tree_cpu_seconds(root: int) -> float:
    """Return the CPU time of a process and all its living descendants."""
    return sum(_get_or_zero(get_cpu_seconds, pid) for pid in list_tree(root))


def get_pss_mb(pids: Iterable[int]) -> float:
    """Return the proportional set size in MB, in which shared pages are counted once."""
    return sum(_get_or_zero(_get_pss_mb, pid) for pid in pids)


def _get_pss_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _get_or_zero(what, pid: int) -> float:
    try:
        return what(pid)
    except (OSError, StopIteration):
        return 0.0


def read_environment(pid: int) -> dict[str, str]:
    """Return the environment variables with which a process was started."""
    pairs = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


class Meter:
    """The CPU of named process trees since it was made."""

    def __init__(self, processes: Mapping[str, int]) -> None:
        self._processes = dict(processes)
        self._before = {name: get_tree_cpu_seconds(pid) for name, pid in self._processes.items()}

    def read_seconds(self) -> dict[str, float]:
        """Return the CPU seconds of each process and its descendants since the meter was made."""
        return {name: self.get_seconds(name) for name in self._processes}

    def get_seconds(self, name: str) -> float:
        """Return the CPU seconds of one process and its descendants since the meter was made."""
        return get_tree_cpu_seconds(self._processes[name]) - self._before[name]

    def format_per_unit(self, units: int) -> str:
        """Return the milliseconds of CPU per unit of each process, e.g. `web 6.1, worker 4.0`."""
        each = {name: self.get_seconds(name) / units * 1000 for name in self._processes}
        return ", ".join(f"{name} {ms:.1f}" if ms >= 0.1 else f"{name} {ms:.3f}" for name, ms in each.items()) + " ms"

    def format_share(self, seconds: float) -> str:
        """Return the part of a core that each process used in this time, e.g. `web 31%, worker 4%`."""
        return ", ".join(f"{name} {self.get_seconds(name) / seconds:.0%}" for name in self._processes)
