"""The web process for tests: its protocols on the event loop of the test, or a process of its own with the test's database."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import uvicorn
from django.conf import settings
from django.db import connection
from django.test import override_settings

from actors.models import Actor
from common.processes import die_with_parent, find_free_port
from launcher.home import ROOT
from server.serve import build_config
from tests.realtime.tab import create_session_key

KEY = "of the web process of a test"


@asynccontextmanager
async def serve(app: Any, port: int | None = None) -> AsyncIterator[uvicorn.Server]:
    """Serve `app` as the web process does, on this event loop, so that a test can change the limits."""
    config = build_config()
    config.app, config.port, config.lifespan, config.loop = app, port or find_free_port(), "off", "none"
    server = uvicorn.Server(config)
    task = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.02)
    try:
        yield server
    finally:
        server.should_exit = True
        await task


class Web:
    """A web process with the test's database and Redis."""

    def __init__(self) -> None:
        self.port = find_free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = Path(tempfile.mkstemp(prefix="atelier-web-")[1])
        name = connection.settings_dict["NAME"]
        environment = {
            "DATABASE_URL": urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl(),
            "REDIS_URL": settings.REDIS_URL,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "SECRET_KEY": KEY,
            "SECRET_KEYS": "b2YtdGhlLXdlYi1wcm9jZXNzLW9mLWEtdGVzdC4uLi4=",
            "PORT": str(self.port),
        }
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "server.serve"],
                cwd=ROOT,
                env=os.environ | environment,
                stdout=log,
                stderr=log,
                preexec_fn=lambda: die_with_parent(signal.SIGKILL),
            )

    def sign_in(self, person: Actor) -> str:
        """Return the key of a session that is valid in this process."""
        with override_settings(SECRET_KEY=KEY):
            return create_session_key(person)

    def is_healthy(self) -> bool:
        """Return whether the process still runs and answers."""
        if self.process.poll() is not None:
            return False
        try:
            return httpx.get(self.url + "/healthz", timeout=60).status_code == 200
        except httpx.TransportError:
            return False

    def get_memory(self) -> int:
        """Return the bytes that the process uses now, and reset the peak."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        return self._read_status("VmRSS")

    def get_peak_memory(self) -> int:
        """Return the peak in bytes since the last call of `get_memory`."""
        return self._read_status("VmHWM")

    def _read_status(self, name: str) -> int:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024


@contextmanager
def run_web_process() -> Iterator[Web]:
    """Run a web process during the block."""
    web = Web()
    try:
        while not web.is_healthy():
            assert web.process.poll() is None, web.log.read_text()
        yield web
    finally:
        web.process.terminate()
        web.process.wait(60)
        web.log.unlink()
