"""The engine of a worker process: one loop that carries its runs, keeps their leases, and takes over from the dead.

Celery's tasks only point at runs (`submit`). PostgreSQL decides who has one, so that every hint may be lost, late or
doubled; the sweeper works when Redis does not.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import UUID

import uvloop
from django.conf import settings
from django.db import DatabaseError

from common.database import is_database_away, may_succeed_again
from common.db_executor import DatabaseExecutor
from common.egress import close_sessions
from common.errors import AppError
from common.local_models import search_local_servers
from common.processes import die_without_memory, owner_name
from events.control import stops
from events.stream import streams
from runs.errors import LeaseLost, RunNotStartable
from runs.kinds import kind_of
from runs.kinds.base import PreparedRun
from runs.models import Run, RunState
from runs.services.claims import claim_next_run, claim_run, list_waiting
from runs.services.dispatch import dispatch_next_run
from runs.services.leases import extend_leases, fail_run, fail_unstorable_run, requeue_run
from runs.worker.agent_states import AgentStateReporter
from runs.worker.capacity import Capacity
from runs.worker.isolation import IsolatedProcesses
from runs.worker.runner import CancelReason, Runner
from runs.worker.sweeper import Failures, Sweeper

logger = logging.getLogger(__name__)

PATIENCE = 0.8
"""The part of a lease after which, without an answer from the database, we take it for lost and stop by ourselves."""
TOOL_THREADS = 4
DRAIN = 15.0
"""Seconds that the runs of an ending process get to be stored and given back (RUN6)."""


class Engine:
    """All runs of this process. `start` and `stop` are called from its main thread, `submit` from any.

    One that is set `apart` carries a suspect that it is given, and looks for no other runs (RUN9).
    """

    def __init__(self, *, isolated: bool = False) -> None:
        self.owner = owner_name()
        self._isolated = isolated
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        # A process that is set isolated executes one run and ends: one failure is enough.
        self._failures = Failures(1 if isolated else None)
        self._sweeper = None if isolated else Sweeper(self, IsolatedProcesses(DRAIN + 2), self._failures)
        self._forget()

    def _forget(self) -> None:
        self._runners: dict[UUID, Runner] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._capacity = Capacity()
        self._claiming = 0
        self._is_refilling = False
        self._is_draining = False
        self._pulse = 0.0

    # --- from other threads -------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to carry runs; those of processes that died on this host are taken over at once."""
        self._forget()
        self._ready.clear()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()
        self._ready.wait(10)
        if self._sweeper is not None:
            self._sweeper.start()

    def stop(self) -> None:
        """Take nothing more, store what is under way, give back what is not done. Returns when that is so."""
        if self._thread is None:
            return
        self._is_draining = True
        self._loop.call_soon_threadsafe(self._closing.set)
        if self._sweeper is not None:
            self._sweeper.stop()
        self._thread.join(DRAIN + 5)
        self._thread = None

    def submit(self, run_ids: Iterable[UUID]) -> None:
        """Claim these runs, as far as there is room and nobody was faster."""
        if self._thread is not None and not self._is_draining:
            for run_id in run_ids:
                self._loop.call_soon_threadsafe(self._spawn, run_id)

    def run_soon(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Run this on the loop beside the runs; it is cancelled when the process ends."""
        if self._thread is not None and not self._is_draining:
            self._loop.call_soon_threadsafe(lambda: self._keep(work(), name))

    def note(self, runs: Iterable[Run]) -> None:
        """Have members of the workspaces told that these runs have started or ended."""
        self._agent_states.note(runs)

    def wait_until_idle(self) -> None:
        """Until all that was submitted has come to its end."""
        asyncio.run_coroutine_threadsafe(self._idle(), self._loop).result()

    @property
    def executing(self) -> list[UUID]:
        """The runs that are driven here at this moment."""
        return list(self._runners)

    @property
    def room(self) -> int:
        """How many more runs this process would carry."""
        most: int = settings.RUNS_PER_WORKER
        return max(0, most - len(self._runners) - self._claiming)

    @property
    def full(self) -> list[UUID]:
        """The ids of the workspaces and people that get no further run in this process now."""
        return self._capacity.list_full()

    @property
    def is_healthy(self) -> bool:
        """Whether the loop still turns; said of the process when it is asked if it lives."""
        return bool(time.monotonic() - self._pulse < 4 * settings.RUN_HEARTBEAT)

    # --- on the loop --------------------------------------------------------------------------------------------

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._live())

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        self._db = DatabaseExecutor(max(2, settings.DATABASE_POOL - 2), "runs", on_memory_error=die_without_memory)
        self._tool_db = DatabaseExecutor(TOOL_THREADS, "tools", on_memory_error=die_without_memory)
        # Apart, so that a rush of steps to be stored cannot cost us our leases.
        self._beat_db = DatabaseExecutor(1, "heartbeat", on_memory_error=die_without_memory)
        self._agent_states = AgentStateReporter(self._db)
        self._keep(self._beat(), "heartbeat")
        self._keep(self._agent_states.run(), "agent states")
        self._keep(self._listen(), "stops")
        if not self._isolated:
            self._keep(search_local_servers(), "search for local models")
        self._ready.set()
        await self._closing.wait()
        await self._drain()

    async def _drain(self) -> None:
        for runner in list(self._runners.values()):
            runner.cancel("shutdown")
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN):
                await self._idle()
        await self._agent_states.report()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await streams.aclose()
        await close_sessions()

    async def _idle(self) -> None:
        while runs := [task for task in self._tasks if task.get_name().startswith("run ")]:
            await asyncio.wait(runs)

    def _keep(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Begin a task and hold it: one that nobody holds may be collected in the middle."""
        task = self._loop.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, MemoryError):
            die_without_memory()
        if error is not None:
            logger.error("The %s broke.", task.get_name(), exc_info=error)

    # --- runs ---------------------------------------------------------------------------------------------------

    def _spawn(self, run_id: UUID) -> None:
        if self._is_draining:
            return
        if not self.room:
            self._capacity.refuse()
            return
        self._claiming += 1
        self._keep(self._execute(run_id), f"run {run_id}")

    async def _execute(self, run_id: UUID) -> None:
        """Claim, drive; then the next of the concurrency_key, as long as there is one. What was refused before gets the room."""
        try:
            made = await self._take(
                partial(claim_run, run_id, self.owner, isolated=self._isolated, slots=self._capacity)
            )
        finally:
            self._claiming -= 1
        while made is not None:
            concurrency_key = made.run.concurrency_key
            runner = Runner(made, self._db, self._tool_db)
            self._runners[made.run.id] = runner
            self.note([made.run])
            try:
                await runner.drive()
            finally:
                del self._runners[made.run.id]
                self._capacity.release(made.run.id)
                self.note([made.run])
            made = None if self._is_draining else await self._take_next(concurrency_key)
            if made is None:
                await self._refill()

    async def _refill(self) -> None:
        """Claim runs that were refused, as far as there are free slots, in turns between workspaces and people."""
        if self._is_draining or self._is_refilling or not self._capacity.take_refused():
            return
        self._is_refilling = True
        try:
            waiting = await self._db(list_waiting, settings.RUNS_PER_WORKER, full=self.full)
        except DatabaseError as error:
            self._capacity.refuse()
            logger.warning("No waiting runs could be read: %s", error)
            return
        finally:
            self._is_refilling = False
        chosen = self._capacity.choose(waiting)
        if len(chosen) < len(waiting):
            self._capacity.refuse()
        for run_id in chosen:
            self._spawn(run_id)

    async def _take_next(self, concurrency_key: str) -> PreparedRun | None:
        if self._isolated:
            # What waits behind is for any worker.
            await self._db(dispatch_next_run, concurrency_key)
        return await self._take(
            partial(claim_next_run, concurrency_key, self.owner, isolated=self._isolated, slots=self._capacity)
        )

    async def _take(self, begin: Callable[[], Run | None]) -> PreparedRun | None:
        """A run that is ours now, with all it needs; one that cannot be prepared fails visibly."""
        try:
            return await self._db(_taken, begin, self._capacity)
        except DatabaseError as error:
            logger.warning("No run could be claimed: %s", error)
        except RunNotStartable as error:
            logger.exception("Run %s could not be started.", error.run_id)
            if self._failures.count(error.run_id):
                await self._db(_give_up, error.run_id)
        return None

    # --- leases and stops ---------------------------------------------------------------------------------------

    async def _beat(self) -> None:
        """Keep the leases; hear which runs are to stop when no hint came through; notice what is no longer ours."""
        last = self._loop.time()
        while True:
            self._pulse = time.monotonic()
            await asyncio.sleep(settings.RUN_HEARTBEAT)
            runners = dict(self._runners)
            asked = self._loop.time()
            try:
                async with asyncio.timeout(settings.RUN_HEARTBEAT):
                    held = await self._beat_db(extend_leases, self.owner, list(runners))
            except (DatabaseError, TimeoutError) as error:
                logger.warning("The leases could not be kept: %s", error)
                if self._loop.time() - last > PATIENCE * settings.RUN_LEASE:
                    self._cancel(runners.values(), "lost")
                continue
            last = asked
            for run_id, runner in runners.items():
                mine = held.get(run_id)
                if mine is None or mine.attempt not in runner.attempts:
                    runner.cancel("lost")
                elif mine.stop:
                    runner.cancel("stop")

    async def _listen(self) -> None:
        """Stops as they are asked for; the heartbeat hears of those that are lost here (RUN16)."""
        async for root_id in stops():
            self._cancel((runner for runner in self._runners.values() if runner.run.tree_id == root_id), "stop")

    def _cancel(self, runners: Iterable[Runner], why: CancelReason) -> None:
        for runner in list(runners):
            runner.cancel(why)


