"""FAIR1 for requests: one caller never occupies all threads of the web process."""

import asyncio
import json
import threading
from collections.abc import Iterable
from typing import Any

import pytest

from common.errors import LimitReached
from server import fair_queue
from server.bridge import Bridge
from server.fair_queue import CpuBudget, HTTPCaller, RequestQueue
from tests.server.test_bridge import Exchange, echo

ALICE, MALLORY = HTTPCaller("alice"), HTTPCaller("mallory")
NO_BUDGET = CpuBudget(0, 0)


def build_queue(
    threads: int, *, budget: CpuBudget = NO_BUDGET, workspace_budget: CpuBudget = NO_BUDGET, max_waiting: int = 1_000
) -> RequestQueue:
    return RequestQueue(threads, budget=budget, workspace_budget=workspace_budget, max_waiting_of_group=max_waiting)


def identify_by_header(scope: Any) -> HTTPCaller:
    return HTTPCaller(dict(scope["headers"])[b"x-caller"])


def build_request(caller: bytes) -> Exchange:
    return Exchange(headers=[(b"x-caller", caller)])


Order = list[str]


async def execute(queue: RequestQueue, caller: HTTPCaller, order: Order, seconds: float = 0.0) -> None:
    async with queue.wait_for_turn(caller):
        order.append(str(caller.key))
        queue.charge(caller, seconds)
        await asyncio.sleep(0)


async def test_one_caller_gets_a_quarter_of_the_threads_while_another_is_served() -> None:
    gate, inside = threading.Event(), threading.Semaphore(0)
    running: list[str] = []

    def slow(environ: Any, start: Any) -> Iterable[bytes]:
        if environ["HTTP_X_CALLER"] == "mallory":
            running.append("mallory")
            inside.release()
            gate.wait(60)
        return echo(environ, start)

    bridge = Bridge(slow, threads=8, max_active=1000, identify=identify_by_header)
    asked = [build_request(b"mallory") for _ in range(50)]
    tasks = [asyncio.create_task(bridge(one.scope, one.receive, one.send)) for one in asked]
    for _ in range(2):
        await asyncio.to_thread(inside.acquire)
    alice = build_request(b"alice")
    await bridge(alice.scope, alice.receive, alice.send)
    assert alice.status == 200
    assert running == ["mallory"] * 2
    gate.set()
    await asyncio.gather(*tasks)
    assert [one.status for one in asked] == [200] * 50


async def test_a_shared_ip_address_gets_half_of_the_threads() -> None:
    queue, caller = build_queue(8), HTTPCaller("10.1.2.3", is_unidentified=True)
    async with (
        queue.wait_for_turn(caller),
        queue.wait_for_turn(caller),
        queue.wait_for_turn(caller),
        queue.wait_for_turn(caller),
    ):
        fifth = asyncio.create_task(execute(queue, caller, []))
        await asyncio.sleep(0)
        assert not fifth.done()
    await fifth


async def test_callers_take_turns() -> None:
    order: Order = []
    queue = build_queue(1)
    callers = [MALLORY] * 5 + [ALICE] * 2
    await asyncio.gather(*(execute(queue, caller, order) for caller in callers))
    assert order == ["mallory", "mallory", "alice", "mallory", "alice", "mallory", "mallory"]


async def test_a_caller_over_the_cpu_budget_waits_and_is_served_later() -> None:
    order: Order = []
    queue = build_queue(8, budget=CpuBudget(1.0, 0.5))
    await execute(queue, MALLORY, order, seconds=0.6)
    late = asyncio.create_task(execute(queue, MALLORY, order))
    for _ in range(20):
        await execute(queue, ALICE, order, seconds=0.001)
    assert order == ["mallory"] + ["alice"] * 20
    await late
    assert order[-1] == "mallory"


async def test_a_shared_ip_address_has_no_cpu_budget() -> None:
    order: Order = []
    queue, caller = (
        build_queue(1, budget=CpuBudget(0.001, 0.1)),
        HTTPCaller("10.1.2.3", is_unidentified=True),
    )
    for _ in range(3):
        await execute(queue, caller, order, seconds=10.0)
    assert len(order) == 3


async def test_a_request_is_charged_the_cpu_time_of_its_thread(monkeypatch: Any) -> None:
    charged: list[float] = []
    monkeypatch.setattr(CpuBudget, "charge", lambda self, caller, seconds: charged.append(seconds))

    def busy(environ: Any, start: Any) -> Iterable[bytes]:
        sum(range(1_000_000))
        return echo(environ, start)

    for application in (echo, busy):
        exchange = build_request(b"alice")
        bridge = Bridge(application, threads=1, max_active=5, identify=identify_by_header)
        await bridge(exchange.scope, exchange.receive, exchange.send)
    assert 0 < charged[0] < charged[-1]


