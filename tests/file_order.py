"""A pytest plugin: files whose tests take longest come first, so that no worker of xdist ends with a long file alone.

The seconds of the files with `stack` and `browser` tests are in `file_durations.json`. To measure them anew:
`PYTEST_ADDOPTS=--store-durations make test`.
"""

import json
import re
from collections import defaultdict

import pytest

from launcher.home import ROOT

DURATIONS = ROOT / "tests" / "file_durations.json"
"""Seconds by the path of a file. Only the order matters, so they may be old."""
MARK = r"pytest\.mark\.(stack|browser)\b"
"""The pattern by which the Makefile finds the files with such tests."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store-durations", action="store_true", help="write tests/file_durations.json")


def pytest_configure(config: pytest.Config) -> None:
    # Under xdist the controller has the reports of all workers.
    if config.getoption("store_durations") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(StoredDurations())


def read_durations() -> dict[str, float]:
    found: dict[str, float] = json.loads(DURATIONS.read_text())
    return found


def is_slow(item: pytest.Item) -> bool:
    return bool(item.get_closest_marker("browser") or item.get_closest_marker("stack"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the files. Raise `UsageError` for a test that `make test` would not find by the text of its file."""
    for path in {item.path for item in items if is_slow(item)}:
        if not re.search(MARK, path.read_text()):
            raise pytest.UsageError(f"{path} does not contain {MARK}, by which the Makefile finds it.")
    durations = read_durations()
    # A file that is not listed comes first: it may be long.
    items.sort(key=lambda item: -durations.get(item.nodeid.partition("::")[0], float("inf")))


class StoredDurations:
    """Adds up the seconds of the files with `stack` and `browser` tests, and stores them at the end."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if "stack" in report.keywords or "browser" in report.keywords:
            self.seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self) -> None:
        stored = read_durations() | {name: round(seconds) for name, seconds in self.seconds.items()}
        rows = sorted((name, seconds) for name, seconds in stored.items() if (ROOT / name).exists())
        DURATIONS.write_text(json.dumps(dict(rows), indent=1) + "\n")
