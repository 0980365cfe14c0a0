"""Workers that are killed, stopped and restarted during runs: real processes, real servers (RUN1–RUN4, RUN6).

`CHAOS_N` sets how often each is done. The leases are shortened, unless `CHAOS_REAL` is set; all else is as in production.
"""

import random
import signal
import time
from collections import Counter

import pytest
import redis
from django.conf import settings as django_settings

from runs.models import NOT_ENDED, Run, Step
from tests.chaos import IS_CHAOS, N, report

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]


def script_ten_steps(environment):
    """Return a run that calls a tool nine times, with a text each time, and answers."""
    environment.model.reset()
    environment.model.script(text="That was all.", every=0.02)
    for hour in range(9, 0, -1):
        call = {"name": "current_time", "arguments": f'{{"timezone": "Etc/GMT+{hour}"}}'}
        environment.model.script(text=f"Looking at {hour} now.", calls=[call], every=0.02, times=1)


def check_ended_run(environment, run):
    """Check the invariants of an ended run: no step is missing or repeated."""
    rows = [row for row in environment.log() if row.run_id == run.id]
    calls = Counter(row.payload["call_id"] for row in rows if row.type == "TOOL_CALL")
    results = Counter(row.payload["tool_call_id"] for row in rows if row.type == "TOOL_RESPONSE")
    steps = list(Step.objects.filter(run=run, kind="llm").values_list("number", flat=True).order_by("number"))
    assert calls == results
    assert set(calls.values()) <= {1}
    assert steps == list(range(1, run.steps_done + 1))
    texts = [row for row in rows if row.type == "TEXT_MESSAGE"]
    assert len(texts) == run.steps_done
    assert not any(row.payload["incomplete"] for row in texts)
    assert not Step.objects.filter(run=run, state="started").exists()
    environment.team.chat.refresh_from_db()
    seqs = [row.seq for row in environment.log()]
    assert len(set(seqs)) == len(seqs)
    assert max(seqs) <= environment.team.chat.version


def wait_until_reclaimed(environment, run):
    """Return the seconds until another worker has the run, or it has ended."""
    started = time.monotonic()
    environment.wait(lambda: not Run.objects.filter(pk=run.pk, attempt=1, state__in=NOT_ENDED).exists(), 15)
    return round(time.monotonic() - started, 1)


def test_RUN1_RUN2_a_worker_killed_at_any_moment_is_replaced_and_no_message_is_repeated(environment, start_worker):
    workers = [start_worker(), start_worker()]
    took = []
    for number in range(N):
        script_ten_steps(environment)
        message = environment.post(f"go {number}")
        environment.wait(lambda: Run.objects.filter(state="running"), 15)
        time.sleep(random.uniform(0.0, 2.0))
        run = Run.objects.get(trigger_id=message.id)
        victim = next((worker for worker in workers if worker.owns(run.lease_owner)), workers[0])
        victim.kill()
        took.append(wait_until_reclaimed(environment, run))
        environment.wait_until_idle(25)
        run.refresh_from_db()
        assert run.state == "completed", (run.error_code, run.error)
        check_ended_run(environment, run)
        workers[workers.index(victim)] = start_worker()
    assert max(Run.objects.values_list("crashes", flat=True)) <= 1
    report(f"{N} kills: reclaimed after {sorted(took)} s")


def test_RUN2_the_only_worker_is_killed_and_continues_its_run_after_a_restart(environment, start_worker):
    worker = start_worker()
    environment.model.script(mode="drip", count=100, every=0.03)
    environment.post("go")
    environment.wait(lambda: environment.model.requests, 15)
    time.sleep(0.5)
    worker.kill()
    assert environment.runs()[0].state == "running"
    environment.model.reset()
    environment.model.script(text="Here I am again.")
    start_worker()
    [run] = environment.wait_until_idle(20)
    assert (run.state, run.crashes, environment.list_answers()) == ("completed", 1, ["Here I am again."])


def test_RUN3_a_frozen_worker_that_continues_writes_nothing(environment, start_worker):
    workers = [start_worker(), start_worker()]
    environment.model.script(text="The heir speaks.")
    environment.model.script(text="The zombie speaks.", first=1.0, times=1)
    environment.post("go")
    [run] = environment.wait(lambda: environment.runs(state="running"), 15)
    environment.wait(lambda: environment.model.requests, 15)
    zombie = next(worker for worker in workers if worker.owns(run.lease_owner))
    zombie.signal(signal.SIGSTOP)
    try:
        report(f"a frozen worker: reclaimed after {wait_until_reclaimed(environment, run)} s")
        [run] = environment.wait_until_idle(20)
        assert (run.state, run.attempt) == ("completed", 2)
        before = [(row.id, row.payload) for row in environment.log()]
    finally:
        zombie.signal(signal.SIGCONT)
    environment.wait(lambda: "belongs to another worker now" in zombie.log, 15)
    assert [(row.id, row.payload) for row in environment.log()] == before
    assert environment.list_answers() == ["The heir speaks."]


def test_RUN4_queued_runs_are_executed_after_redis_has_lost_its_data(environment, start_worker):
    chats = [environment.open_chat(f"{number}") for number in range(100 if IS_CHAOS else 20)]
    environment.model.script(text="done")
    for chat in chats:
        environment.post("hello", chat=chat)
    redis.from_url(django_settings.REDIS_URL).flushdb()
    start_worker()
    environment.wait(lambda: Run.objects.filter(state="completed").count() == len(chats), 30)
    assert set(Run.objects.values_list("state", "attempt")) == {("completed", 1)}
    assert len(environment.model.requests) == len(chats)


def test_RUN6_a_worker_that_gets_sigterm_queues_its_runs_again(environment, start_worker):
    worker = start_worker()
    environment.model.script(mode="drip", count=400, every=0.05)
    environment.post("go")
    environment.wait(lambda: environment.model.requests, 15)
    time.sleep(0.3)
    assert worker.end(20) == 0
    [run] = environment.runs()
    assert (run.state, run.crashes, run.lease_owner) == ("queued", 0, "")
    environment.model.reset()
    environment.model.script(text="After the deploy.")
    start_worker()
    [run] = environment.wait_until_idle(20)
    assert (run.state, environment.list_answers()) == ("completed", ["After the deploy."])


def test_RUN6_a_deploy_replaces_one_of_two_workers_and_twenty_runs_continue(environment, start_worker):
    workers = [start_worker(), start_worker()]
    chats = [environment.open_chat(f"{number}") for number in range(20)]
    environment.model.script(text="word " * 40, every=0.2)
    for chat in chats:
        environment.post("hello", chat=chat)
    environment.wait(lambda: Run.objects.filter(state="running").count() == len(chats), 30)
    old = max(workers, key=lambda worker: sum(worker.owns(run.lease_owner) for run in Run.objects.all()))
    moved = [run.pk for run in Run.objects.all() if old.owns(run.lease_owner)]
    assert moved

    stopped_at = time.monotonic()
    old.process.terminate()
    start_worker()
    assert old.process.wait(20) == 0
    gone = time.monotonic() - stopped_at
    environment.wait(lambda: not Run.objects.filter(pk__in=moved, attempt=1).exists(), 30 - gone)
    resumed = time.monotonic() - stopped_at
    environment.wait(lambda: Run.objects.filter(state="completed").count() == len(chats), 60)
    assert set(Run.objects.values_list("crashes", flat=True)) == {0}
    assert len(environment.model.requests) == len(chats) + len(moved)
    report(f"{len(moved)} moved: the old one was gone after {gone:.1f} s, all were resumed after {resumed:.1f} s")
