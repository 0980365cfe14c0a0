"""A PostgreSQL and a Valkey for one run of the tests, on random ports and with data in a temporary folder, which is deleted
afterwards.

`python -m tests.servers` starts both, prints their environment variables and waits; `python -m tests.servers COMMAND …` runs a
command with these variables.
"""

import atexit
import fcntl
import hashlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

import psycopg

from launcher.home import ROOT, load_secrets, open_home
from launcher.migrations import Migrations
from launcher.postgres import DATABASE, Postgres, find_binaries
from launcher.valkey import Valkey

TEMPLATE = "migrated"
"""The database where the migrations have run. Those of the tests are copies of it, which takes a tenth of a second."""


class Servers:
    """Both servers on one temporary folder."""

    def __init__(self) -> None:
        self.home = open_home(Path(tempfile.mkdtemp(prefix="atelier-test-")))
        copy_migrated_home(self.home)
        # The output of the servers, to be read when something fails.
        with (self.home / "servers.log").open("wb") as log:
            self.postgres = Postgres(self.home, load_secrets(self.home).postgres_password, durable=False, output=log)
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


def copy_migrated_home(home: Path) -> None:
    """Copy the secrets and the PostgreSQL cluster of an installation whose migrations have run into the empty folder `home`.

    That installation is kept in `.make`, until a migration changes.
    """
    kept = ROOT / ".make" / f"migrated-{find_binaries()[0]}-{os.geteuid()}-{hash_migrations()}"
    kept.parent.mkdir(exist_ok=True)
    with (kept.parent / "migrated.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            for earlier in kept.parent.glob("migrated-*"):
                shutil.rmtree(earlier)
            _make_migrated_home(kept)
        # With the owner, who is `nobody` if we are root.
        subprocess.run(["cp", "-Rp", f"{kept}/.", home], check=True)


def hash_migrations() -> str:
    """Return a digest of the files that decide what a new cluster with migrated databases contains."""
    names = ("requirements/run.txt", "config/settings.py", "common/management/commands/migrate.py", "tests/servers.py")
    files = [*ROOT.glob("*/migrations/*.py"), *ROOT.glob("launcher/*.py"), *(ROOT / name for name in names)]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _make_migrated_home(folder: Path) -> None:
    home = open_home(Path(tempfile.mkdtemp(prefix="atelier-test-")))
    postgres = Postgres(home, load_secrets(home).postgres_password, durable=False)
    try:
        postgres.start()
        variables = {"DATABASE_URL": postgres.url, "DJANGO_SETTINGS_MODULE": "config.settings"}
        migrations = Migrations(postgres.data, os.environ | variables)
        subprocess.run(migrations.command, cwd=ROOT, env=migrations.environment, check=True)
        migrations.mark_applied()
        maintenance = urlsplit(postgres.url)._replace(path="/postgres").geturl()
        with psycopg.connect(maintenance, autocommit=True) as database:
            database.execute(f"CREATE DATABASE {TEMPLATE} TEMPLATE {DATABASE}")
            # A database that is in use cannot be copied.
            database.execute(f"ALTER DATABASE {TEMPLATE} ALLOW_CONNECTIONS false")
        postgres.stop()
        # Renamed at the end, so that an interrupted attempt is not used.
        temporary = folder.with_name("new-" + folder.name)
        shutil.rmtree(temporary, ignore_errors=True)
        subprocess.run(["cp", "-Rp", home, temporary], check=True)
        temporary.rename(folder)
    finally:
        postgres.stop()
        shutil.rmtree(home, ignore_errors=True)


def ensure_started() -> None:
    """Set the variables of the test servers in this process; start the servers unless a parent process has done so. If a migration
    has changed since then, start others."""
    migrations = hash_migrations()
    if os.environ.get("ATELIER_TEST_SERVERS") == migrations:
        return
    servers = Servers()
    os.environ.update(servers.environment, ATELIER_TEST_SERVERS=migrations)
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
