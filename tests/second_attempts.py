"""A pytest plugin: a test in a browser, or of the running product, that waited too long is tried once more.

Such a test needs a machine that keeps up. Only errors of waiting are tried again. An `expect` of Playwright that has waited in
vain is one, also if it found another value: a late value and a wrong one look the same. A plain `assert` is never tried again. The
report shows the first failure, too, and lists at its end each test that was tried again. If these are more than
`MAX_SECOND_ATTEMPTS`, the session fails. In `make chaos`, which looks for races, no test is tried again.
"""

import pytest

from tests import chaos
from tests.file_order import is_slow

MAX_SECOND_ATTEMPTS = 3
"""The most tests that may be tried again in one session of pytest."""
ERRORS_OF_WAITING = (
    # The built-in class, which our own helpers raise, and Playwright's class of the same name.
    r"^TimeoutError: ",
    # Those of Playwright's `expect`, which has no class of its own.
    r"^AssertionError: (Locator|Page) expected ",
)
"""Patterns of "class name: message"."""
TRIED_AGAIN = "Tried again: {}"
TOO_MANY = "More than {} tests were tried again."


class SecondAttempts:
    """Counts the tests that were tried again. Under xdist the controller has the reports of all workers."""

    def __init__(self) -> None:
        self.tests: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if str(report.outcome) == "rerun":
            self.tests.add(report.nodeid)

    # Last, because the session may fail for another reason, whose exit status is kept.
    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if len(self.tests) > MAX_SECOND_ATTEMPTS and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for test in sorted(self.tests):
            terminalreporter.write_line(TRIED_AGAIN.format(test), yellow=True)
        if len(self.tests) > MAX_SECOND_ATTEMPTS:
            terminalreporter.write_line(TOO_MANY.format(MAX_SECOND_ATTEMPTS), red=True)


def pytest_configure(config: pytest.Config) -> None:
    # In a worker of xdist too, whose status nobody reads.
    config.pluginmanager.register(SecondAttempts())


def looks_for_races(config: pytest.Config) -> bool:
    """Return whether this is a part of `make chaos`."""
    return chaos.IS_CHAOS or chaos.REAL or config.getoption("--hypothesis-profile", default=None) == "chaos"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if looks_for_races(config):
        return
    for item in items:
        if is_slow(item):
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=list(ERRORS_OF_WAITING)))