def _taken(begin: Callable[[], Run | None], capacity: Capacity) -> PreparedRun | None:
    run = begin()
    if run is None:
        return None
    made = None
    try:
        made = kind_of(run).prepare(run)
    except DatabaseError as error:
        if is_database_away(error):
            requeue_run(run)
            raise
        if may_succeed_again(error):
            requeue_run(run)
            raise RunNotStartable(run.id) from error
        logger.exception("Run %s could not be prepared.", run.id)
        fail_run(run, "internal", "Something went wrong on our side.")
    except MemoryError:
        raise
    except AppError as error:
        fail_run(run, error.code.value, error.message)
    except Exception:
        logger.exception("Run %s could not be prepared.", run.id)
        fail_run(run, "internal", "Something went wrong on our side.")
    finally:
        if made is None:
            capacity.release(run.pk)
    return made


def _give_up(run_id: UUID) -> None:
    with suppress(LeaseLost, DatabaseError):
        fail_unstorable_run(run_id, state=RunState.QUEUED)


_engine: Engine | None = None


def start() -> None:
    """Start this process's engine."""
    global _engine
    _engine = Engine()
    _engine.start()


def stop() -> None:
    """End it in order."""
    if _engine is not None:
        _engine.stop()


def is_healthy() -> bool:
    """Whether this process carries runs."""
    return _engine is not None and _engine.is_healthy


def run_soon(work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
    """Run this on the loop of this process's engine."""
    if _engine is not None:
        _engine.run_soon(work, name)


def submit(run_id: UUID) -> None:
    """Point this process's engine at a run."""
    if _engine is not None:
        _engine.submit([run_id])
