"""A pytest plugin: a test in a browser, or of the running product, that waited too long is tried once more.

Such a test needs a machine that keeps up. Only errors of waiting are tried again: a wrong value never is, because it may be a
race of the product. The report shows the first failure, too. If more than `MAX_SECOND_ATTEMPTS` tests were tried again, the
session fails, so that slow tests are not piled up unseen.
"""

import pytest

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
TOO_MANY = "More than {} tests were tried again: {}"


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
        if len(self.tests) > MAX_SECOND_ATTEMPTS:
            terminalreporter.write_line(TOO_MANY.format(MAX_SECOND_ATTEMPTS, ", ".join(sorted(self.tests))), red=True)


def pytest_configure(config: pytest.Config) -> None:
    # In a worker of xdist too, whose status nobody reads.
    config.pluginmanager.register(SecondAttempts())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_slow(item):
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=list(ERRORS_OF_WAITING)))
