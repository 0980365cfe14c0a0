"""Tables of figures: they are printed, and the latest of each row is saved in RESULTS.md."""

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path

FILE = Path(__file__).with_name("RESULTS.md")
HEAD = """# Results

Written by `make bench`; the latest run of each row. The floor is a client that reads the scripted model directly (aiohttp on
uvloop), in the same run and on the same machine, unless a row names another floor.
"""


@dataclass(frozen=True)
class Figure:
    """One line of a table. `cpu` is per unit, and names the unit."""

    what: str
    floor: str = "–"
    ours: str = "–"
    ratio: str = "–"
    cpu: str = "–"
    goal: str = "–"


@dataclass(frozen=True)
class Table:
    """The measurement of one row, such as P1. `how` describes it, with its numbers."""

    row: str
    title: str
    how: str
    figures: Sequence[Figure]


def format_ms(seconds: float) -> str:
    """Return seconds as a text in milliseconds."""
    return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"


def get_percentile(values: Sequence[float], part: float) -> float:
    """Return the value that a part (0 to 1) of all values does not exceed."""
    return sorted(values)[max(0, min(len(values) - 1, round(part * len(values)) - 1))]


def describe_machine() -> str:
    """Describe the machine and its load before the measurement."""
    model = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    name = model[1].strip() if model else platform.machine()
    return f"{os.cpu_count()} cores ({name}), Python {platform.python_version()}, load before {LOAD:.1f}"


LOAD = os.getloadavg()[0]


def format_table(table: Table, command: str) -> str:
    """Return a table in Markdown."""
    head = "| | floor | ours | ratio | CPU per unit | goal |\n|---|---|---|---|---|---|\n"

    body = "".join("| " + " | ".join(astuple(figure)) + " |\n" for figure in table.figures)
    date = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return f"## {table.row} {table.title}\n\n{table.how}\n\n{head}{body}\n{date}, `{command}`, {describe_machine()}\n"


def save_table(table: Table, command: str) -> None:
    """Save a table in the file, in place of the earlier one of this row."""
    text = FILE.read_text() if FILE.exists() else HEAD
    known = {part.split()[0]: part.rstrip() + "\n" for part in re.split(r"^## ", text, flags=re.M)[1:]}
    known[table.row] = format_table(table, command).removeprefix("## ")
    order = sorted(known, key=lambda row: int(row[1:]))
    FILE.write_text(HEAD + "".join(f"\n## {known[row]}" for row in order))
