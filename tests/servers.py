"""A PostgreSQL and a Valkey for one run of the tests: random ports, data in a temporary folder, gone afterwards.

`python -m tests.servers` starts both, prints how to reach them and waits; `python -m tests.servers COMMAND …` runs a
command that finds them in its environment.
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
        # Kept open by the servers: what they say is read only when something fails.
        with (self.home / "servers.log").open("wb") as log:
            self.postgres = Postgres(self.home, secrets.token_hex(16), durable=False, output=log)
            self.valkey = Valkey(self.home, secrets.token_hex(16), durable=False, output=log)
            self.postgres.start()
            self.valkey.start()

    @property
    def environment(self) -> dict[str, str]:
        """What the settings read."""
        return {"DATABASE_URL": self.postgres.url, "REDIS_URL": self.valkey.url}

    def stop(self) -> None:
        """End both and forget their data."""
        self.postgres.stop()
        self.valkey.stop()
        shutil.rmtree(self.home, ignore_errors=True)


def ensure() -> None:
    """Point this process, and those it starts, to test servers; start them unless a parent has done so."""
    if os.environ.get("ATELIER_TEST_SERVERS"):
        return
    servers = Servers()
    os.environ.update(servers.environment, ATELIER_TEST_SERVERS="1")
    owner = os.getpid()
    atexit.register(lambda: servers.stop() if os.getpid() == owner else None)


def database_url() -> str:
    """The database that the tests of this process use, for processes that they start."""
    from django.db import connection

    database = connection.settings_dict
    where = f"{database['HOST']}:{database['PORT']}/{database['NAME']}"
    return f"postgres://{database['USER']}:{database['PASSWORD']}@{where}"


def _leave(signum: int, frame: FrameType | None) -> None:
    sys.exit(0)


def main(command: list[str]) -> int:
    """Run `command` beside the servers, or wait for a signal."""
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    ensure()
    if command:
        return subprocess.run(command, check=False).returncode
    for name in ("DATABASE_URL", "REDIS_URL", "ATELIER_TEST_SERVERS"):
        sys.stdout.write(f"export {name}={os.environ[name]}\n")
    sys.stdout.flush()
    signal.pause()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
