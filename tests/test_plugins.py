"""The plugins of pytest: tests that waited too long are tried once more, and only those; the longest files come first."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from launcher.home import ROOT
from tests import file_order
from tests.second_attempts import MAX_SECOND_ATTEMPTS, TOO_MANY, TRIED_AGAIN

STUMBLING = """
import pytest

attempts = []

class Broken(Exception):
    pass

def wait(number, error):
    attempts.append(number)
    if attempts.count(number) == 1:
        raise error
"""
TEST = """
@pytest.mark.{mark}
def test_{number}():
    wait({number}, {error})
"""
TIMEOUT = "TimeoutError('It is not ready.')"
EXPECTED = "AssertionError('Locator expected to be visible')"


@pytest.fixture
def run_pytest(tmp_path):
    """Return a function that runs tests which fail at the first attempt, and returns the exit status and the output."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    browser\n    stack\n    plain\n")

    def run(tests, *options, **variables):
        for number, (mark, error) in enumerate(tests):
            source = STUMBLING + TEST.format(mark=mark, number=number, error=error)
            (tmp_path / f"test_{number}.py").write_text(source)
        command = "-m pytest -W ignore -p pytest_rerunfailures -p xdist -p tests.second_attempts --rerun-show-tracebacks".split()
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DJANGO_", "CHAOS_"))
        }
        # Without the plugins of the installed packages, which take a second to load.
        environment |= {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | variables
        done = subprocess.run(
            [sys.executable, *command, *options],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    return run


def test_a_test_that_waited_too_long_is_tried_again_and_its_first_failure_is_printed(run_pytest):
    """As many as are allowed."""
    status, output = run_pytest([("browser", TIMEOUT), ("stack", EXPECTED), ("stack", TIMEOUT)])
    assert status == 0, output
    assert f"{MAX_SECOND_ATTEMPTS} passed, {MAX_SECOND_ATTEMPTS} rerun" in output
    assert "TimeoutError: It is not ready." in output
    assert [TRIED_AGAIN.format(f"test_{number}.py::test_{number}") in output for number in range(3)] == [True] * 3
    assert TOO_MANY[:9] not in output


@pytest.mark.parametrize(
    ("options", "variables"),
    [
        ((), {"CHAOS_REAL": "1"}),
        ((), {"CHAOS_N": "1"}),
        (("-p", "_hypothesis_pytestplugin", "--hypothesis-profile=chaos"), {}),
    ],
    ids=["real leases", "long forms", "profile of Hypothesis"],
)
def test_no_test_is_tried_again_when_races_are_looked_for(run_pytest, tmp_path, options, variables):
    profile = "import hypothesis\n\nhypothesis.settings.register_profile('chaos')\n"
    (tmp_path / "conftest.py").write_text(profile)
    status, output = run_pytest([("browser", TIMEOUT), ("stack", EXPECTED)], *options, **variables)
    assert status == 1, output
    assert " 2 failed in " in output


def test_unit_tests_and_wrong_values_are_not_tried_again(run_pytest):
    failing = [("plain", TIMEOUT), ("browser", "Broken('TimeoutError: ')"), ("stack", "AssertionError('2 == 3')")]
    status, output = run_pytest(failing)
    assert status == 1, output
    assert " 3 failed in " in output


@pytest.mark.parametrize("options", [(), ("-n", "2", "--dist", "loadfile")], ids=["one process", "xdist"])
def test_more_second_attempts_than_allowed_fail_the_session(run_pytest, options):
    status, output = run_pytest([("browser", TIMEOUT)] * (MAX_SECOND_ATTEMPTS + 1), *options)
    assert f"{MAX_SECOND_ATTEMPTS + 1} passed, {MAX_SECOND_ATTEMPTS + 1} rerun" in output
    assert status == 1
    assert TOO_MANY.format(MAX_SECOND_ATTEMPTS) in output
    assert output.count(TRIED_AGAIN.format("test_")) == MAX_SECOND_ATTEMPTS + 1


def build_item(path: str, marker: str | None = None):
    return SimpleNamespace(nodeid=f"{path}::test", path=ROOT / path, get_closest_marker=lambda name: name == marker)


def test_the_longest_files_come_first_and_before_them_those_that_were_not_measured(monkeypatch, tmp_path):
    stored = tmp_path / "durations.json"
    stored.write_text('{"tests/a.py": 3, "tests/b.py": 40}')
    monkeypatch.setattr(file_order, "DURATIONS", stored)
    items = [build_item(path) for path in ("tests/a.py", "tests/b.py", "tests/new.py", "tests/b.py")]
    file_order.pytest_collection_modifyitems(items)
    assert [item.path.name for item in items] == ["new.py", "b.py", "b.py", "a.py"]


def test_a_marked_test_that_make_would_not_find_is_refused():
    """`make test` finds the files by the text of the marks."""
    assert f"'{file_order.MARK}'" in (ROOT / "Makefile").read_text()
    with pytest.raises(pytest.UsageError, match="people.py does not contain"):
        file_order.pytest_collection_modifyitems([build_item("tests/people.py", "stack")])


def test_every_measured_file_is_there():
    """Of a file that was renamed the seconds are kept under the new name, or it is measured anew."""
    assert [name for name in file_order.read_durations() if not (ROOT / name).exists()] == []
