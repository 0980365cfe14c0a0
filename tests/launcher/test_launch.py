"""The installation as one process tree: it comes up, stays up, and goes without a trace."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from common.processes import find_free_port, is_alive, list_processes_in
from launcher.home import ROOT
from tests.stack import Stack
from tests.stories.integrator import Integrator

pytestmark = pytest.mark.stack


def eventually(holds: Callable[[], bool], seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.1)
    return False


def workers_of(home: Path) -> list[int]:
    """Every live process that works in the data folder, e.g. PostgreSQL's own children."""
    return [process for folder in home.glob("*") for process in list_processes_in(folder)]


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with Stack() as running:
        yield running


def test_a_ready_stack_says_so_part_by_part(stack: Stack) -> None:
    with urllib.request.urlopen(stack.address + "/readyz") as answer:
        parts = json.load(answer)
    assert parts == {"warm": True, "database": True, "redis": True, "worker": True}
    assert stack.status("/healthz") == 200
    assert eventually(lambda: f"Atelier is ready: http://localhost:{stack.port}" in stack.log)


def test_secrets_are_kept_for_their_owner_alone(stack: Stack) -> None:
    file = stack.home / "secrets.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for secret in json.loads(file.read_text()).values():
        assert secret not in stack.log
        for process in stack.processes().values():
            assert secret.encode() not in Path(f"/proc/{process}/cmdline").read_bytes()


def test_servers_do_not_run_as_root(stack: Stack) -> None:
    for name in ("postgres", "valkey"):
        assert Path(f"/proc/{stack.processes()[name]}").stat().st_uid != 0


def test_a_second_start_on_the_same_data_is_refused(stack: Stack) -> None:
    second = Stack(home=stack.home)
    second.log_file = stack.home.with_name(stack.home.name + ".second")
    second.start()
    assert second.launcher is not None
    assert second.launcher.wait(20) == 1
    assert f"Atelier already runs on the data in {stack.home}" in second.log
    assert stack.status("/readyz") == 200
    second.log_file.unlink()


def test_a_taken_port_is_refused_with_a_clear_line(stack: Stack) -> None:
    second = Stack(port=stack.port)
    second.start()
    assert second.launcher is not None
    assert second.launcher.wait(20) == 1
    assert f"Port {stack.port} of 127.0.0.1 cannot be used" in second.log
    assert "Traceback" not in second.log
    second.__exit__()


class Talk:
    """What one person has said, and must find again."""

    def __init__(self, stack: Stack) -> None:
        self._who = Integrator(stack, "Ann")
        workspace = self._who.ok("POST", "workspaces", {"name": "Kept"})["id"]
        agent = {"name": "Scribe", "template": "scribe", "prompt": "Be brief.", "open_chat": True}
        self._chat = self._who.ok("POST", f"workspaces/{workspace}/agents", agent)["chat_id"]
        self._said: set[str] = set()

    def __enter__(self) -> "Talk":
        return self

    def __exit__(self, *exception: object) -> None:
        self._who.close()

    def goes_on(self) -> None:
        """Say one thing more."""
        self._said.add(self._who.post(self._chat, f"number {len(self._said)}", wake="nobody")["id"])

    def is_whole(self) -> bool:
        """Whether everything that was taken is there, once."""
        rows = self._who.ok("GET", f"chats/{self._chat}/messages?limit=100")["results"]
        return sorted(row["id"] for row in rows if row["id"] in self._said) == sorted(self._said)


@pytest.fixture(scope="module")
def talk(stack: Stack) -> Iterator[Talk]:
    with Talk(stack) as talk:
        yield talk


@pytest.mark.parametrize("name", ["web", "worker", "valkey", "postgres"])
def test_RUN7_what_dies_is_started_again_and_serves(stack: Stack, talk: Talk, name: str) -> None:
    talk.goes_on()
    killed = stack.kill(name)
    assert eventually(lambda: stack.processes().get(name, killed) != killed)
    assert eventually(lambda: stack.status("/readyz") == 200)
    assert talk.is_whole()


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_RUN6_however_it_ends_nothing_is_left_and_nothing_is_lost(stack: Stack, talk: Talk, by: signal.Signals) -> None:
    talk.goes_on()
    secrets = (stack.home / "secrets.json").read_text()
    children = [*stack.processes().values(), *workers_of(stack.home)]
    assert len(children) > 8
    assert stack.stop(by) == (-signal.SIGKILL if by == signal.SIGKILL else 0)
    assert eventually(lambda: not [child for child in children if is_alive(child)], seconds=10)
    stack.start()
    stack.wait_until_ready()
    assert (stack.home / "secrets.json").read_text() == secrets
    assert stack.log.count("Bringing the database up to date") == 1
    assert talk.is_whole()


