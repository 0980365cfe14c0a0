"""A PostgreSQL and a Valkey for one run of the tests, on random ports and with data in a temporary folder, which is deleted
afterwards.

`python -m tests.servers` starts both, prints their environment variables and waits; `python -m tests.servers COMMAND …` runs a
command with these variables.
"""

import atexit
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType

from launcher.home import open_home
from launcher.postgres import Postgres
from launcher.valkey import Valkey


class Servers:
    """Both servers on one temporary folder."""

    def __init__(self) -> None:
        self.home = open_home(Path(tempfile.mkdtemp(prefix="atelier-test-")))
        # The output of the servers, to be read when something fails.
        with (self.home / "servers.log").open("wb") as log:
            self.postgres = Postgres(self.home, secrets.token_hex(16), durable=False, output=log)
            self.valkey = Valkey(self.home, secrets.token_hex(16), durable=False, output=log)
            self.postgres.start()
            self.valkey.start()

    @property
    def environment(self) -> dict[str, str]:
        """The variables that the settings read."""
        return {"DATABASE_URL": self.postgres.url, "REDIS_URL": self.valkey.url}

    def stop(self) -> None:
        """Stop both servers and delete their data."""
        self.postgres.stop()
        self.valkey.stop()
        shutil.rmtree(self.home, ignore_errors=True)


def ensure_started() -> None:
    """Set the variables of the test servers in this process; start the servers unless a parent process has done so."""
    if os.environ.get("ATELIER_TEST_SERVERS"):
        return
    servers = Servers()
    os.environ.update(servers.environment, ATELIER_TEST_SERVERS="1")
    owner = os.getpid()
    atexit.register(lambda: servers.stop() if os.getpid() == owner else None)


def get_database_url() -> str:
    """Return the URL of the database that the tests of this process use, for processes that they start."""
    from django.db import connection

    database = connection.settings_dict
    where = f"{database['HOST']}:{database['PORT']}/{database['NAME']}"
    return f"postgres://{database['USER']}:{database['PASSWORD']}@{where}"


def _exit(signum: int, frame: FrameType | None) -> None:
    sys.exit(0)


def main(command: list[str]) -> int:
    """Run `command` with the servers, or wait for a signal."""
    signal.signal(signal.SIGTERM, _exit)
    signal.signal(signal.SIGINT, _exit)
    ensure_started()
    if command:
        return subprocess.run(command, check=False).returncode
    for name in ("DATABASE_URL", "REDIS_URL", "ATELIER_TEST_SERVERS"):
        sys.stdout.write(f"export {name}={os.environ[name]}\n")
    sys.stdout.flush()
    signal.pause()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
