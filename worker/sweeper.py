"""The sweeper of a worker reclaims the runs of dead processes and starts runs that no worker received. It works without Redis."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.db import Error, connections

from actors import services as actors
from agents.services.drafts import notify_expired_locks
from approvals import services as approvals
from boards import services as boards
from common.bounded import BoundedCounter
from common.database import is_database_unavailable
from common.errors import Unavailable
from common.processes import exit_on_memory_error, get_host, is_dead, is_on_this_host
from common.tasks import send_task_now
from files import services as files
from memory import services as memory
from runs.errors import LeaseLost
from runs.kinds import get_kind
from runs.models import Run
from runs.runtime.dispatch import send_runs
from runs.services.claims import pick_runs_to_dispatch_again, reserve_isolated_runs
from runs.services.leases import (
    LeaseOwnerState,
    fail_unstorable_run,
    list_expired_runs,
    list_orphaned_runs,
    list_runs_of_host,
    reclaim_run,
    release_dead_reservations,
    requeue_run,
    subtract_presumed_crashes,
)
from runs.services.waiting import queue_callers_of_ended_sub_agents
from schedules import services as schedules
from usage import services as usage
from worker.isolation import IsolatedProcesses

if TYPE_CHECKING:
    from worker.engine import Engine

logger = logging.getLogger(__name__)

MAX_FAILURES = 5
"""How often a process tries to start or to store a run before it fails the run."""
QUARTER_MINUTE, MINUTE, HOUR, DAY = 15, 60, 60 * 60, 24 * 60 * 60


@dataclass
class PeriodicJob:
    """Work of the sweeper that is done every `seconds`, for the first time at `next_at` (`time.monotonic`)."""

    seconds: int
    work: Callable[[], object]
    next_at: float


class Sweeper:
    """Sweeps in a separate thread, so that it works when Redis or the event loop of the engine does not."""

    def __init__(
        self, engine: "Engine", isolated: IsolatedProcesses, failures: BoundedCounter[UUID] | None = None
    ) -> None:
        self._engine = engine
        self._isolated = isolated
        self._failures = failures or BoundedCounter(10_000)
        self._stopping = threading.Event()
        started_at = time.monotonic()
        self._periodic_jobs = [
            # At the first sweep. The others begin a minute later or more.
            *(PeriodicJob(HOUR, delete, next_at=0.0) for delete in _DELETIONS),
            PeriodicJob(MINUTE, partial(send_task_now, "publishing.tasks.resume_updates", []), started_at + MINUTE),
            PeriodicJob(HOUR, partial(send_task_now, "publishing.tasks.count_use", []), started_at + MINUTE),
            PeriodicJob(MINUTE, partial(send_task_now, "workspaces.tasks.resume_purges", []), started_at + MINUTE),
            PeriodicJob(QUARTER_MINUTE, partial(send_task_now, "webhooks.tasks.deliver_due", []), started_at + MINUTE),
            PeriodicJob(
                HOUR, partial(send_task_now, "webhooks.tasks.delete_old_wakes_and_deliveries", []), started_at + MINUTE
            ),
            PeriodicJob(MINUTE, partial(send_task_now, "worker.tasks.embed_messages", []), started_at + MINUTE),
            PeriodicJob(MINUTE, files.enqueue_waiting_files, started_at + MINUTE),
            PeriodicJob(MINUTE, actors.end_expired_viewings, started_at + MINUTE),
            # A task, because a storage at another host may answer slowly.
            PeriodicJob(DAY, partial(send_task_now, "files.tasks.delete_orphaned_content", []), started_at + HOUR),
        ]
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Sweep now, and then every `SWEEP_EVERY` seconds."""
        self._stopping.clear()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop sweeping. Return when the last sweep and the isolated processes have ended."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def sweep(self) -> None:
        """Sweep once. Several workers may do so at the same time: each of their updates is conditional, and only one succeeds. An
        error in one part is logged, and the others are done all the same. Raises only if the database is unavailable or memory is
        used up."""
        parts: list[Callable[[], object]] = [
            self._sweep_runs,
            notify_expired_locks,
            release_dead_reservations,
            approvals.expire_approvals,
            queue_callers_of_ended_sub_agents,
            boards.advance_boards,
            schedules.fire_due_schedules,
        ]
        for job in self._periodic_jobs:
            if job.next_at <= time.monotonic():
                job.next_at = time.monotonic() + job.seconds
                parts.append(job.work)
        for part in parts:
            try:
                part()
            except Unavailable:
                pass  # Redis does not answer: it is done the next time
            except MemoryError:
                raise
            except Exception as error:
                if is_database_unavailable(error):
                    raise
                logger.exception("A part of the sweep failed: %s", part)

    def _sweep_runs(self) -> None:
        """Start the runs of dead processes, those that no worker has received, and those that are to be isolated."""
        self._requeue_orphaned_runs()
        waiting = [
            *self._reclaim_runs(),
            *pick_runs_to_dispatch_again(settings.RUN_LEASE / 2, excluded=self._engine.full_ids),
        ]
        free = self._engine.free_slots
        self._engine.submit(waiting[:free])
        # Other processes may have free slots.
        send_runs(waiting[free:])
        self._isolated.start(reserve_isolated_runs(self._isolated.count_free_processes()))

    def _reclaim_runs(self) -> list[UUID]:
        """Put the runs of dead processes of this host and all runs with an expired lease back into the queue, or end them
        (`reclaim_run`). Return their ids. A crash is counted if the process died or, on another host, is presumed dead; not if a
        process of this host was slow."""
        dead = [run for run in list_runs_of_host(get_host()) if is_dead(run.lease_owner)]
        stale = {run.id: run for run in [*list_expired_runs(), *dead]}.values()
        reclaimed = [
            run for run in stale if self._process(run, lambda run: reclaim_run(run, _get_owner_state(run.lease_owner)))
        ]
        ids = [run.id for run in reclaimed]
        if ids:
            logger.warning("Runs were reclaimed from processes that died or did not extend their leases: %s", ids)
            self._engine.report_states(reclaimed)
        return ids

    def _requeue_orphaned_runs(self) -> None:
        """Put the runs that this process owns but does not execute in the queue again; fail those that failed too often."""
        subtract_presumed_crashes(self._engine.owner)
        for run in list_orphaned_runs(self._engine.owner, self._engine.executing_ids):
            if get_kind(run).ends_when_orphaned and self._failures.add(run.id) >= MAX_FAILURES:
                self._process(run, _fail_run)
            else:
                logger.warning("Run %s is queued again: it could not be stored.", run.id)
                self._process(run, requeue_run)

    def _process(self, run: Run, work: Callable[[Run], bool | None]) -> bool:
        """Call `work` with a run. Return false when `work` returns false or fails, or when another worker was faster."""
        try:
            return work(run) is not False
        except LeaseLost:
            return False
        except MemoryError:
            raise
        except Exception as error:
            if is_database_unavailable(error):
                raise
            logger.exception("The sweep of run %s failed.", run.id)
            if self._failures.add(run.id) >= MAX_FAILURES:
                with suppress(LeaseLost):
                    _fail_run(run)
            return False

    def _run(self) -> None:
        while True:
            try:
                self.sweep()
            except Error as error:
                logger.warning("The sweep failed; there is another in %.0f s: %s", settings.SWEEP_EVERY, error)
            except MemoryError:
                exit_on_memory_error()
            except Exception:
                logger.exception("The sweep broke.")
            finally:
                connections.close_all()
            if self._stopping.wait(settings.SWEEP_EVERY):
                # The kernel kills the isolated processes when the thread that started them ends (`die_with_parent`). They are
                # ended before, so that they queue their runs again.
                self._isolated.close()
                return


_DELETIONS: list[Callable[[], object]] = [
    actors.delete_expired_rows,
    files.delete_unposted_files,
    usage.delete_old_balances,
    usage.remove_old_sent_requests,
    memory.delete_forgotten_notes,
    memory.delete_cleared,
    schedules.delete_old_times,
]
"""Deletions of old rows, once an hour."""


def _fail_run(run: Run) -> None:
    fail_unstorable_run(run.id, lease_owner=run.lease_owner, attempt=run.attempt)


def _get_owner_state(owner: str) -> LeaseOwnerState:
    """Find out whether a process lives, as far as this host can."""
    if is_dead(owner):
        return LeaseOwnerState.DEAD
    return LeaseOwnerState.ALIVE if is_on_this_host(owner) else LeaseOwnerState.PRESUMED_DEAD
