"""What nobody else does: runs of the dead are taken over, runs that no hint reached are begun (guarantees §2.3),
and who waits for a draft hears that its hold ran out."""

import logging
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connections

from agents.errors import LeaseLost
from agents.runtime.process import host, is_dead
from agents.runtime.quarantine import Quarantine
from agents.services.claims import forgotten
from agents.services.drafts import tell_who_waits
from agents.services.hints import send_hints
from agents.services.leases import adrift, expired, give_back, owned_here, take_over

logger = logging.getLogger(__name__)


class Carrier(Protocol):
    """What the sweeper wants of an engine."""

    owner: str

    @property
    def room(self) -> int: ...
    @property
    def carried(self) -> list[UUID]: ...
    def submit(self, run_ids: Iterable[UUID]) -> None: ...


class Sweeper:
    """A thread in every worker, so that it works when Redis and the loop do not."""

    def __init__(self, engine: Carrier, quarantine: Quarantine) -> None:
        self._engine = engine
        self._quarantine = quarantine
        self._leaving = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Sweep now, and then every `SWEEP_EVERY` seconds."""
        self._leaving.clear()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Sweep no more; returns when the last sweep has ended, and the processes that it has started."""
        self._leaving.set()
        if self._thread is not None:
            self._thread.join()

    def sweep(self) -> None:
        """One round. Several workers may sweep at the same time: compare-and-set decides, and nothing happens twice."""
        self._give_back_what_nobody_carries()
        waiting = [*self._take_over(), *forgotten(settings.RUN_LEASE / 2)]
        room = self._engine.room
        self._engine.submit(waiting[:room])
        # This process is full: others may not be.
        send_hints(waiting[room:])
        self._quarantine.tend()
        tell_who_waits()

    def _take_over(self) -> list[UUID]:
        orphans = {
            run.id: run for run in [*expired(), *(run for run in owned_here(host()) if is_dead(run.lease_owner))]
        }
        freed = [run.id for run in orphans.values() if take_over(run)]
        if freed:
            logger.warning("Runs were taken over from processes that died: %s", freed)
        return freed

    def _give_back_what_nobody_carries(self) -> None:
        """That PostgreSQL was away is no fault of a run's. Anything else counts as a death: it may come again each time."""
        for run, was_away in adrift(self._engine.owner, self._engine.carried):
            with suppress(LeaseLost):
                give_back(run) if was_away else take_over(run)
                logger.warning("Run %s is begun again: it could not be stored.", run.id)

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
                # From this thread: the kernel ties the lives of its processes to it.
                self._quarantine.close()
                return
