"""B5: the wire to Redis breaks again and again, or falls silent: the worker hears again, or is started again."""

import os
import time

import pytest
import redis
from django.conf import settings as django_settings

from agents.services.hints import send_hints
from config.watchdog import Watchdog
from tests.cut_wire import CutWire

pytestmark = pytest.mark.django_db(transaction=True)

CHAOS = int(os.environ.get("CHAOS_N", "2"))
N, AWAY = (1, 4) if CHAOS == 2 else (CHAOS, 60)
# Only a hint begins a run here: the sweeper would take a minute.
NO_SWEEP = {"RUN_LEASE": "120"}


@pytest.fixture
def wire(workroom):
    redis.from_url(django_settings.REDIS_URL).delete("runs", "work")
    wire = CutWire(django_settings.REDIS_URL)
    yield wire
    wire.close()


@pytest.mark.stack
def test_B5_a_worker_hears_again_after_its_wire_was_cut(workroom, crew, wire):
    worker = crew(REDIS_URL=wire.url, **NO_SWEEP)
    workroom.say("before")
    workroom.settle(20)
    took = []
    for number in range(N):
        for _ in range(3):
            wire.cut()
            time.sleep(0.7)
        wire.is_down = True
        wire.cut()
        time.sleep(AWAY)
        wire.is_down = False
        back = time.monotonic()
        workroom.say(f"after {number}")
        workroom.settle(90 - AWAY if AWAY < 60 else 30)
        took.append(round(time.monotonic() - back, 1))
    assert len(workroom.said()) == N + 1
    assert worker.process.poll() is None
    print(f"heard again after {sorted(took)} s")  # noqa: T201  # the figures of a long run


@pytest.mark.stack
def test_B5_a_worker_that_went_deaf_ends_so_that_it_is_started_again(workroom, crew, wire):
    worker = crew(REDIS_URL=wire.url, DEAF_AFTER="3", **NO_SWEEP)
    workroom.say("before")
    workroom.settle(20)
    wire.silence()
    workroom.say("into the silence")
    # The first hint goes down the dead wire; what comes after it stays in the queue.
    send_hints([workroom.runs()[-1].id])
    worker.process.wait(40)
    assert "none has come here" in worker.log
    crew(**NO_SWEEP)
    workroom.settle(20)
    assert len(workroom.said()) == 2


def left(patience, queue, *, hears=False, seconds=1.5):
    """Whether a watchdog would end its process, with this in the queue."""
    server = redis.from_url(django_settings.REDIS_URL)
    server.delete("runs", "work")
    if queue:
        server.lpush(queue, "a task")
    ended = []
    dog = Watchdog(patience, leave=lambda: ended.append(1))
    dog.start()
    try:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not ended:
            if hears:
                dog._hear()
            time.sleep(0.02)
    finally:
        dog.stop()
        server.delete("runs", "work")
    return bool(ended)


def test_B5_only_tasks_that_wait_while_none_comes_are_deafness():
    assert left(0.3, "work")
    assert left(0.3, "runs")
    assert not left(0.3, None)
    assert not left(0.3, "runs", hears=True)
