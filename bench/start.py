"""P10: the time from the command to a usable page, the memory at rest, and the size of the installation."""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from bench.processes import get_pss_mb, get_tree_cpu_seconds, list_tree
from bench.results import Figure, Table, get_percentile
from common.processes import die_with_parent, is_alive
from launcher.home import ROOT
from tests.stack import MARKS, Stack

REST_SECONDS = 10.0  # an installation is at rest so long after its start


class MakeRun(Stack):
    """An installation that is started by `make run`."""

    def start(self) -> None:
        with self.log_file.open("ab") as log:
            self.launcher = subprocess.Popen(
                ["make", "run"],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=lambda: die_with_parent(signal.SIGTERM),
            )

    def start_and_wait(self, seconds: float = 120) -> float:
        """Start it, and return the seconds until it is ready and serves its page."""
        began = time.perf_counter()
        self.start()
        while self.status("/readyz") != 200:
            if time.perf_counter() - began > seconds or self.launcher is None or self.launcher.poll() is not None:
                raise TimeoutError(self.log[-3000:])
            time.sleep(0.02)
        took = time.perf_counter() - began
        if self.status("/") != 200:
            raise RuntimeError("The installation is ready, but there is no page.")
        return took

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        """Stop it, and wait until all its processes have ended."""
        processes = list_tree(self.launcher_pid)
        code = super().stop(by)
        deadline = time.monotonic() + 30
        while any(is_alive(pid) for pid in processes) and time.monotonic() < deadline:
            time.sleep(0.1)
        return code


def measure_memory(pids: Iterable[int]) -> dict[str, float]:
    """Return the MB of each part of an installation."""
    found: dict[str, float] = {}
    for pid in pids:
        name = get_part(pid)
        found[name] = found.get(name, 0.0) + get_pss_mb([pid])
    return found


def get_part(pid: int) -> str:
    """Return the part to which a process belongs."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "other"
    if words.startswith("postgres:"):
        return "postgres"
    return next((name for name, mark in MARKS.items() if mark in words), "launcher")


def measure_starts(home: Path, count: int) -> tuple[list[float], list[float], dict[str, float]]:
    """Return the seconds of each start, its CPU seconds, and the memory at rest after the last one."""
    times, cpu, memory = [], [], {}
    for number in range(count):
        stack = MakeRun(home=home)
        try:
            times.append(stack.start_and_wait())
            cpu.append(get_tree_cpu_seconds(stack.launcher_pid))
            if number == count - 1:
                time.sleep(REST_SECONDS)
                memory = measure_memory(list_tree(stack.launcher_pid))
        finally:
            stack.stop()
            stack.log_file.unlink(missing_ok=True)
    return times, cpu, memory


def get_size_mb(*folders: Path) -> float:
    """Return the size of folders on the disk."""
    blocks = 0
    for folder in folders:
        for path, _, names in os.walk(folder):
            blocks += sum(os.lstat(os.path.join(path, name)).st_blocks for name in names)
    return blocks * 512 / 1024 / 1024


def get_packages_mb(locked: Path) -> float:
    """Return the size of the installed, compiled packages of a lock file."""
    names = re.findall(r"^([A-Za-z0-9_.-]+)(?:\[.*\])?==", locked.read_text(), re.M)
    return sum(_get_package_mb(name) for name in names)


def _get_package_mb(name: str) -> float:
    try:
        files = importlib.metadata.files(name) or []
    except importlib.metadata.PackageNotFoundError:
        return 0.0
    paths = {Path(str(file.locate())).resolve() for file in files}
    paths |= {Path(importlib.util.cache_from_source(str(path))) for path in paths if path.suffix == ".py"}
    return sum(path.lstat().st_blocks for path in paths if path.is_file()) * 512 / 1024 / 1024


def build_size_figures(home: Path) -> list[Figure]:
    """Return the figures of the disk space."""
    packages = get_packages_mb(ROOT / "requirements" / "run.txt")
    venv = get_size_mb(Path(sys.prefix))
    node = get_size_mb(ROOT / "frontend" / "node_modules")
    page = get_size_mb(ROOT / "frontend" / "dist")
    needed = packages + page
    return [
        Figure(
            "installed: packages to run + built web app",
            ours=f"{packages:.0f} + {page:.1f} = {needed:.0f} MB",
            goal="≤ 1 GB",
        ),
        Figure("… with Node's packages, which build the web app", ours=f"{needed + node:.0f} MB ({node:.0f} of Node)"),
        Figure("… .venv as it is here, with what developing needs", ours=f"{venv:.0f} MB"),
        Figure("a fresh data folder (with copies of the servers, as root)", ours=f"{get_size_mb(home):.0f} MB"),
    ]


def build_start_figures(times: list[float], cpu: list[float], memory: Mapping[str, float]) -> list[Figure]:
    again, parts = times[1:], ", ".join(f"{name} {mb:.0f}" for name, mb in sorted(memory.items()))
    usual = get_percentile(cpu[1:], 0.5)
    return [
        Figure("first start (new data)", ours=f"{times[0]:.1f} s", cpu=f"a start: {cpu[0]:.1f} s", goal="≤ 8 s"),
        Figure(
            "later starts, p50 (worst)",
            ours=f"{get_percentile(again, 0.5):.1f} s ({max(again):.1f} s)",
            cpu=f"a start: {usual:.1f} s",
            goal="≤ 8 s",
        ),
        Figure("memory at rest (PSS)", ours=f"{sum(memory.values()):.0f} MB ({parts})", goal="≤ 600 MB"),
    ]


def measure_p10(quick: bool) -> Table:
    """Measure several starts by `make run`."""
    count = 3 if quick else 6
    subprocess.run([sys.executable, "launcher/bootstrap.py", "install"], cwd=ROOT, check=True)
    home = Path(tempfile.mkdtemp(prefix="atelier-start-"))
    try:
        times, cpu, memory = measure_starts(home, count)
        found = build_start_figures(times, cpu, memory) + build_size_figures(home)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    how = (
        f"`make run` until `/readyz` is 200 and the page is served, {count} starts; memory {REST_SECONDS:.0f} s later."
    )
    return Table("P10", "Start, memory, size", how, found)
