"""From a fresh checkout: nothing is done twice, what is missing is named, what is stopped leaves nothing running."""

import importlib.util
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from common.embedded.home import ROOT
from common.embedded.processes import is_alive


@pytest.fixture
def bootstrap(tmp_path: Path) -> ModuleType:
    """The module as it lies in a checkout of its own: `tmp_path`."""
    (tmp_path / "common").mkdir()
    file = shutil.copy(ROOT / "common" / "bootstrap.py", tmp_path / "common")
    spec = importlib.util.spec_from_file_location("bootstrap_under_test", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / ".make").mkdir()
    frontend = tmp_path / "frontend"
    (frontend / "src").mkdir(parents=True)
    (frontend / "node_modules").mkdir()
    for name in ("package.json", "package-lock.json", "src/main.ts", "node_modules/big.js"):
        (frontend / name).write_text(name)
    return module


def test_a_stamp_holds_until_a_file_changes(bootstrap: ModuleType, tmp_path: Path) -> None:
    source = tmp_path / "frontend" / "src" / "main.ts"

    def holds() -> bool:
        return bool(bootstrap.Stamp("x", [source], "3.11").holds())

    assert not holds()
    bootstrap.Stamp("x", [source], "3.11").set()
    assert holds()
    assert not bootstrap.Stamp("x", [source], "3.12").holds()
    source.write_text("changed")
    assert not holds()


def test_what_was_built_or_installed_is_no_source(bootstrap: ModuleType, tmp_path: Path) -> None:
    found = {str(path.relative_to(tmp_path / "frontend")) for path in bootstrap.web_app_sources()}
    assert found == {"package.json", "package-lock.json", "src/main.ts"}


def test_a_web_app_that_is_up_to_date_needs_no_node(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    (tmp_path / "frontend" / "dist").mkdir()
    (tmp_path / "frontend" / "dist" / "index.html").touch()
    bootstrap.Stamp("web-app", bootstrap.web_app_sources()).set()
    bootstrap.build_web_app()


def test_without_node_it_says_which_is_needed(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(bootstrap.Stop, match=r"Node 20\.19 or newer with npm is needed .* found: none"):
        bootstrap.build_web_app()


def test_a_step_that_fails_is_named_and_leaves_no_stamp(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, does in (("node", "echo v22.1.0"), ("npm", "exit 3")):
        (tools / name).write_text(f"#!/bin/sh\n{does}\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/bin:/usr/bin")
    with pytest.raises(bootstrap.Stop, match="This step failed: npm ci"):
        bootstrap.build_web_app()
    assert not list((tmp_path / ".make").iterdir())


def test_an_old_python_is_told_what_is_needed(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(bootstrap.Stop, match=r"Python 3\.11 or newer is needed"):
        bootstrap.use_a_fitting_python()


INTERRUPTED = """
from common import bootstrap
bootstrap.end_with_make()
bootstrap.call(["sh", "-c", "sleep 61 & echo $! $$; sleep 62"])
"""


def test_a_step_that_is_interrupted_takes_its_children_with_it() -> None:
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], cwd=ROOT, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        started = [int(word) for word in child.stdout.readline().split()]
        assert all(is_alive(process) for process in started)
        child.send_signal(signal.SIGTERM)
        assert child.wait(10) == 1
    deadline = time.monotonic() + 5
    while any(is_alive(process) for process in started) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(is_alive(process) for process in started)
