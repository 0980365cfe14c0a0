"""Figures as tables: printed, and kept in RESULTS.md, the latest of each row."""

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

FILE = Path(__file__).with_name("RESULTS.md")
HEAD = """# Results

Written by `make bench`; the latest run of each row. The goal of each row stands in its table; the floor is the
scripted model read directly (aiohttp on uvloop) in the same run, on the same machine, unless a row says otherwise.
"""


@dataclass(frozen=True)
class Figure:
    """One line of a table. `cpu` is per unit; the unit is said in it."""

    what: str
    floor: str = "–"
    ours: str = "–"
    ratio: str = "–"
    cpu: str = "–"
    goal: str = "–"


@dataclass(frozen=True)
class Table:
    """One row of the design's list, measured. `how` says with how many of what."""

    row: str
    title: str
    how: str
    figures: Sequence[Figure]


def ms(seconds: float) -> str:
    """Seconds as text in milliseconds."""
    return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"


def percentile(values: Sequence[float], part: float) -> float:
    """The value that `part` (0 to 1) of all do not exceed."""
    return sorted(values)[max(0, min(len(values) - 1, round(part * len(values)) - 1))]


def machine() -> str:
    """Where this is measured, and how busy it was with other things."""
    model = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    name = model[1].strip() if model else platform.machine()
    return f"{os.cpu_count()} cores ({name}), Python {platform.python_version()}, load before {LOAD:.1f}"


LOAD = os.getloadavg()[0]


def lines(table: Table, command: str) -> str:
    """A table in Markdown."""
    head = "| | floor | ours | ratio | CPU per unit | goal |\n|---|---|---|---|---|---|\n"
    assert len(fields(Figure)) == 6
    body = "".join("| " + " | ".join(astuple(figure)) + " |\n" for figure in table.figures)
    date = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return f"## {table.row} {table.title}\n\n{table.how}\n\n{head}{body}\n{date}, `{command}`, {machine()}\n"


def keep(table: Table, command: str) -> None:
    """Put a table into the file, in place of the one that was there."""
    text = FILE.read_text() if FILE.exists() else HEAD
    known = {part.split()[0]: part.rstrip() + "\n" for part in re.split(r"^## ", text, flags=re.M)[1:]}
    known[table.row] = lines(table, command).removeprefix("## ")
    order = sorted(known, key=lambda row: int(row[1:]))
    FILE.write_text(HEAD + "".join(f"\n## {known[row]}" for row in order))