def killed_at(stack: Stack, moment: Callable[[], bool], name: str = "") -> None:
    """Start, and `kill -9` the launcher, or that part of it, when the moment has come."""
    stack.start()
    assert stack.launcher is not None
    assert eventually(moment, seconds=60)
    if name:
        stack.kill(name)
    else:
        stack.launcher.kill()
    stack.launcher.wait(60)
    assert eventually(lambda: not workers_of(stack.home))


def test_RUN6_a_first_start_that_is_killed_at_any_moment_is_taken_up_again() -> None:
    stack = Stack()
    cluster = stack.home / "postgres-18"
    killed_at(stack, (stack.home / "secrets.json").exists)
    killed_at(stack, cluster.with_name("postgres-18.new").exists)
    secrets = (stack.home / "secrets.json").read_text()
    killed_at(stack, lambda: "Bringing the database up to date" in stack.log)
    migrating = stack.log.count("Bringing")
    killed_at(stack, lambda: stack.log.count("Bringing") > migrating, "postgres")
    assert "The database cannot be reached or migrated; the lines above say why." in stack.log
    with stack:
        assert (stack.home / "secrets.json").read_text() == secrets
        with Talk(stack) as talk:
            talk.goes_on()
            assert talk.is_whole()


def test_servers_that_are_named_are_used_and_no_others_started() -> None:
    named = {"DATABASE_URL": os.environ["DATABASE_URL"], "REDIS_URL": os.environ["REDIS_URL"]}
    with Stack(DATABASE_URL=named["DATABASE_URL"], REDIS_URL=named["REDIS_URL"]) as stack:
        assert sorted(stack.processes()) == ["web", "worker"]
        environment = Path(f"/proc/{stack.processes()['web']}/environ").read_bytes().split(b"\0")
        assert f"DATABASE_URL={named['DATABASE_URL']}".encode() in environment
        assert b"ATELIER_EMBEDDED=1" not in environment
        assert [path.name for path in stack.home.iterdir() if path.is_dir()] == []


def test_it_ends_when_the_database_cannot_be_had() -> None:
    stack = Stack(DATABASE_URL=f"postgres://nobody:secret-word@127.0.0.1:{find_free_port()}/none")
    stack.start()
    assert stack.launcher is not None
    assert stack.launcher.wait(60) == 1
    assert "The database cannot be reached or migrated" in stack.log
    assert "secret-word" not in stack.log
    stack.__exit__()


PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-m", "launcher.launch"])
print(child.pid, flush=True)
child.wait()
"""


def test_a_killed_make_takes_everything_with_it() -> None:
    stack = Stack(MAKELEVEL="1")
    # In place of `make`: it cannot pass on a signal that it never sees.
    with stack.log_file.open("wb") as log:
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT], cwd=ROOT, env=stack.environment, stdout=subprocess.PIPE, stderr=log
        )
    assert parent.stdout is not None
    launcher = int(parent.stdout.readline())
    assert eventually(lambda: stack.status("/readyz") == 200, seconds=60)
    children = [launcher, *workers_of(stack.home)]
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert eventually(lambda: not [child for child in children if is_alive(child)])
    assert stack.status("/healthz") == 0
    stack.__exit__()


def test_a_socket_that_was_waiting_is_answered_after_the_web_process_died(stack: Stack) -> None:
    stack.kill("web")
    with socket.create_connection(("127.0.0.1", stack.port), timeout=20) as wire:
        wire.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert wire.recv(100).startswith(b"HTTP/1.1 200")


def test_an_operator_is_made_on_the_running_installation() -> None:
    command = [
        sys.executable,
        "-m",
        "launcher.manage",
        "createsuperuser",
        "--noinput",
        "--email",
        "op@example.org",
    ]
    with Stack() as stack:
        environment = stack.environment | {"DJANGO_SUPERUSER_PASSWORD": "a long enough password"}
        made = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
        assert "Superuser created successfully" in made.stdout, made.stderr
    refused = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "does not run here" in refused.stderr
