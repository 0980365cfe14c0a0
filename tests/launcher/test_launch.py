"""The installation as one process tree: its start, the restart of processes that die, and its end."""

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

import psycopg
import pytest

from common.ids import new_id
from common.processes import StartError, find_free_port, is_alive, list_processes_working_in
from launcher.home import ROOT
from launcher.listener import open_listener
from tests.stack import Stack
from tests.stories.integrator import Integrator

pytestmark = pytest.mark.stack


def becomes_true(condition: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False


def list_processes_below(home: Path) -> list[int]:
    """Return the live processes whose working directory is in the data folder, such as PostgreSQL's children."""
    return [process for folder in home.glob("*") for process in list_processes_working_in(folder)]


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with Stack() as running:
        yield running


def test_readyz_reports_each_part_of_a_ready_stack(stack: Stack) -> None:
    with urllib.request.urlopen(stack.url + "/readyz") as answer:
        parts = json.load(answer)
    assert parts == {"warm": True, "database": True, "redis": True, "worker": True}
    assert stack.status("/healthz") == 200
    assert becomes_true(lambda: f"Atelier is ready: http://localhost:{stack.port}" in stack.log)


def test_secrets_are_readable_by_their_owner_only_and_not_in_logs_or_command_lines(stack: Stack) -> None:
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
    assert second.launcher.wait(60) == 1
    assert f"Atelier already runs on the data in {stack.home}" in second.log
    assert stack.status("/readyz") == 200
    second.log_file.unlink()


def test_a_port_in_use_is_reported_in_one_line(stack: Stack) -> None:
    second = Stack(port=stack.port)
    second.start()
    assert second.launcher is not None
    assert second.launcher.wait(60) == 1
    assert f"Port {stack.port} of 127.0.0.1 cannot be used" in second.log
    assert "Traceback" not in second.log
    second.__exit__()


class PostedMessages:
    """The messages that one person has posted into a chat, all of which must be stored."""

    def __init__(self, stack: Stack) -> None:
        self._person = Integrator(stack, "Ann")
        workspace = self._person.ok("POST", "workspaces", {"name": "Kept"})["id"]
        agent = {"name": "Scribe", "template": "scribe", "prompt": "Be brief.", "open_chat": True}
        self._chat = self._person.ok("POST", f"workspaces/{workspace}/agents", agent)["chat_id"]
        self._ids: set[str] = set()

    def __enter__(self) -> "PostedMessages":
        return self

    def __exit__(self, *exception: object) -> None:
        self._person.close()

    def post(self) -> None:
        """Post one more message."""
        self._ids.add(self._person.post(self._chat, f"number {len(self._ids)}", wake="nobody")["id"])

    def are_readable(self) -> bool:
        """Return whether the API answers the person."""
        return self._person.status("GET", f"chats/{self._chat}/messages?limit=1") == 200

    def are_stored(self) -> bool:
        """Return whether each message is stored exactly once."""
        rows = self._person.ok("GET", f"chats/{self._chat}/messages?limit=100")["results"]
        return sorted(row["id"] for row in rows if row["id"] in self._ids) == sorted(self._ids)


@pytest.fixture(scope="module")
def posted(stack: Stack) -> Iterator[PostedMessages]:
    with PostedMessages(stack) as messages:
        yield messages


@pytest.mark.parametrize("name", ["web", "worker", "valkey", "postgres"])
def test_RUN7_a_killed_process_is_restarted_and_no_message_is_lost(
    stack: Stack, posted: PostedMessages, name: str
) -> None:
    posted.post()
    killed = stack.kill(name)
    assert becomes_true(lambda: stack.processes().get(name, killed) != killed)
    assert becomes_true(lambda: stack.status("/readyz") == 200)
    # `/readyz` repeats its answer for a second, so it may be one from before the kill.
    assert becomes_true(posted.are_readable)
    assert posted.are_stored()


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_RUN6_after_any_signal_no_process_is_left_and_no_data_are_lost(
    stack: Stack, posted: PostedMessages, by: signal.Signals
) -> None:
    posted.post()
    secrets = (stack.home / "secrets.json").read_text()
    children = [*stack.processes().values(), *list_processes_below(stack.home)]
    assert len(children) > 8
    assert stack.stop(by) == (-signal.SIGKILL if by == signal.SIGKILL else 0)
    assert becomes_true(lambda: not [child for child in children if is_alive(child)])
    stack.start()
    stack.wait_until_ready()
    assert (stack.home / "secrets.json").read_text() == secrets
    assert stack.log.count("Bringing the database up to date") == 1
    assert posted.are_stored()


def start_and_kill(stack: Stack, when: Callable[[], bool], name: str = "") -> None:
    """Start the stack, and `kill -9` the launcher or the named process as soon as `when` is true."""
    stack.start()
    assert stack.launcher is not None
    assert becomes_true(when, seconds=60)
    if name:
        stack.kill(name)
    else:
        stack.launcher.kill()
    stack.launcher.wait(60)
    assert becomes_true(lambda: not list_processes_below(stack.home))


def test_RUN6_a_first_start_that_is_killed_at_any_moment_can_be_repeated() -> None:
    stack = Stack()
    cluster = stack.home / "postgres-18"
    start_and_kill(stack, (stack.home / "secrets.json").exists)
    start_and_kill(stack, cluster.with_name("postgres-18.new").exists)
    secrets = (stack.home / "secrets.json").read_text()
    start_and_kill(stack, lambda: "Bringing the database up to date" in stack.log)
    migrating = stack.log.count("Bringing")
    start_and_kill(stack, lambda: stack.log.count("Bringing") > migrating, "postgres")
    assert "The database cannot be reached or migrated; the lines above say why." in stack.log
    with stack:
        assert (stack.home / "secrets.json").read_text() == secrets
        with PostedMessages(stack) as posted:
            posted.post()
            assert posted.are_stored()


def test_settings_may_come_from_files_and_named_servers_are_used(tmp_path: Path) -> None:
    port = find_free_port()
    values = {
        "DATABASE_URL": os.environ["DATABASE_URL"],
        "REDIS_URL": os.environ["REDIS_URL"],
        "PORT": str(port),
        "PUBLIC_URL": "https://atelier.example.org",
    }
    for name, value in values.items():
        (tmp_path / name).write_text(f"{value}\n")
    stack = Stack(port=port, FORWARDED_ALLOW_IPS="127.0.0.1")
    stack.environment |= {f"{name}_FILE": str(tmp_path / name) for name in values}
    with stack:
        assert sorted(stack.processes()) == ["web", "worker"]
        environment = Path(f"/proc/{stack.processes()['web']}/environ").read_bytes().split(b"\0")
        assert f"ATELIER_ADDRESS=http://localhost:{port}".encode() in environment
        assert f"DATABASE_URL={values['DATABASE_URL']}".encode() in environment
        assert b"ATELIER_EMBEDDED=1" not in environment
        assert becomes_true(lambda: "Atelier is ready: https://atelier.example.org" in stack.log)
        assert json.loads((stack.home / "running.json").read_text())["DATABASE_URL"] == values["DATABASE_URL"]
        assert [path.name for path in stack.home.iterdir() if path.is_dir()] == []


def test_an_ipv6_address_is_in_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_server", lambda *args, **kwargs: socket.socket())
    listener, address = open_listener({"HOST": "2001:db8::5", "PORT": "9000"})
    listener.close()
    assert address == "http://[2001:db8::5]:9000"


def test_the_error_names_the_ports_that_were_tried() -> None:
    with pytest.raises(StartError, match="Ports 8000 to 8099 of 192.0.2.1 cannot be used"):
        open_listener({"HOST": "192.0.2.1"})


def test_the_launcher_ends_if_the_database_is_unreachable() -> None:
    stack = Stack(DATABASE_URL=f"postgres://nobody:secret-word@127.0.0.1:{find_free_port()}/none")
    stack.start()
    assert stack.launcher is not None
    assert stack.launcher.wait(60) == 1
    assert "The database cannot be reached or migrated" in stack.log
    assert "secret-word" not in stack.log
    stack.__exit__()


def test_web_and_worker_load_their_code_and_then_wait_until_the_database_is_migrated() -> None:
    url = os.environ["DATABASE_URL"]
    name = f"empty_{new_id().hex}"
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        stack = Stack(DATABASE_URL=url.rpartition("/")[0] + f"/{name}", REDIS_URL=os.environ["REDIS_URL"])
        try:
            with psycopg.connect(stack.environment["DATABASE_URL"]) as blocking:
                blocking.execute("CREATE TABLE django_migrations ()")
                stack.start()
                connections = "SELECT pid, wait_event_type FROM pg_stat_activity WHERE datname = %s ORDER BY pid"
                # `migrate` waits for the end of our transaction.
                assert becomes_true(lambda: "Lock" in dict(admin.execute(connections, [name])).values(), seconds=60)
                found: dict[int, str] = dict(admin.execute(connections, [name]))
                assert stack.status("/healthz") == 0  # not answered within 10 seconds
                assert {"web", "worker"} <= set(stack.processes())
                assert dict(admin.execute(connections, [name])).keys() == found.keys()
                killed = stack.kill("web")
                blocking.rollback()
            stack.wait_until_ready()
            assert stack.processes()["web"] != killed
            assert stack.log.count("it is started again") == 1
        finally:
            stack.__exit__()
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_RUN6_no_process_is_left_when_the_start_is_ended_during_the_migrations() -> None:
    stack = Stack()
    stack.start()
    assert becomes_true(lambda: {"web", "worker"} <= set(stack.processes()), seconds=60)
    children = [*stack.processes().values(), *list_processes_below(stack.home)]
    assert "Atelier is ready" not in stack.log
    began = time.monotonic()
    assert stack.stop() == 1
    assert time.monotonic() - began < 10  # Less than an orderly end of web and worker may take.
    assert not [child for child in children if is_alive(child)]
    assert "Stopped before it was ready." in stack.log
    assert "cannot be reached or migrated" not in stack.log
    stack.__exit__()


PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-m", "launcher.launch"])
print(child.pid, flush=True)
child.wait()
"""


def test_all_processes_end_if_make_is_killed() -> None:
    stack = Stack(is_migrated=True, MAKELEVEL="1")
    # The parent stands in for `make`, which cannot pass on a SIGKILL.
    with stack.log_file.open("wb") as log:
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT], cwd=ROOT, env=stack.environment, stdout=subprocess.PIPE, stderr=log
        )
    assert parent.stdout is not None
    launcher = int(parent.stdout.readline())
    assert becomes_true(lambda: stack.status("/readyz") == 200, seconds=60)
    children = [launcher, *list_processes_below(stack.home)]
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert becomes_true(lambda: not [child for child in children if is_alive(child)])
    assert stack.status("/healthz") == 0
    stack.__exit__()


def test_a_waiting_connection_is_served_after_the_web_process_was_killed(stack: Stack) -> None:
    stack.kill("web")
    with socket.create_connection(("127.0.0.1", stack.port), timeout=20) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200")


def test_make_operator_works_without_a_terminal_and_fails_loudly(stack: Stack) -> None:
    def make_operator(email: str, environment: dict[str, str], *more: str) -> subprocess.CompletedProcess[str]:
        command = ["make", "operator", f"EMAIL={email}", *more]
        return subprocess.run(
            command, env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    made = make_operator("op@example.org", stack.environment)
    assert made.returncode == 0, made.stderr
    assert f"http://localhost:{stack.port}/reset-password/" in made.stdout
    again = make_operator("op@example.org", stack.environment)
    assert (again.returncode, "is an operator now" in again.stdout) == (0, True)
    dora = Integrator(stack, "Dora")
    dora.http.close()
    asked = make_operator(dora.email, stack.environment)
    assert asked.returncode
    assert ("--yes" in asked.stderr, "is an operator now" in asked.stdout) == (True, False)
    promoted = make_operator(dora.email, stack.environment, "YES=1")
    assert (promoted.returncode, "is an operator now" in promoted.stdout) == (0, True)
    refused = [make_operator(email, stack.environment) for email in ("", "no address")]
    assert all(answer.returncode and "not an email address" in answer.stderr for answer in refused)
    stack.stop()
    stopped = make_operator("op@example.org", stack.environment)
    assert stopped.returncode
    assert "does not run here" in stopped.stderr
