"""FAIR1 and FAIR2 for what the tenants of a process share: a workspace gets a quarter of it at most, and a person an eighth."""

import ast
import asyncio
import threading
from collections.abc import Callable
from uuid import UUID

import pytest

import webhooks.tasks  # noqa: F401 -- with the engine of the worker, everything that it limits is imported
import worker.tasks  # noqa: F401
from common.ids import new_id
from common.shared_slots import SharedSlots, SharedThreads, limit_working_time
from common.tenants import set_current_tenant
from launcher.home import ROOT

ALL_SHARED = list(SharedSlots.instances)
NOT_SHARED = {
    ("common/db_executor.py", "ThreadPoolExecutor"): "executors of the process; `DatabaseExecutor` below",
    ("common/shared_slots.py", "ThreadPoolExecutor"): "its threads are shared by slots",
    ("runs/runtime/toolbox.py", "Semaphore"): "the calls of one run",
    ("server/bridge.py", "ThreadPoolExecutor"): "requests have a queue of their own: tests/server/test_fair_queue.py",
    ("server/health.py", "ThreadPoolExecutor"): "the health check",
    ("worker/engine.py", "DatabaseExecutor"): "leases",
    (
        "worker/engine.py",
        "PriorityDatabaseExecutor",
    ): "the steps of runs, whose number is shared (runs/services/capacity.py)",
    ("webhooks/services/deliveries.py", "DatabaseExecutor"): "short queries; posts are counted by workspace and person",
    ("realtime/db_executor.py", "DatabaseExecutor"): "short queries of sockets",
}
"""What limits work without shares of tenants, and why no tenant can occupy it."""
LIMITING = {"Semaphore", "BoundedSemaphore", "ThreadPoolExecutor", "ProcessPoolExecutor"}
LIMITING |= {"DatabaseExecutor", "PriorityDatabaseExecutor"}
NO_PRODUCT = {".venv", "tests", "bench", "frontend", "node_modules", "examples"}


async def keep(slots: SharedSlots, workspace: UUID, person: UUID, until: asyncio.Event) -> None:
    with set_current_tenant(workspace, person):
        async with slots.reserve():
            await until.wait()


async def take(slots: SharedSlots) -> None:
    """Reserve a slot for another tenant. Raises `TimeoutError` if there is none at once."""
    with set_current_tenant(new_id(), new_id()):
        async with asyncio.timeout(0), slots.reserve():
            pass


async def fill(slots: SharedSlots, owners: list[tuple[UUID, UUID]], until: asyncio.Event) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(keep(slots, *owner, until)) for owner in owners for _ in range(100)]
    await asyncio.sleep(0)
    return tasks


def test_every_limit_of_the_product_is_shared_or_has_a_reason() -> None:
    found = set()
    for path in sorted(ROOT.rglob("*.py")):
        relative = path.relative_to(ROOT)
        if NO_PRODUCT & set(relative.parts):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name in LIMITING:
                    found.add((str(relative), name))
    assert found == set(NOT_SHARED)
    assert sorted(slots.name for slots in ALL_SHARED) == [
        "calls of workspace tools",
        "dns",
        "files",
        "listings of tools",
        "model tests",
        "openapi",
        "pages",
        "pages that are fetched",
        "renewals",
        "requests to public services",
        "tools",
    ]


@pytest.mark.parametrize("slots", ALL_SHARED, ids=lambda slots: slots.name)
@pytest.mark.parametrize("kind", ["a workspace of many people", "a person in many workspaces"])
async def test_FAIR1_one_tenant_fills_a_limit_and_the_call_of_another_goes_at_once(
    slots: SharedSlots, kind: str
) -> None:
    ids = [new_id() for _ in range(20)]
    until = asyncio.Event()
    owners = [(ids[0], id) if kind.startswith("a workspace") else (id, ids[0]) for id in ids]
    tasks = await fill(slots, owners, until)
    await take(slots)
    until.set()
    await asyncio.gather(*tasks)