async def test_too_many_waiting_requests_of_one_caller_are_refused_but_not_those_of_others(monkeypatch: Any) -> None:
    monkeypatch.setattr(fair_queue, "MAX_WAITING_REQUESTS", 3)
    order: Order = []
    queue = build_queue(2)
    async with queue.wait_for_turn(MALLORY):
        waiting = [asyncio.create_task(execute(queue, MALLORY, order)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(LimitReached):
            await execute(queue, MALLORY, order)
        await execute(queue, ALICE, order)
        assert order == ["alice"]
    await asyncio.gather(*waiting)
    assert order == ["alice"] + ["mallory"] * 3


async def test_a_request_cancelled_while_waiting_is_removed_from_the_queue() -> None:
    order: Order = []
    queue = build_queue(1)
    async with queue.wait_for_turn(ALICE):
        gone = [asyncio.create_task(execute(queue, caller, order)) for caller in (ALICE, MALLORY, MALLORY)]
        await asyncio.sleep(0)
        for task in gone[:2]:
            task.cancel()
        await asyncio.wait(gone[:2])
    await gone[2]
    assert order == ["mallory"]
    assert (queue.free_slots, queue.is_idle) == (1, True)


async def test_a_request_cancelled_at_its_turn_releases_the_thread() -> None:
    order: Order = []
    queue = build_queue(1)
    await queue.acquire(ALICE.path)
    next_one = asyncio.create_task(execute(queue, MALLORY, order))
    await asyncio.sleep(0)
    queue.release(ALICE.path)
    next_one.cancel()
    await asyncio.wait([next_one])
    await execute(queue, ALICE, order)
    assert order == ["alice"]
    assert queue.free_slots == 1


SIXTEEN = [HTTPCaller(f"mallory {number}", workspace="theirs", group="theirs") for number in range(16)]
INNOCENT = HTTPCaller("alice", workspace="ours", group="ours")


async def test_FAIR1_sixteen_people_of_a_workspace_get_every_second_turn_against_one_of_another() -> None:
    order: Order = []
    queue = build_queue(1)
    async with queue.wait_for_turn(SIXTEEN[0]):
        attack = [asyncio.create_task(execute(queue, caller, order)) for caller in SIXTEEN * 4]
        await asyncio.sleep(0)
        ours = [asyncio.create_task(execute(queue, INNOCENT, order)) for _ in range(8)]
        await asyncio.sleep(0)
    await asyncio.gather(*attack, *ours)
    assert [number for number, key in enumerate(order) if key == "alice"] == list(range(1, 17, 2))
    assert len(set(order[17:33])) == 16  # and its people take turns
    assert queue.is_idle


async def test_FAIR1_a_workspace_gets_half_of_the_threads_and_over_its_cpu_budget_a_quarter() -> None:
    queue = build_queue(8, workspace_budget=CpuBudget(0.001, 1.0))

    async def count_running() -> int:
        waiting = [asyncio.create_task(execute(queue, caller, [])) for caller in SIXTEEN]
        await asyncio.sleep(0)
        running = 8 - queue.free_slots
        await asyncio.gather(*waiting)
        return running

    assert await count_running() == 4
    queue.charge(SIXTEEN[0], 2.0)
    assert await count_running() == 2  # it is not stopped
    queue.charge(INNOCENT, 0.1)
    assert queue.is_idle


async def test_FAIR1_new_workspaces_of_one_address_share_turns_and_threads() -> None:
    """Each of sixteen new accounts has a workspace of its own, so that only their address is common."""
    made = [HTTPCaller(f"mallory {n}", workspace=f"theirs {n}", group=("new", "10.1.2.3")) for n in range(16)]
    order: Order = []
    queue = build_queue(8, workspace_budget=CpuBudget(0.001, 1.0))
    attack = [asyncio.create_task(execute(queue, caller, order)) for caller in made * 2]
    await asyncio.sleep(0)
    assert queue.free_slots == 2
    await execute(queue, INNOCENT, order)
    assert order.index("alice") <= 6
    await asyncio.gather(*attack)
    queue.charge(made[0], 2.0)
    attack = [asyncio.create_task(execute(queue, caller, order)) for caller in made]
    await asyncio.sleep(0)
    assert queue.free_slots == 5
    await asyncio.gather(*attack)


async def test_one_person_in_several_workspaces_has_the_threads_of_one_person() -> None:
    queue = build_queue(8)
    asked = [HTTPCaller("mallory", workspace=number, group=number) for number in range(8)]
    tasks = [asyncio.create_task(execute(queue, caller, [])) for caller in asked]
    await asyncio.sleep(0)
    assert queue.free_slots == 6
    await asyncio.gather(*tasks)


async def test_a_workspace_has_half_of_the_requests_that_may_wait() -> None:
    order: Order = []
    queue = build_queue(1, max_waiting=8)
    async with queue.wait_for_turn(SIXTEEN[0]):
        waiting = [asyncio.create_task(execute(queue, caller, order)) for caller in SIXTEEN[:8]]
        await asyncio.sleep(0)
        with pytest.raises(LimitReached):
            await execute(queue, SIXTEEN[9], order)
        waiting.append(asyncio.create_task(execute(queue, INNOCENT, order)))
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    assert len(order) == 9


@pytest.mark.parametrize(("headers", "closes"), [((), False), ([(b"content-length", b"9")], True)])
async def test_a_refused_request_is_not_read_and_uses_no_thread(headers: Any, closes: bool) -> None:
    def never(environ: Any, start: Any) -> Any:
        raise AssertionError("a refused request was executed")

    def refuse(scope: Any) -> HTTPCaller:
        raise LimitReached("Too many requests at once.", data={"limit": "requests", "seconds": 7})

    exchange = Exchange(b"x" * 9, headers=headers)
    await Bridge(never, threads=1, max_active=1, identify=refuse)(exchange.scope, exchange.receive, exchange.send)
    assert (exchange.status, exchange.read) == (429, 0)
    assert json.loads(exchange.body)["error"]["data"] == {"limit": "requests", "seconds": 7}
    assert (b"retry-after", b"7") in exchange.sent[0]["headers"]
    assert ((b"connection", b"close") in exchange.sent[0]["headers"]) == closes
