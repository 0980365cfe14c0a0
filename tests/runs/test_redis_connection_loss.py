"""RUN5: connections to Redis break repeatedly or become silent: the worker receives tasks again, or is restarted."""

import time

import pytest
import redis
from django.conf import settings as django_settings

from common.tasks import send_task_now
from runs.runtime.dispatch import send_runs
from server.watchdog import Watchdog
from tests import chaos
from tests.cut_connection import CutConnection

pytestmark = pytest.mark.django_db(transaction=True)

CYCLES = chaos.N * 5 // 2 if chaos.IS_CHAOS else 1
# A refused client waits two seconds longer each time: after six refusals, thirty in all.
REFUSALS = [1] * (CYCLES - 1) + [6 if chaos.IS_CHAOS else 2]
WAITS = "Trying again in"
"""What Celery's consumer says each time when it did not get its line to Redis."""
# Only a task starts a run here: the sweeper would take a minute.
NO_SWEEP = {"RUN_LEASE": "120"}


@pytest.fixture
def connection(environment):
    redis.from_url(django_settings.REDIS_URL).delete("queued-runs", "work")
    connection = CutConnection(django_settings.REDIS_URL)
    yield connection
    connection.close()


@pytest.mark.stack
def test_RUN5_a_worker_receives_tasks_again_after_its_connection_was_cut(environment, start_worker, connection):
    worker = start_worker(REDIS_URL=connection.url, **NO_SWEEP)
    environment.post("before")
    environment.wait_until_idle(20)
    took = []
    for number, refusals in enumerate(REFUSALS):
        for _ in range(3):
            connection.cut()
            time.sleep(0.7)  # part of the fault: some cuts come while it connects
        waits = worker.log.count(WAITS)
        connection.is_down = True
        connection.cut()
        environment.wait(lambda waits=waits, more=refusals: worker.log.count(WAITS) >= waits + more, 90)
        connection.is_down = False
        back = time.monotonic()
        environment.post(f"after {number}")
        environment.wait_until_idle(30)
        took.append(round(time.monotonic() - back, 1))
        if number % 10 == 9:
            chaos.report(f"{number + 1} cycles, receiving again after {took[-10:]} s")
    assert len(environment.list_answers()) == CYCLES + 1
    assert worker.process.poll() is None
    chaos.report(f"{CYCLES} cycles: receiving again after {sorted(took)} s")


@pytest.mark.stack
def test_RUN5_a_disconnected_worker_ends_so_that_it_is_restarted(environment, start_worker, connection):
    worker = start_worker(REDIS_URL=connection.url, WORKER_DISCONNECTED_AFTER="3", **NO_SWEEP)
    environment.post("before")
    environment.wait_until_idle(20)
    connection.silence()
    environment.post("into the silence")
    # What is sent first is lost in the silent connections; later runs and tasks stay in Redis.
    send_runs([environment.runs()[-1].id])
    for _ in range(2):
        send_task_now("worker.tasks.embed_messages", [])
    worker.process.wait(40)
    assert "this worker has received none" in worker.log
    start_worker(**NO_SWEEP)
    environment.wait_until_idle(20)
    assert len(environment.list_answers()) == 2


def has_ended(limit, queue, *, hears=False, is_healthy=lambda: True, seconds=1.5):
    """Return whether a watchdog would end its process, with these tasks in the queue."""
    server = redis.from_url(django_settings.REDIS_URL)
    server.delete("queued-runs", "work")
    if queue:
        server.lpush(queue, "a task")
    ended = []
    dog = Watchdog(limit, is_healthy, exit_process=lambda: ended.append(1))
    dog.start()
    try:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not ended:
            if hears:
                dog._record_task()
            time.sleep(0.02)
    finally:
        dog.stop()
        server.delete("queued-runs", "work")
    return bool(ended)


def test_RUN5_a_worker_is_disconnected_only_if_tasks_wait_and_it_receives_none():
    assert has_ended(0.3, "work")
    assert not has_ended(0.3, "queued-runs")
    assert not has_ended(0.3, None)
    assert not has_ended(0.3, "work", hears=True)


def test_RUN5_a_worker_ends_if_its_event_loop_hangs_and_not_if_it_was_suspended():
    answers = [False] * 5 + [True] + [False] * 5 + [True]
    assert has_ended(0.3, None, is_healthy=lambda: False)
    assert not has_ended(0.3, None, is_healthy=lambda: answers.pop(0) if answers else True)
