"""Workers that are killed, stopped and revived in the middle of runs: real processes, real servers (B1–B4, B6).

`CHAOS_N` sets how often each is done. The leases are shortened, unless `CHAOS_REAL` is set; all else is as in production.
"""

import random
import signal
import time
from collections import Counter

import pytest
import redis
from django.conf import settings as django_settings

from chats import services as chats
from runs.models import ACTIVE, Run, Step
from tests.chaos import IS_CHAOS, N, report

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]


def ten_steps(workroom):
    """A run that calls a tool nine times, saying something each time, and answers."""
    workroom.model.reset()
    workroom.model.script(text="That was all.", every=0.02)
    for hour in range(9, 0, -1):
        call = {"name": "current_time", "arguments": f'{{"timezone": "Etc/GMT+{hour}"}}'}
        workroom.model.script(text=f"Looking at {hour} now.", calls=[call], every=0.02, times=1)


def whole(workroom, run):
    """The invariants of a run that has ended: nothing lost, nothing twice (guarantees §6.2)."""
    rows = [row for row in workroom.log() if row.run_id == run.id]
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
    workroom.team.chat.refresh_from_db()
    seqs = [row.seq for row in workroom.log()]
    assert len(set(seqs)) == len(seqs)
    assert max(seqs) <= workroom.team.chat.version


def until_taken_over(workroom, run):
    """Seconds until another worker has it, or it is over."""
    started = time.monotonic()
    workroom.wait(lambda: not Run.objects.filter(pk=run.pk, attempt=1, state__in=ACTIVE).exists(), 15)
    return round(time.monotonic() - started, 1)


def test_B1_B2_a_worker_killed_at_any_moment_is_replaced_and_nothing_is_said_twice(workroom, crew):
    workers = [crew(), crew()]
    took = []
    for number in range(N):
        ten_steps(workroom)
        message = workroom.say(f"go {number}")
        workroom.wait(lambda: Run.objects.filter(state="running"), 15)
        time.sleep(random.uniform(0.0, 2.0))
        run = Run.objects.get(trigger_id=message.id)
        victim = next((worker for worker in workers if worker.owns(run.lease_owner)), workers[0])
        victim.kill()
        took.append(until_taken_over(workroom, run))
        workroom.settle(25)
        run.refresh_from_db()
        assert run.state == "completed", (run.error_code, run.error)
        whole(workroom, run)
        workers[workers.index(victim)] = crew()
    assert max(Run.objects.values_list("crashes", flat=True)) <= 1
    report(f"{N} kills: taken over after {sorted(took)} s")


def test_B2_the_only_worker_killed_and_started_again_takes_up_its_run(workroom, crew):
    worker = crew()
    workroom.model.script(mode="drip", count=100, every=0.03)
    workroom.say("go")
    workroom.wait(lambda: workroom.model.requests, 15)
    time.sleep(0.5)
    worker.kill()
    assert workroom.runs()[0].state == "running"
    workroom.model.reset()
    workroom.model.script(text="Here I am again.")
    crew()
    [run] = workroom.settle(20)
    assert (run.state, run.crashes, workroom.said()) == ("completed", 1, ["Here I am again."])


def test_B3_a_zombie_that_wakes_up_says_nothing(workroom, crew):
    workers = [crew(), crew()]
    workroom.model.script(text="The heir speaks.")
    workroom.model.script(text="The zombie speaks.", first=1.0, times=1)
    workroom.say("go")
    [run] = workroom.wait(lambda: workroom.runs(state="running"), 15)
    workroom.wait(lambda: workroom.model.requests, 15)
    zombie = next(worker for worker in workers if worker.owns(run.lease_owner))
    zombie.signal(signal.SIGSTOP)
    try:
        report(f"a frozen worker: taken over after {until_taken_over(workroom, run)} s")
        [run] = workroom.settle(20)
        assert (run.state, run.attempt) == ("completed", 2)
        before = [(row.id, row.payload) for row in workroom.log()]
    finally:
        zombie.signal(signal.SIGCONT)
    workroom.wait(lambda: "somebody else's" in zombie.log, 15)
    assert [(row.id, row.payload) for row in workroom.log()] == before
    assert workroom.said() == ["The heir speaks."]


def test_B4_what_waits_when_redis_forgets_everything_is_done(workroom, crew):
    rooms = [
        chats.create_chat(workroom.team.alice, workroom.team.workspace.id, title=f"{number}", member_ids=[workroom.team.robin.id])
        for number in range(100 if IS_CHAOS else 20)
    ]  # fmt: skip
    workroom.model.script(text="done")
    for room in rooms:
        workroom.say("hello", chat=room)
    redis.from_url(django_settings.REDIS_URL).flushdb()
    crew()
    workroom.wait(lambda: Run.objects.filter(state="completed").count() == len(rooms), 30)
    assert set(Run.objects.values_list("state", "attempt")) == {("completed", 1)}
    assert len(workroom.model.requests) == len(rooms)


def test_B6_a_worker_that_is_told_to_end_gives_its_runs_back(workroom, crew):
    worker = crew()
    workroom.model.script(mode="drip", count=400, every=0.05)
    workroom.say("go")
    workroom.wait(lambda: workroom.model.requests, 15)
    time.sleep(0.3)
    assert worker.end(20) == 0
    [run] = workroom.runs()
    assert (run.state, run.crashes, run.lease_owner) == ("queued", 0, "")
    workroom.model.reset()
    workroom.model.script(text="After the deploy.")
    crew()
    [run] = workroom.settle(20)
    assert (run.state, workroom.said()) == ("completed", ["After the deploy."])


def test_B6_a_deploy_replaces_one_of_two_workers_and_twenty_runs_go_on(workroom, crew):
    workers = [crew(), crew()]
    rooms = [
        chats.create_chat(workroom.team.alice, workroom.team.workspace.id, title=f"{number}", member_ids=[workroom.team.robin.id])
        for number in range(20)
    ]  # fmt: skip
    workroom.model.script(text="word " * 40, every=0.2)
    for room in rooms:
        workroom.say("hello", chat=room)
    workroom.wait(lambda: Run.objects.filter(state="running").count() == len(rooms), 30)
    old = max(workers, key=lambda worker: sum(worker.owns(run.lease_owner) for run in Run.objects.all()))
    moved = [run.pk for run in Run.objects.all() if old.owns(run.lease_owner)]
    assert moved

    told = time.monotonic()
    old.process.terminate()
    crew()
    assert old.process.wait(20) == 0
    gone = time.monotonic() - told
    workroom.wait(lambda: not Run.objects.filter(pk__in=moved, attempt=1).exists(), 30 - gone)
    resumed = time.monotonic() - told
    workroom.wait(lambda: Run.objects.filter(state="completed").count() == len(rooms), 60)
    assert set(Run.objects.values_list("crashes", flat=True)) == {0}
    assert len(workroom.model.requests) == len(rooms) + len(moved)
    report(f"{len(moved)} moved: the old one was gone after {gone:.1f} s, all were resumed after {resumed:.1f} s")
