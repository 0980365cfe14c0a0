"""What nobody else does: runs of the dead are taken over, runs that no hint reached are begun (guarantees §2.3)."""

import logging
import threading
from collections.abc import Iterable
from typing import Protocol
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connections

from agents.runtime.process import host, is_dead
from agents.services.claims import forgotten
from agents.services.hints import send_hints
from agents.services.leases import expired, owned_here, take_over

logger = logging.getLogger(__name__)


class Carrier(Protocol):
    """What the sweeper wants of an engine."""

    @property
    def room(self) -> int: ...
    def submit(self, run_ids: Iterable[UUID]) -> None: ...


class Sweeper:
    """A thread in every worker, so that it works when Redis and the loop do not."""

    def __init__(self, engine: Carrier) -> None:
        self._engine = engine
        self._leaving = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Sweep now, and then every `SWEEP_EVERY` seconds."""
        self._leaving.clear()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Sweep no more; returns when the last sweep has ended."""
        self._leaving.set()
        if self._thread is not None:
            self._thread.join(10)

    def sweep(self) -> None:
        """One round. Several workers may sweep at the same time: compare-and-set decides, and nothing happens twice."""
        orphans = {
            run.id: run for run in [*expired(), *(run for run in owned_here(host()) if is_dead(run.lease_owner))]
        }
        freed = [run.id for run in orphans.values() if take_over(run)]
        if freed:
            logger.warning("Runs were taken over from workers that died: %s", freed)
        waiting = [*freed, *forgotten(settings.RUN_LEASE / 2)]
        room = self._engine.room
        self._engine.submit(waiting[:room])
        # This process is full: others may not be.
        send_hints(waiting[room:])

    def _run(self) -> None:
        while True:
            try:
                self.sweep()
            except DatabaseError as error:
                logger.warning("The sweep failed; there is another in %.0f s: %s", settings.SWEEP_EVERY, error)
            except Exception:
                logger.exception("The sweep broke.")
            finally:
                connections.close_all()
            if self._leaving.wait(settings.SWEEP_EVERY):
                return
