"""What nobody else does: runs of the dead are taken over, runs that no hint reached are begun,
and who waits for a draft hears that its hold ran out."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Protocol
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connections

from actors import services as actors
from agents.services.drafts import notify_expired_locks
from common.bounded import BoundedMap
from common.database import is_database_away
from common.processes import die_without_memory, host, is_dead, is_on_this_host
from runs.errors import LeaseLost
from runs.kinds import kind_of
from runs.models import Run
from runs.services.claims import pick_undispatched_runs
from runs.services.dispatch import send_run_tasks
from runs.services.leases import (
    Owner,
    fail_unstorable_run,
    list_expired_runs,
    list_orphaned_runs,
    list_runs_of_host,
    reclaim_run,
    requeue_run,
    withdraw_crashes,
)
from runs.worker.isolation import IsolatedProcesses

logger = logging.getLogger(__name__)

MAX_FAILURES = 5
"""Times that a run could not be started, or not be stored, by one process, after which it ends."""
CLEAN_UP_EVERY = 60 * 60
"""Seconds between two times that a worker deletes what has expired."""


class Failures:
    """Counts for one process. All methods may be called from any thread."""

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._counts: BoundedMap[UUID, int] = BoundedMap(10_000)

    def count(self, run_id: UUID) -> bool:
        """Count one more failure of this run; return whether there were enough."""
        with self._counts.lock:
            count = self._counts.get(run_id, 0) + 1
            self._counts.set(run_id, count)
        return count >= (self._most or MAX_FAILURES)


class Carrier(Protocol):
    """What the sweeper wants of an engine."""

    owner: str

    @property
    def room(self) -> int: ...
    @property
    def executing(self) -> list[UUID]: ...
    @property
    def full(self) -> list[UUID]: ...
    def submit(self, run_ids: Iterable[UUID]) -> None: ...
    def note(self, runs: Iterable[Run]) -> None: ...


class Sweeper:
    """A thread in every worker, so that it works when Redis and the loop do not."""

    def __init__(self, engine: Carrier, quarantine: IsolatedProcesses, failures: Failures | None = None) -> None:
        self._engine = engine
        self._quarantine = quarantine
        self._failures = failures or Failures()
        self._leaving = threading.Event()
        self._clean_up_at = 0.0
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
        waiting = [*self._take_over(), *pick_undispatched_runs(settings.RUN_LEASE / 2, full=self._engine.full)]
        room = self._engine.room
        self._engine.submit(waiting[:room])
        # This process is full: others may not be.
        send_run_tasks(waiting[room:])
        self._quarantine.tend()
        notify_expired_locks()
        if self._clean_up_at <= time.monotonic():
            self._clean_up_at = time.monotonic() + CLEAN_UP_EVERY
            actors.delete_expired()

    def _take_over(self) -> list[UUID]:
        """Free the runs of processes that died here, and of all that have not kept their leases. Only a process that died is a
        crash of its runs: one that is slow, or without its database, is not."""
        stale = {
            run.id: run
            for run in [*list_expired_runs(), *(run for run in list_runs_of_host(host()) if is_dead(run.lease_owner))]
        }
        taken = [
            run for run in stale.values() if self._try(run, lambda run: reclaim_run(run, _find_out(run.lease_owner)))
        ]
        freed = [run.id for run in taken]
        if freed:
            logger.warning("Runs were taken over from processes that died or did not keep them: %s", freed)
            self._engine.note(taken)
        return freed

    def _give_back_what_nobody_carries(self) -> None:
        """Give back the runs of this process that nothing drives, and end those that come here too often. None of it counts as a
        crash: the process lives."""
        withdraw_crashes(self._engine.owner)
        for run in list_orphaned_runs(self._engine.owner, self._engine.executing):
            if kind_of(run).ends_when_orphaned and self._failures.count(run.id):
                self._try(run, _give_up)
            else:
                logger.warning("Run %s is begun again: it could not be stored.", run.id)
                self._try(run, requeue_run)

    def _try(self, run: Run, work: Callable[[Run], bool | None]) -> bool:
        """Do this with a run. Return false when `work` does, when others were faster, or when it could not be done: that holds
        up no other run."""
        try:
            return work(run) is not False
        except LeaseLost:
            return False
        except MemoryError:
            raise
        except Exception as error:
            if is_database_away(error):
                raise
            logger.exception("Run %s cannot be taken care of.", run.id)
            if self._failures.count(run.id):
                with suppress(LeaseLost):
                    _give_up(run)
            return False

    def _run(self) -> None:
        while True:
            try:
                self.sweep()
            except DatabaseError as error:
                logger.warning("The sweep failed; there is another in %.0f s: %s", settings.SWEEP_EVERY, error)
            except MemoryError:
                die_without_memory()
            except Exception:
                logger.exception("The sweep broke.")
            finally:
                connections.close_all()
            if self._leaving.wait(settings.SWEEP_EVERY):
                # From this thread: the kernel ties the lives of its processes to it.
                self._quarantine.close()
                return


def _give_up(run: Run) -> None:
    fail_unstorable_run(run.id, lease_owner=run.lease_owner, attempt=run.attempt)


def _find_out(owner: str) -> Owner:
    """Return what this host knows of the process."""
    if is_dead(owner):
        return Owner.DEAD
    return Owner.ALIVE if is_on_this_host(owner) else Owner.PRESUMED_DEAD
