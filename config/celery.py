"""The Celery application. A worker process also runs the engine of runs, the watchdog and the threads for health checks."""

import importlib
import os
from typing import Any

from celery import Celery, bootsteps
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("atelier")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def keep_django_logging(**kwargs: Any) -> None:
    """Keep the logging of Django's settings: without this receiver Celery installs its own handler, which would not remove
    secrets (SEC17)."""


class RunEngine(bootsteps.StartStopStep):
    """Starts the engine of runs (an event loop beside Celery's threads), the watchdog, and the threads for health checks."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: Any, **kwargs: Any) -> None:
        super().__init__(parent, **kwargs)
        self._engine: Any = None
        self._probes: Any = None
        self._watchdog: Any = None
        self._alive_file: Any = None

    def start(self, parent: Any) -> None:
        from django.conf import settings

        from common.dns import limit_resolver
        from common.processes import freeze_collector, wait_for_migrations
        from config.checks import refuse_to_serve_unsafely
        from server.health import LivenessFile, ProbeResponder
        from server.watchdog import Watchdog

        refuse_to_serve_unsafely()
        limit_resolver()
        engine = importlib.import_module("worker.engine")
        wait_for_migrations()
        freeze_collector()
        self._engine = engine.start_engine()
        self._probes = ProbeResponder(is_healthy=lambda: self._engine.is_healthy)
        self._probes.start()
        self._watchdog = Watchdog(
            settings.WORKER_DISCONNECTED_AFTER, lambda: self._engine.is_healthy, exit_process=self._exit
        )
        self._watchdog.start()
        if settings.WORKER_ALIVE_PATH is not None:
            self._alive_file = LivenessFile(settings.WORKER_ALIVE_PATH, is_healthy=lambda: self._engine.is_healthy)
            self._alive_file.start()

    def stop(self, parent: Any) -> None:
        if self._alive_file is not None:
            self._alive_file.stop()
        self._watchdog.stop()
        self._probes.stop()
        if self._engine is not None:
            self._engine.stop()

    def _exit(self) -> None:
        """Release the runs and exit. Celery itself is not shut down, because it would wait for the dead connection."""
        self._engine.stop()
        os._exit(os.EX_UNAVAILABLE)

    def terminate(self, parent: Any) -> None:
        self.stop(parent)


app.steps["worker"].add(RunEngine)
