"""The image, built by its own steps in empty folders, serves as a user who is not root."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest

from common.processes import find_free_port
from tests.image.steps import Build, Stage
from tests.image.test_deployment_files import SERVICES

pytestmark = [pytest.mark.image, pytest.mark.skipif(os.geteuid() != 0, reason="chroot needs root")]


@pytest.fixture(scope="module")
def image() -> Iterator[Stage]:
    folder = Path(tempfile.mkdtemp(prefix="atelier-image-"))
    # The user of the image must be able to enter it.
    folder.chmod(0o755)
    try:
        yield Build(folder).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Installation:
    """A database of its own, with secrets as files, and the processes of the image on it."""

    def __init__(self, image: Stage, log: IO[bytes]) -> None:
        self.image = image
        self.port = find_free_port()
        self._log = log
        database, redis = urlsplit(os.environ["DATABASE_URL"]), urlsplit(os.environ["REDIS_URL"])
        name = f"image_{uuid4().hex}"
        with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        secrets = image.root / "run" / "secrets"
        secrets.mkdir(exist_ok=True)
        for secret, text in {
            "postgres_password": database.password,
            "valkey_password": redis.password,
            "secret_key": "of the image under test",
            "secret_keys": "b2YtdGhlLWltYWdlLXVuZGVyLXRlc3QuLi4uLi4uLi4=",
        }.items():
            (secrets / secret).write_text(f"{text}\n")
        self.environment = SERVICES["worker"]["environment"] | {
            "DATABASE_URL": f"postgres://{database.username}@{database.hostname}:{database.port}/{name}",
            # The tests of other processes use the first databases.
            "REDIS_URL": f"redis://{redis.hostname}:{redis.port}/60",
            "HOST": "127.0.0.1",
            "PORT": str(self.port),
        }

    @property
    def log(self) -> str:
        self._log.seek(0)
        return self._log.read().decode()

    def run(self, *command: str) -> None:
        self.image.run(command, **self.environment)

    def is_healthy(self, command: list[str]) -> bool:
        try:
            self.run(*command)
        except subprocess.CalledProcessError:
            return False
        return True

    @contextmanager
    def start(self, command: list[str], health_command: list[str]) -> "Iterator[subprocess.Popen[bytes]]":
        """Start a process and wait until its health check succeeds."""
        process = self.image.start(command, self._log, **self.environment)
        try:
            while not self.is_healthy(health_command):
                assert process.poll() is None, self.log
                time.sleep(0.5)
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def get(self, path: str, **headers: str) -> tuple[int, str, Message]:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode(errors="replace"), answer.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode(), error.headers


@pytest.fixture(scope="module")
def installation(image: Stage) -> Iterator[Installation]:
    with tempfile.TemporaryFile() as log:
        made = Installation(image, log)
        made.run(*SERVICES["migrate"]["command"])
        yield made


@pytest.fixture(scope="module")
def web(installation: Installation) -> "Iterator[subprocess.Popen[bytes]]":
    with installation.start(installation.image.command, installation.image.health_command) as process:
        yield process


@pytest.fixture(scope="module")
def worker(installation: Installation) -> "Iterator[subprocess.Popen[bytes]]":
    shell, command = SERVICES["worker"]["healthcheck"]["test"]
    assert shell == "CMD-SHELL"
    health_command = ["sh", "-c", command.replace("$$", "$")]
    with installation.start(SERVICES["worker"]["command"], health_command) as process:
        yield process


def test_the_image_contains_no_tools_of_the_build(image: Stage) -> None:
    names = {path.name for path in (image.root / "app").iterdir()}
    assert {"manage.py", ".venv", "frontend", "locale"} <= names
    assert not {"tests", "docs", "Makefile", ".git", "secrets"} & names
    assert not list((image.root / "app" / ".venv" / "bin").glob("pip*"))
    assert not (image.root / "app" / "frontend" / "node_modules").exists()


def test_web_and_worker_form_a_ready_installation(installation: Installation, web: object, worker: object) -> None:
    while (found := installation.get("/readyz"))[0] != 200:
        assert '"warm": true' in found[1], found
        time.sleep(0.5)


def test_neither_process_is_run_by_root_or_may_change_the_application(
    installation: Installation, web: "subprocess.Popen[bytes]", worker: "subprocess.Popen[bytes]"
) -> None:
    for process in (web, worker):
        status = Path(f"/proc/{process.pid}/status").read_text()
        assert re.search(r"^Uid:\s10001\s10001\s10001\s10001$", status, re.MULTILINE)
        assert re.search(r"^CapEff:\s0+$", status, re.MULTILINE)
    assert not installation.is_healthy(["touch", "/app/manage.py"])
    assert not installation.is_healthy(["touch", "/app/new"])


@pytest.mark.parametrize(
    ("path", "asset"),
    [("/sign-in", r'src="(/static/assets/index-[^"]+\.js)"'), ("/", r'href="(/static/assets/landing-[^"]+\.css)"')],
)
def test_the_web_app_is_built_and_served_compressed(
    installation: Installation, web: object, path: str, asset: str
) -> None:
    status, page, _ = installation.get(path)
    assert status == 200
    found = re.search(asset, page)
    assert found
    status, _, headers = installation.get(found[1], **{"Accept-Encoding": "gzip"})
    assert (status, headers["Content-Encoding"]) == (200, "gzip")
    assert "immutable" in headers["Cache-Control"]


def test_static_files_and_translations_are_in_the_image(installation: Installation, web: object) -> None:
    status, page, _ = installation.get("/admin/login/", **{"Accept-Language": "zh-hant"})
    assert status == 200
    assert 'lang="zh-hant"' in page
    assert "電子郵件" in page or "登入" in page
    styles = re.findall(r'href="(/static/[^"]+\.css)"', page)
    assert styles
    assert [installation.get(style)[0] for style in styles] == [200] * len(styles)


def test_both_processes_end_by_sigterm(
    installation: Installation, web: "subprocess.Popen[bytes]", worker: "subprocess.Popen[bytes]"
) -> None:
    for process in (web, worker):
        process.send_signal(signal.SIGTERM)
    # uvicorn shuts down, and then ends by the signal.
    assert [process.wait(60) for process in (web, worker)] == [-signal.SIGTERM, 0], installation.log
    assert "Application shutdown complete" in installation.log
