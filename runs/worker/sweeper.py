"""The sweeper of a worker: it reclaims the runs of dead processes and starts runs without a task. It works without Redis."""

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
from common.bounded import BoundedCounter
from common.database import is_database_unavailable
from common.processes import exit_on_memory_error, get_host, is_dead, is_on_this_host
from runs.errors import LeaseLost
from runs.kinds import kind_of
from runs.models import Run
from runs.services.claims import pick_undispatched_runs, reserve_poison_runs
from runs.services.dispatch import send_run_tasks
from runs.services.leases import (
    LeaseOwnerState,
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
"""How often one process tries to start or to store a run before it ends it."""
CLEAN_UP_INTERVAL_SECONDS = 60 * 60


class Executor(Protocol):
    """What the sweeper needs of an engine."""

    owner: str

    @property
    def free(self) -> int: ...
    @property
    def executing(self) -> list[UUID]: ...
    @property
    def full(self) -> list[UUID]: ...
    def submit(self, run_ids: Iterable[UUID]) -> None: ...
    def note(self, runs: Iterable[Run]) -> None: ...


class Sweeper:
    """A thread of its own, so that it works when Redis and the engine's loop do not."""

    def __init__(
        self, engine: Executor, isolated: IsolatedProcesses, failures: BoundedCounter[UUID] | None = None
    ) -> None:
        self._engine = engine
        self._isolated = isolated
        self._failures = failures or BoundedCounter(10_000)
        self._stopping = threading.Event()
        self._clean_up_at = 0.0
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Sweep now, and then every `SWEEP_EVERY` seconds."""
        self._stopping.clear()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop sweeping. Return when the last sweep and the processes that it has started have ended."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def sweep(self) -> None:
        """Sweep once. Several workers may do so at the same time: each change has a condition, and only one of them meets it."""
        self._requeue_orphaned_runs()
        waiting = [*self._reclaim_runs(), *pick_undispatched_runs(settings.RUN_LEASE / 2, full=self._engine.full)]
        free = self._engine.free
        self._engine.submit(waiting[:free])
        # This process is full: others may not be.
        send_run_tasks(waiting[free:])
        self._isolated.start(reserve_poison_runs(self._isolated.count_free()))
        notify_expired_locks()
        if self._clean_up_at <= time.monotonic():
            self._clean_up_at = time.monotonic() + CLEAN_UP_INTERVAL_SECONDS
            actors.delete_expired()

    def _reclaim_runs(self) -> list[UUID]:
        """Put the runs of dead processes of this host, and all runs with an expired lease, in the queue again. Return their ids.

        Only the death of a process is a crash of its runs: being slow, or without the database, is not.
        """
        dead = [run for run in list_runs_of_host(get_host()) if is_dead(run.lease_owner)]
        stale = {run.id: run for run in [*list_expired_runs(), *dead]}.values()
        reclaimed = [run for run in stale if self._try(run, lambda run: reclaim_run(run, _find_out(run.lease_owner)))]
        ids = [run.id for run in reclaimed]
        if ids:
            logger.warning("Runs were taken over from processes that died or did not keep them: %s", ids)
            self._engine.note(reclaimed)
        return ids

    def _requeue_orphaned_runs(self) -> None:
        """Requeue the runs of this process that it does not execute, and end those that failed too often. This is no crash."""
        withdraw_crashes(self._engine.owner)
        for run in list_orphaned_runs(self._engine.owner, self._engine.executing):
            if kind_of(run).ends_when_orphaned and self._failures.add(run.id) >= MAX_FAILURES:
                self._try(run, _fail)
            else:
                logger.warning("Run %s is started again: it could not be stored.", run.id)
                self._try(run, requeue_run)

    def _try(self, run: Run, work: Callable[[Run], bool | None]) -> bool:
        """Call `work` with a run. Return false when it does, when it failed, or when another worker was faster."""
        try:
            return work(run) is not False
        except LeaseLost:
            return False
        except MemoryError:
            raise
        except Exception as error:
            if is_database_unavailable(error):
                raise
            logger.exception("Run %s cannot be taken care of.", run.id)
            if self._failures.add(run.id) >= MAX_FAILURES:
                with suppress(LeaseLost):
                    _fail(run)
            return False

    def _run(self) -> None:
        while True:
            try:
                self.sweep()
            except DatabaseError as error:
                logger.warning("The sweep failed; there is another in %.0f s: %s", settings.SWEEP_EVERY, error)
            except MemoryError:
                exit_on_memory_error()
            except Exception:
                logger.exception("The sweep broke.")
            finally:
                connections.close_all()
            if self._stopping.wait(settings.SWEEP_EVERY):
                # In this thread, because the kernel ends these processes when the thread that started them ends.
                self._isolated.close()
                return


def _fail(run: Run) -> None:
    fail_unstorable_run(run.id, lease_owner=run.lease_owner, attempt=run.attempt)


def _find_out(owner: str) -> LeaseOwnerState:
    """Return what this host knows of the process."""
    if is_dead(owner):
        return LeaseOwnerState.DEAD
    return LeaseOwnerState.ALIVE if is_on_this_host(owner) else LeaseOwnerState.PRESUMED_DEAD
