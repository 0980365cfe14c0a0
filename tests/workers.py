"""Real worker processes on the test servers. Each is a process group, so that it can be killed completely."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from django.conf import settings

from common.processes import die_with_parent
from launcher.home import ROOT
from server.health import build_probe_client, has_answering_worker
from tests.servers import get_database_url

COMMAND = "celery -q -A config worker --pool threads --concurrency 2 --queues work"
QUIET = "--without-gossip --without-mingle --without-heartbeat"


class Worker:
    """One worker. `environment` is added to its environment, e.g. `RUN_LEASE="2"`."""

    def __init__(self, **environment: str) -> None:
        own = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": get_database_url(),
            "REDIS_URL": settings.REDIS_URL,
            "C_FORCE_ROOT": "1",
            "PYTHONWARNINGS": "ignore",
            "ATELIER_ALLOW_PRIVATE_HOSTS": ",".join(settings.ALLOW_PRIVATE_HOSTS),
            "SECRET_KEY": settings.SECRET_KEY,
            "SECRET_KEYS": ",".join(settings.SECRET_KEYS),
            "DEBUG": "1",
        }
        self.log_file = Path(tempfile.mkstemp(prefix="atelier-worker-", suffix=".log")[1])
        with self.log_file.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *COMMAND.split(), *QUIET.split(), "-n", f"{self.log_file.stem}@%h"],
                cwd=ROOT,
                env=os.environ | own | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=lambda: die_with_parent(signal.SIGKILL),
            )

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    @property
    def pid(self) -> int:
        return self.process.pid

    def owns(self, lease_owner: str) -> bool:
        """Return whether the lease belongs to this process."""
        return lease_owner.split(":")[1:2] == [str(self.pid)]

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process group."""
        os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """`kill -9` the process group, and wait for its end."""
        self.signal(signal.SIGKILL)
        self.process.wait(60)

    def end(self, seconds: float = 60) -> int:
        """Send SIGTERM. Return the exit code."""
        self.process.terminate()
        return self.process.wait(seconds)

    def close(self) -> None:
        """Kill the worker if it still runs, and delete its log."""
        if self.process.poll() is None:
            self.kill()
        self.log_file.unlink(missing_ok=True)


def wait_for_a_worker(worker: Worker, seconds: float = 60) -> Worker:
    """Wait until this worker accepts runs and answers probes. Raises `TimeoutError` with its log otherwise."""
    client, until = build_probe_client(), time.monotonic() + seconds
    while time.monotonic() < until and worker.process.poll() is None:
        if " ready." in worker.log and has_answering_worker(client):
            return worker
        time.sleep(0.1)
    raise TimeoutError(f"The worker is not ready:\n{worker.log[-4000:]}")
