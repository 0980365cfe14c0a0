"""P10: from the command to a usable page, memory at rest, and what is installed."""

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

from bench.processes import pss_mb, tree, tree_cpu_seconds
from bench.results import Figure, Table, percentile
from common.processes import die_with_parent, is_alive
from launcher.home import ROOT
from tests.stack import MARKS, Stack

REST_SECONDS = 10.0  # seconds after which an installation is taken to be at rest


class Made(Stack):
    """An installation started as people start it: `make run`."""

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

    def until_usable(self, seconds: float = 120) -> float:
        """Start it; how long until it says that it is ready, and serves its page."""
        began = time.perf_counter()
        self.start()
        while self.status("/readyz") != 200:
            if time.perf_counter() - began > seconds or self.launcher is None or self.launcher.poll() is not None:
                raise TimeoutError(self.log[-3000:])
            time.sleep(0.02)
        took = time.perf_counter() - began
        if self.status("/") != 200:
            raise RuntimeError("it says that it is ready, but there is no page")
        return took

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        """End all of it, and wait for all of it."""
        assert self.launcher is not None
        whole = tree(self.launcher.pid)
        code = super().stop(by)
        deadline = time.monotonic() + 30
        while any(is_alive(pid) for pid in whole) and time.monotonic() < deadline:
            time.sleep(0.1)
        return code


def memory_by_name(pids: Iterable[int]) -> dict[str, float]:
    """MB of each part of an installation."""
    found: dict[str, float] = {}
    for pid in pids:
        name = name_of(pid)
        found[name] = found.get(name, 0.0) + pss_mb([pid])
    return found


def name_of(pid: int) -> str:
    """Which part a process belongs to."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "other"
    if words.startswith("postgres:"):
        return "postgres"
    return next((name for name, mark in MARKS.items() if mark in words), "launcher")


def starts(home: Path, count: int) -> tuple[list[float], list[float], dict[str, float]]:
    """Seconds of each start, the CPU seconds spent by then, and the memory at rest of the last."""
    times, cpu, memory = [], [], {}
    for number in range(count):
        stack = Made(home=home)
        try:
            times.append(stack.until_usable())
            assert stack.launcher is not None
            cpu.append(tree_cpu_seconds(stack.launcher.pid))
            if number == count - 1:
                time.sleep(REST_SECONDS)
                memory = memory_by_name(tree(stack.launcher.pid))
        finally:
            stack.stop()
            stack.log_file.unlink(missing_ok=True)
    return times, cpu, memory


def size_mb(*folders: Path) -> float:
    """What folders take on the disk."""
    blocks = 0
    for folder in folders:
        for path, _, names in os.walk(folder):
            blocks += sum(os.lstat(os.path.join(path, name)).st_blocks for name in names)
    return blocks * 512 / 1024 / 1024


def packages_mb(locked: Path) -> float:
    """What the packages of a lock file take in the environment, compiled."""
    names = re.findall(r"^([A-Za-z0-9_.-]+)(?:\[.*\])?==", locked.read_text(), re.M)
    return sum(_package_mb(name) for name in names)


def _package_mb(name: str) -> float:
    try:
        files = importlib.metadata.files(name) or []
    except importlib.metadata.PackageNotFoundError:
        return 0.0
    paths = {Path(str(file.locate())).resolve() for file in files}
    paths |= {Path(importlib.util.cache_from_source(str(path))) for path in paths if path.suffix == ".py"}
    return sum(path.lstat().st_blocks for path in paths if path.is_file()) * 512 / 1024 / 1024


def sizes(home: Path) -> list[Figure]:
    """What lies on the disk."""
    packages = packages_mb(ROOT / "requirements" / "run.txt")
    venv = size_mb(Path(sys.prefix))
    node = size_mb(ROOT / "frontend" / "node_modules")
    page = size_mb(ROOT / "frontend" / "dist")
    needed = packages + page
    return [
        Figure("installed: packages to run + built web app", ours=f"{packages:.0f} + {page:.1f} = {needed:.0f} MB", goal="≤ 1 GB"),
        Figure("… with Node's packages, which build the web app", ours=f"{needed + node:.0f} MB ({node:.0f} of Node)"),
        Figure("… .venv as it is here, with what developing needs", ours=f"{venv:.0f} MB"),
        Figure("a fresh data folder (with copies of the servers, as root)", ours=f"{size_mb(home):.0f} MB"),
    ]  # fmt: skip


def start_figures(times: list[float], cpu: list[float], memory: Mapping[str, float]) -> list[Figure]:
    again, parts = times[1:], ", ".join(f"{name} {mb:.0f}" for name, mb in sorted(memory.items()))
    usual = percentile(cpu[1:], 0.5)
    return [
        Figure("first start (new data)", ours=f"{times[0]:.1f} s", cpu=f"a start: {cpu[0]:.1f} s", goal="≤ 8 s"),
        Figure("later starts, p50 (worst)", ours=f"{percentile(again, 0.5):.1f} s ({max(again):.1f} s)",
               cpu=f"a start: {usual:.1f} s", goal="≤ 8 s"),
        Figure("memory at rest (PSS)", ours=f"{sum(memory.values()):.0f} MB ({parts})", goal="≤ 600 MB"),
    ]  # fmt: skip


def p10(quick: bool) -> Table:
    """`make run`, several times."""
    count = 3 if quick else 6
    subprocess.run([sys.executable, "launcher/bootstrap.py", "install"], cwd=ROOT, check=True)
    home = Path(tempfile.mkdtemp(prefix="atelier-start-"))
    try:
        times, cpu, memory = starts(home, count)
        found = start_figures(times, cpu, memory) + sizes(home)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    how = (
        f"`make run` until `/readyz` is 200 and the page is served, {count} starts; memory {REST_SECONDS:.0f} s later."
    )
    return Table("P10", "Start, memory, size", how, found)
