"""The order in which a `PriorityDatabaseExecutor` does its work, and what becomes of cancelled and failed work."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from common.db_executor import PriorityDatabaseExecutor


@asynccontextmanager
async def occupy_thread(executor: PriorityDatabaseExecutor) -> AsyncIterator[None]:
    """Keep the only thread at work in this block."""
    has_begun, may_end = threading.Event(), threading.Event()

    def work() -> bool:
        has_begun.set()
        return may_end.wait(60)

    task = asyncio.ensure_future(executor(work))
    await asyncio.to_thread(has_begun.wait, 10)
    yield
    may_end.set()
    assert await task


async def test_work_that_is_called_first_starts_before_all_other_work_that_waits() -> None:
    executor, order = PriorityDatabaseExecutor(1, "test"), list[str]()
    async with occupy_thread(executor):
        calls: list[asyncio.Task[None]] = []
        for name in ("answer 1", "claim 1", "answer 2", "claim 2"):
            call = executor.call_first if name.startswith("claim") else executor
            calls.append(asyncio.ensure_future(call(order.append, name)))
            await asyncio.sleep(0)  # until it waits for a thread
    await asyncio.gather(*calls)
    assert order == ["claim 1", "claim 2", "answer 1", "answer 2"]


@pytest.mark.parametrize("is_first", [True, False])
async def test_cancelled_work_that_waits_is_not_done_and_its_thread_does_the_next(*, is_first: bool) -> None:
    executor, order = PriorityDatabaseExecutor(1, "test"), list[str]()
    call = executor.call_first if is_first else executor
    async with occupy_thread(executor):
        cancelled = asyncio.ensure_future(call(order.append, "cancelled"))
        kept = asyncio.ensure_future(executor(order.append, "kept"))
        await asyncio.sleep(0)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
    await kept
    assert order == ["kept"]


@pytest.mark.parametrize("error", [ValueError("refused"), MemoryError()])
async def test_an_error_of_work_is_raised_and_the_thread_does_the_next(error: Exception) -> None:
    reports: list[bool] = []
    executor = PriorityDatabaseExecutor(1, "test", on_memory_error=lambda: reports.append(True))

    def fail() -> None:
        raise error

    for call in (executor.call_first, executor):
        with pytest.raises(type(error)):
            await call(fail)
    assert await executor.call_first(lambda: 1) == 1
    assert await executor(lambda: 2) == 2
    assert reports == [True, True] * isinstance(error, MemoryError)


async def test_work_of_both_priorities_uses_all_threads() -> None:
    executor, together = PriorityDatabaseExecutor(4, "test"), threading.Barrier(4)
    calls = [call(together.wait, 10) for call in (executor, executor.call_first) for _ in range(2)]
    assert sorted(await asyncio.gather(*calls)) == [0, 1, 2, 3]