async def test_FAIR1_a_workspace_gets_a_quarter_and_a_person_an_eighth() -> None:
    slots = SharedSlots("of this test", lambda: 64)
    SharedSlots.instances.remove(slots)
    until, workspace = asyncio.Event(), new_id()
    of_one = await fill(slots, [(workspace, new_id())], until)
    assert slots.get_queue().free_slots == 64 - 8
    of_others = await fill(slots, [(workspace, new_id()) for _ in range(5)], until)
    assert slots.get_queue().free_slots == 64 - 16
    until.set()
    await asyncio.gather(*of_one, *of_others)
    assert slots.get_queue().is_idle


@pytest.mark.parametrize("name", ["files", "tools"])
async def test_FAIR1_a_person_uses_half_of_the_few_threads_for_files_and_tools(name: str) -> None:
    [slots] = [one for one in ALL_SHARED if one.name == name]
    until = asyncio.Event()
    tasks = await fill(slots, [(new_id(), new_id())], until)
    assert slots.get_queue().free_slots == 2
    until.set()
    await asyncio.gather(*tasks)


@pytest.fixture
def one_slot() -> SharedSlots:
    slots = SharedSlots("of this test", lambda: 1)
    SharedSlots.instances.remove(slots)
    return slots


async def test_those_who_wait_take_turns_first_by_workspace_then_by_person(one_slot: SharedSlots) -> None:
    order: list[str] = []
    workspaces, people = {"A": new_id(), "B": new_id()}, {name: new_id() for name in ("a1", "a2", "b")}

    async def work(workspace: str, person: str) -> None:
        with set_current_tenant(workspaces[workspace], people[person]):
            async with one_slot.reserve():
                order.append(person)
                await asyncio.sleep(0)

    asked = [("A", "a1")] * 4 + [("A", "a2")] * 2 + [("B", "b")] * 3
    await asyncio.gather(*(work(*one) for one in asked))
    assert order == ["a1", "a1", "b", "a2", "b", "a1", "b", "a2", "a1"]


async def test_a_cancelled_wait_ends_at_once_and_leaks_no_slot(one_slot: SharedSlots) -> None:
    until, workspace, person = asyncio.Event(), new_id(), new_id()
    release = await one_slot.acquire()
    waiting = [asyncio.create_task(keep(one_slot, workspace, person, until)) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()  # while it waits
    release()
    waiting[1].cancel()  # when its turn has come
    until.set()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [asyncio.CancelledError, asyncio.CancelledError, type(None)]
    assert one_slot.get_queue().is_idle
    await take(one_slot)


async def test_waiting_does_not_count_in_the_time_limit_of_a_tool(one_slot: SharedSlots) -> None:
    until = asyncio.Event()
    first = asyncio.create_task(keep(one_slot, new_id(), new_id(), until))
    await asyncio.sleep(0)
    loop = asyncio.get_running_loop()

    async def call(work_seconds: float) -> float:
        async with limit_working_time(0.2), one_slot.reserve():
            began = loop.time()
            await asyncio.sleep(work_seconds)
            return loop.time() - began

    calls = [asyncio.create_task(call(seconds)) for seconds in (0, 10)]
    ends_at = loop.time() + 0.5
    while loop.time() < ends_at:
        await asyncio.sleep(0.05)
    assert not any(task.done() for task in calls)
    until.set()
    await first
    quick, slow = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(quick, float)
    assert isinstance(slow, TimeoutError)  # its work took too long
    assert one_slot.get_queue().is_idle


async def test_a_thread_counts_until_its_work_has_ended_also_if_nobody_waits_for_it() -> None:
    threads, may_end = SharedThreads(2, "of this test"), threading.Event()
    SharedSlots.instances.pop()
    workspace = new_id()

    async def run(work: Callable[[], object], workspace: UUID) -> object:
        with set_current_tenant(workspace, new_id()):
            return await threads.run(work)

    stuck = [asyncio.create_task(run(lambda: may_end.wait(20), workspace)) for _ in range(2)]
    while not threads.slots.get_queue().free_slots == 1:
        await asyncio.sleep(0)
    stuck[0].cancel()
    await asyncio.wait(stuck[:1])
    assert await run(lambda: "done", new_id()) == "done"  # the second of the workspace has no thread yet
    assert not stuck[1].done()
    may_end.set()
    assert await stuck[1] is True
    while not threads.slots.get_queue().is_idle:
        await asyncio.sleep(0.001)
