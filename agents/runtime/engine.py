"""The engine of a worker process: one loop that carries its runs, keeps their leases, and takes over from the dead.

Celery's tasks only point at runs (`submit`). PostgreSQL decides who has one, so that every hint may be lost, late or
doubled; the sweeper works when Redis does not (architecture §5, §6).
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

from agents.models import Run
from agents.runtime.preparing import Prepared, prepared
from agents.runtime.process import die_without_memory, owner_name
from agents.runtime.quarantine import Quarantine
from agents.runtime.runner import Runner, Why
from agents.runtime.sweeper import Sweeper
from agents.services.claims import claim, claim_next, waiting_ids
from agents.services.hints import hint_lane
from agents.services.leases import extend, fail, give_back
from common.egress import close_sessions
from common.errors import AppError
from common.sections import Sections
from events.control import stops
from events.stream import streams

logger = logging.getLogger(__name__)

PATIENCE = 0.8
"""The part of a lease after which, without an answer from the database, we take it for lost and stop by ourselves."""
TOOL_THREADS = 4
DRAIN = 15.0
"""Seconds that the runs of an ending process get to be stored and given back (B6)."""


class Engine:
    """All runs of this process. `start` and `stop` are called from its main thread, `submit` from any.

    One that is set `apart` carries a suspect that it is given, and looks for no other runs (B9).
    """

    def __init__(self, *, apart: bool = False) -> None:
        self.owner = owner_name()
        self._apart = apart
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._sweeper = None if apart else Sweeper(self, Quarantine(DRAIN + 2))
        self._forget()

    def _forget(self) -> None:
        self._runners: dict[UUID, Runner] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._claiming = 0
        self._has_refused = False
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

    def wait_until_idle(self) -> None:
        """Until all that was submitted has come to its end."""
        asyncio.run_coroutine_threadsafe(self._idle(), self._loop).result()

    @property
    def carried(self) -> list[UUID]:
        """The runs that are driven here at this moment."""
        return list(self._runners)

    @property
    def room(self) -> int:
        """How many more runs this process would carry."""
        most: int = settings.RUNS_PER_WORKER
        return max(0, most - len(self._runners) - self._claiming)

    @property
    def is_well(self) -> bool:
        """Whether the loop still turns; said of the process when it is asked if it lives."""
        return bool(time.monotonic() - self._pulse < 4 * settings.RUN_HEARTBEAT)

    # --- on the loop --------------------------------------------------------------------------------------------

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._live())

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        self._db = Sections(max(2, settings.DATABASE_POOL - 2), "runs")
        self._tool_db = Sections(TOOL_THREADS, "tools")
        # Apart, so that a rush of steps to be stored cannot cost us our leases.
        self._beat_db = Sections(1, "heartbeat")
        self._keep(self._beat(), "heartbeat")
        self._keep(self._listen(), "stops")
        self._ready.set()
        await self._closing.wait()
        await self._drain()

    async def _drain(self) -> None:
        for runner in list(self._runners.values()):
            runner.cancel("shutdown")
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN):
                await self._idle()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await streams.aclose()
        await close_sessions()

    async def _idle(self) -> None:
        while runs := [task for task in self._tasks if task.get_name().startswith("run ")]:
            await asyncio.wait(runs)

    def _keep(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Begin a task and hold it: one that nobody holds may be collected in the middle (guarantees §2.9)."""
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
            self._has_refused = True
            return
        self._claiming += 1
        self._keep(self._carry(run_id), f"run {run_id}")

    async def _carry(self, run_id: UUID) -> None:
        """Claim, drive; then the next of the lane, as long as there is one. What was refused before gets the room."""
        try:
            made = await self._take(partial(claim, run_id, self.owner, apart=self._apart))
        finally:
            self._claiming -= 1
        while made is not None:
            lane = made.run.lane
            runner = Runner(made, self._db, self._tool_db)
            self._runners[made.run.id] = runner
            try:
                await runner.drive()
            finally:
                del self._runners[made.run.id]
            made = None if self._is_draining else await self._take_next(lane)
        if self._has_refused and not self._is_draining:
            self._has_refused = False
            for waiting in await self._db(waiting_ids, self.room):
                self._spawn(waiting)

    async def _take_next(self, lane: str) -> Prepared | None:
        if self._apart:
            # What waits behind is for any worker.
            await self._db(hint_lane, lane)
        return await self._take(partial(claim_next, lane, self.owner, apart=self._apart))

    async def _take(self, begin: Callable[[], Run | None]) -> Prepared | None:
        """A run that is ours now, with all it needs; one that cannot be prepared fails visibly."""
        try:
            return await self._db(_taken, begin)
        except DatabaseError as error:
            logger.warning("No run could be claimed: %s", error)
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
                    held = await self._beat_db(extend, self.owner, list(runners))
            except (DatabaseError, TimeoutError) as error:
                logger.warning("The leases could not be kept: %s", error)
                if self._loop.time() - last > PATIENCE * settings.RUN_LEASE:
                    self._cancel(runners.values(), "lost")
                continue
            last = asked
            for run_id, runner in runners.items():
                mine = held.get(run_id)
                if mine is None or mine.attempt != runner.run.attempt:
                    runner.cancel("lost")
                elif mine.stop:
                    runner.cancel("stop")

    async def _listen(self) -> None:
        """Stops as they are asked for; the heartbeat hears of those that are lost here (B16)."""
        async for root_id in stops():
            self._cancel((runner for runner in self._runners.values() if runner.run.tree_id == root_id), "stop")

    def _cancel(self, runners: Iterable[Runner], why: Why) -> None:
        for runner in list(runners):
            runner.cancel(why)


def _taken(begin: Callable[[], Run | None]) -> Prepared | None:
    run = begin()
    if run is None:
        return None
    try:
        return prepared(run)
    except DatabaseError:
        give_back(run)
        raise
    except AppError as error:
        fail(run, error.code.value, error.message)
    except Exception:
        logger.exception("Run %s could not be prepared.", run.id)
        fail(run, "internal", "Something went wrong on our side.")
    return None


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


def is_well() -> bool:
    """Whether this process carries runs."""
    return _engine is not None and _engine.is_well


def submit(run_id: UUID) -> None:
    """Point this process's engine at a run."""
    if _engine is not None:
        _engine.submit([run_id])
