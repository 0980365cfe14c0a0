"""The engine of a worker process: an event loop that executes runs and extends their leases, and a sweeper.

It receives only the ids of runs (`runs/runtime/dispatch.py`). The run is claimed in PostgreSQL, so an id may be lost, late or
received twice.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import UUID

import uvloop
from django.conf import settings
from django.db import Error

from common.bounded import BoundedCounter, BoundedMap
from common.database import is_database_unavailable, is_retryable
from common.db_executor import DatabaseExecutor, PriorityDatabaseExecutor, SharedDatabaseExecutor
from common.egress import close_sessions
from common.errors import AppError
from common.local_models import search_local_servers
from common.processes import exit_on_memory_error, get_lease_owner
from context.retrieval import Vector
from embeddings.services import compute_vector
from events.control import listen_for_stops
from events.publish import RedisMessage, hold_frames
from events.stream import streams
from runs.errors import LeaseLost, RunStartFailed
from runs.kinds import get_kind
from runs.kinds.base import PreparedRun
from runs.models import Run, RunState
from runs.runtime.claimed_run import ClaimedRun
from runs.runtime.dispatch import DispatchedRuns, dispatch_next_run, receive_runs, send_runs
from runs.services.capacity import Capacity
from runs.services.claims import claim_next_run, claim_posted_run, claim_run, claim_siblings, list_waiting
from runs.services.leases import extend_leases, fail_run, fail_unstorable_run, requeue_run
from worker.agent_states import AgentStateReporter
from worker.answers import AnswerCollector
from worker.isolation import IsolatedProcesses
from worker.runner import INTERNAL, Runner
from worker.sweeper import MAX_FAILURES, Sweeper

logger = logging.getLogger(__name__)

MAX_LEASE_SHARE_WITHOUT_RENEWAL = 0.8
"""The part of a lease after which a process that cannot extend it stops its runs, before others reclaim them."""
TOOL_THREADS, TOOL_THREADS_OF_TENANT = 4, 2
"""Threads for the tools that use our database only, and how many of them one workspace or person may use."""
DRAIN_SECONDS = 15.0
"""Seconds within which an ending process stores its runs and puts them in the queue again (RUN6)."""

_tool_db = SharedDatabaseExecutor(
    TOOL_THREADS, "tools", share=TOOL_THREADS_OF_TENANT, on_memory_error=exit_on_memory_error
)


class Engine:
    """Executes the runs of this process. `start` and `stop` are called from its main thread, the other public methods from any
    thread. An `isolated` engine executes one isolated run and looks for no other runs. What belongs to the
    event loop (executors, tasks, `_closing`) is made in `_main`."""

    def __init__(self, *, isolated: bool = False) -> None:
        self.owner = get_lease_owner()
        self._isolated = isolated
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._failures: BoundedCounter[UUID] = BoundedCounter(10_000)
        processes = IsolatedProcesses(DRAIN_SECONDS + 2)
        self._sweeper = None if isolated else Sweeper(self, processes, self._failures)
        self._runners: dict[UUID, Runner] = {}
        # Runs that were asked to stop while they were not executed here: they may be claimed at this moment.
        self._stopped_before_execution: BoundedMap[UUID, bool] = BoundedMap(1_000)
        self._preparing: set[UUID] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._capacity = Capacity()
        self._claims_under_way = 0
        self._is_claiming_runs_without_slot = False
        self._is_draining = False
        self._last_heartbeat = 0.0

    def start(self) -> None:
        """Start the event loop and the sweeper."""
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()
        self._ready.wait(10)
        if self._sweeper is not None:
            self._sweeper.start()

    def stop(self) -> None:
        """Stop claiming runs, store the current steps and put unfinished runs in the queue again. Return when that is done."""
        if self._thread is None:
            return
        self._is_draining = True
        self._loop.call_soon_threadsafe(self._closing.set)
        if self._sweeper is not None:
            self._sweeper.stop()
        self._thread.join(DRAIN_SECONDS + 5)
        self._thread = None

    def submit(self, run_ids: Iterable[UUID]) -> None:
        """Claim and execute these runs, as far as there are free slots and no other worker is faster."""
        if self._thread is not None and not self._is_draining:
            for run_id in run_ids:
                self._loop.call_soon_threadsafe(self._start_run, run_id)

    async def receive_runs(self) -> None:
        """Start the runs that are sent to the workers, until the process ends. It then leaves them to the others."""
        async for dispatched in receive_runs():
            if self._is_draining:
                await asyncio.to_thread(send_runs, dispatched.run_ids)
                return
            self._start_dispatched(dispatched)

    def run_soon(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Run `work` on the event loop, beside the runs. It is cancelled when the process ends."""
        if self._thread is not None and not self._is_draining:
            self._loop.call_soon_threadsafe(lambda: self._create_task(work(), name))

    def report_states(self, runs: Iterable[Run]) -> None:
        """Have it published that the agents of these runs have started or stopped working."""
        self._agent_states.add_runs(runs)

    def wait_until_idle(self) -> None:
        """Wait until all runs that were submitted have ended."""
        asyncio.run_coroutine_threadsafe(self._wait_for_runs(), self._loop).result()

    @property
    def executing_ids(self) -> list[UUID]:
        """The ids of the runs that this process executes, or for which it computes the vector of their question."""
        return [*self._runners, *tuple(self._preparing)]

    @property
    def free_slots(self) -> int:
        """The number of runs that this process may still claim. Claims under way count, also without a slot of `_capacity` yet."""
        total: int = settings.RUNS_PER_WORKER
        return max(0, total - len(self._runners) - self._claims_under_way)

    @property
    def full_ids(self) -> list[UUID]:
        """The ids of the workspaces and people whose share of this process is used up."""
        return self._capacity.list_full_ids()

    @property
    def is_healthy(self) -> bool:
        """Whether the heartbeat of the event loop works."""
        return bool(time.monotonic() - self._last_heartbeat < 4 * settings.RUN_HEARTBEAT)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._main())

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        # Two connections of the pool are left to the heartbeat and the sweeper (`MAX_CONNECTIONS` in the settings).
        # What a run does before its model is asked is called first: claims and reservations. While many wait, the people of these
        # runs see nothing yet; those whose answers wait have read them. At most `RUNS_PER_WORKER` runs have such work, and a run
        # has no more of it until its answer, the results of its tools or its end is stored. So these do not wait for ever.
        threads = max(2, settings.DATABASE_POOL - 2)
        self._db = PriorityDatabaseExecutor(threads, "runs", on_memory_error=exit_on_memory_error)
        self._answers = AnswerCollector(self._db)
        # A separate thread: leases are extended in time also when many steps are stored at once.
        self._lease_db = DatabaseExecutor(1, "heartbeat", on_memory_error=exit_on_memory_error)
        self._agent_states = AgentStateReporter(self._db)
        self._create_task(self._extend_leases(), "heartbeat")
        self._create_task(self._agent_states.run(), "agent states")
        self._create_task(self._listen_for_stops(), "stops")
        if not self._isolated:
            self._create_task(search_local_servers(), "search for local models")
        self._ready.set()
        await self._closing.wait()

        for runner in list(self._runners.values()):
            runner.cancel("shutdown")
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                await self._wait_for_runs()
        await self._agent_states.report_changes()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await streams.aclose()
        await close_sessions()

    async def _wait_for_runs(self) -> None:
        while runs := [task for task in self._tasks if task.get_name().startswith("run ")]:
            await asyncio.wait(runs)

    def _create_task(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Create a task and keep a reference to it, because asyncio has only a weak one."""
        task = self._loop.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._remove_task)

    def _remove_task(self, task: asyncio.Task[Any]) -> None:
        """Drop the reference to a task that has ended. Log its error, and end the process if memory is used up."""
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, MemoryError):
            exit_on_memory_error()
        if error is not None:
            logger.error("The %s broke.", task.get_name(), exc_info=error)

    def _start_dispatched(self, dispatched: DispatchedRuns) -> None:
        if len(dispatched.run_ids) > 1:
            self._start_siblings(dispatched.run_ids)
        else:
            self._start_run(*dispatched.run_ids, chat_id=dispatched.chat_id)

    def _start_run(self, run_id: UUID, *, chat_id: UUID | None = None) -> None:
        if self._is_draining:
            return
        if not self.free_slots:
            self._capacity.has_runs_without_slot = True
            return
        self._claims_under_way += 1
        claim = partial(claim_run, run_id) if chat_id is None else partial(claim_posted_run, run_id, chat_id=chat_id)
        self._create_task(self._execute(claim), f"run {run_id}")

    def _start_siblings(self, run_ids: Sequence[UUID]) -> None:
        """Start runs of one caller: together if there is a slot for each, else one by one."""
        if self._is_draining:
            return
        if self.free_slots < len(run_ids):
            for run_id in run_ids:
                self._start_run(run_id)
            return
        self._claims_under_way += len(run_ids)
        self._create_task(self._execute_siblings(run_ids), f"run {run_ids[0]} and its siblings")

    async def _execute_siblings(self, run_ids: Sequence[UUID]) -> None:
        """Claim runs of one caller together and execute each. Those that were not claimed are claimed one by one."""
        claimed: dict[UUID, ClaimedRun] = {}
        try:
            siblings = await self._db.call_first(claim_siblings, run_ids, self.owner, slots=self._capacity)
            claimed = {sibling.row.id: sibling for sibling in siblings}
        except Error as error:
            logger.warning("The runs of sub-agents could not be claimed together: %s", error)
        finally:
            self._claims_under_way -= len(run_ids)
        for run_id in run_ids:
            if run_id in claimed:
                self._claims_under_way += 1
                self._create_task(self._execute(partial(_return_claimed, claimed[run_id])), f"run {run_id}")
            else:
                self._start_run(run_id)

    async def _execute(self, claim: Callable[..., ClaimedRun | None]) -> None:
        """Claim and execute a run, then the next runs of its concurrency key.
        Then claim runs that got no slot before."""
        try:
            prepared = await self._claim(claim)
        finally:
            self._claims_under_way -= 1
        while prepared is not None:
            run = prepared.run
            self._runners[run.id] = runner = Runner(prepared, self._db, _tool_db, self._answers)
            self.report_states([run])
            if self._stopped_before_execution.get(run.id, False):
                # `call_soon`: the runner can be cancelled only once `execute` waits for the first time.
                self._loop.call_soon(runner.cancel, "stop")
            try:
                await runner.execute()
            finally:
                del self._runners[run.id]
                self._capacity.release_slot(run.id)
                self.report_states([run])
            prepared = None
            if not get_kind(run).is_only_run_of_key:
                if self._isolated or self._is_draining:
                    # Other workers may execute the next run of the key.
                    with suppress(Error):
                        await self._db(dispatch_next_run, run.concurrency_key)
                if not self._is_draining:
                    prepared = await self._claim(partial(claim_next_run, run.concurrency_key))
            if prepared is None:
                await self._claim_runs_without_slot()

    async def _claim(self, claim: Callable[..., ClaimedRun | None]) -> PreparedRun | None:
        """Claim and prepare a run. If older messages are to be found by their meaning, the vector of the question is computed,
        and the run is prepared a second time, with the messages that match."""
        claim = partial(claim, self.owner, isolated=self._isolated, slots=self._capacity)
        try:
            prepared, frames = await self._db.call_first(_claim_and_prepare, claim, self._capacity)
            if frames:
                # Beside the run: the model is asked meanwhile.
                self._create_task(streams.publish(frames), "frames of a claim")
            earlier_context = prepared.claimed.earlier_context if prepared else None
            request = earlier_context.vector_request if earlier_context else None
            if prepared is None or request is None:
                return prepared
            self._preparing.add(prepared.run.id)
            try:
                if numbers := await compute_vector(request, self._db.call_first):
                    prepared.claimed.request_vector = Vector(request.generation, numbers)
                    return await self._db.call_first(_prepare, prepared.claimed, self._capacity)
                return prepared
            finally:
                self._preparing.discard(prepared.run.id)
        except Error as error:
            logger.warning("No run could be claimed: %s", error)
        except RunStartFailed as error:
            logger.exception("Run %s could not be started.", error.run_id)
            # An isolated process tries only once, because it ends after one run.
            if self._failures.add(error.run_id) >= (1 if self._isolated else MAX_FAILURES):
                with suppress(LeaseLost, Error):
                    await self._db(fail_unstorable_run, error.run_id, state=RunState.QUEUED)
        return None

    async def _claim_runs_without_slot(self) -> None:
        """Claim waiting runs, if one got no slot before, in turns between workspaces and people."""
        if self._is_draining or self._is_claiming_runs_without_slot or not self._capacity.has_runs_without_slot:
            return
        self._is_claiming_runs_without_slot, self._capacity.has_runs_without_slot = True, False
        try:
            waiting = await self._db.call_first(list_waiting, settings.RUNS_PER_WORKER, excluded=self.full_ids)
        except Error as error:
            self._capacity.has_runs_without_slot = True
            logger.warning("No waiting runs could be read: %s", error)
            return
        finally:
            self._is_claiming_runs_without_slot = False
        chosen = self._capacity.choose_runs(waiting)
        if len(chosen) < len(waiting):
            self._capacity.has_runs_without_slot = True
        for run_id in chosen:
            self._start_run(run_id)

    async def _extend_leases(self) -> None:
        """Extend the leases at each heartbeat. Cancel the runs that are to stop and those that this process has lost."""
        extended_at = self._loop.time()
        while True:
            self._last_heartbeat = time.monotonic()
            await asyncio.sleep(settings.RUN_HEARTBEAT)
            runners = dict(self._runners)
            asked_at = self._loop.time()
            try:
                async with asyncio.timeout(settings.RUN_HEARTBEAT):
                    kept = await self._lease_db(extend_leases, self.owner, list(runners))
            except (Error, TimeoutError) as error:
                logger.warning("The leases could not be kept: %s", error)
                if self._loop.time() - extended_at > MAX_LEASE_SHARE_WITHOUT_RENEWAL * settings.RUN_LEASE:
                    for runner in runners.values():
                        runner.cancel("lost")
                continue
            extended_at = asked_at  # the leases count from the query, not from its answer
            for run_id, runner in runners.items():
                run = kept.get(run_id)
                if run is None or run.attempt not in runner.attempts:
                    runner.cancel("lost")
                elif run.stop_requested_at is not None:
                    runner.cancel("stop")

    async def _listen_for_stops(self) -> None:
        """Cancel runs as soon as a stop is requested. The heartbeat finds the requests that get lost here (RUN16)."""
        async for run_id in listen_for_stops():
            if runner := self._runners.get(run_id):
                runner.cancel("stop")
            else:
                self._stopped_before_execution.set(run_id, True)


def _return_claimed(claimed: ClaimedRun, *_: object, **__: object) -> ClaimedRun:
    """Return a run that was claimed with its siblings."""
    return claimed


def _claim_and_prepare(
    claim: Callable[[], ClaimedRun | None], capacity: Capacity
) -> tuple[PreparedRun | None, list[RedisMessage]]:
    """Claim and prepare a run. Return also the frames that are to be published."""
    with hold_frames() as frames:
        claimed = claim()
        return None if claimed is None else _prepare(claimed, capacity), frames


def _prepare(claimed: ClaimedRun, capacity: Capacity) -> PreparedRun | None:
    """Prepare a claimed run. A run that cannot be prepared fails; if the database is the reason, it is queued again. Its slot
    is released then."""
    run, prepared = claimed.row, None
    try:
        prepared = get_kind(run).prepare(claimed)
    except AppError as error:
        fail_run(run, error.code.value, error.message)
    except MemoryError:
        raise
    except Exception as error:
        if is_database_unavailable(error):
            requeue_run(run)
            raise
        if is_retryable(error):
            requeue_run(run)
            raise RunStartFailed(run.id) from error
        logger.exception("Run %s could not be prepared.", run.id)
        fail_run(run, "internal", INTERNAL)
    finally:
        if prepared is None:
            capacity.release_slot(run.pk)
    return prepared


_engine: Engine | None = None


def start_engine() -> Engine:
    """Start the engine of this process."""
    global _engine
    _engine = Engine()
    _engine.start()
    _engine.run_soon(_engine.receive_runs, name="receiver of runs")
    return _engine


def get_engine() -> Engine | None:
    """Return the engine of this process, or null if it is not a worker."""
    return _engine
