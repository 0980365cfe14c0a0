"""Workers that are killed with SIGKILL while they fire schedules and execute runs of woken agents: real processes, real servers.

`CHAOS_N` sets how many are killed.
"""

import json
import random
import time
from collections import Counter
from datetime import timedelta
from itertools import cycle

import pytest
from django.db import connection, transaction

from agents.specs.content import ToolUse
from chats.models import ChatActor
from common.clock import now
from runs.models import Run
from schedules.models import Schedule, ScheduledTime
from tests.chaos import N, report
from tests.concurrency import ConcurrentTransaction
from tests.factories.agents import change_spec
from tests.factories.schedules import ScheduleFactory
from waking.services.by_hand import wake_agent

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]


CITIES = ("Europe/Oslo", "Asia/Tokyo", "America/Lima", "Africa/Cairo")
WAITING = "SELECT count(*) FROM pg_locks WHERE relation = 'schedules_scheduledtime'::regclass AND NOT granted"


def make_due_schedule(environment, agent):
    team = environment.team
    return ScheduleFactory.create(chat=team.chat, agent=agent, owner=team.alice, next_at=now() - timedelta(seconds=1))


def test_RUN26_a_worker_killed_before_the_commit_leaves_the_schedule_due(environment, start_worker):
    environment.model.script(text="Good morning.")
    schedule = ScheduleFactory.create(
        chat=environment.team.chat, agent=environment.team.robin, owner=environment.team.alice
    )
    due = now() - timedelta(seconds=1)
    worker = start_worker()
    with transaction.atomic(), connection.cursor() as cursor:
        # The worker waits for this lock when it has written the message and the run, in its transaction.
        cursor.execute("LOCK TABLE schedules_scheduledtime IN SHARE MODE")
        ConcurrentTransaction(lambda: Schedule.objects.filter(pk=schedule.pk).update(next_at=due)).result()

        def is_waiting():
            cursor.execute(WAITING)
            return cursor.fetchone()[0] > 0

        environment.wait(is_waiting, 20)
        worker.kill()
    assert Schedule.objects.get().next_at == due
    assert environment.runs() == environment.log("AGENT_WOKEN") == []
    start_worker()
    environment.wait(lambda: ScheduledTime.objects.exists(), 20)
    [run] = environment.wait_until_idle(20)
    assert (run.state, len(environment.log("AGENT_WOKEN"))) == ("completed", 1)


def test_RUN25_RUN26_killed_workers_lose_no_message_and_repeat_no_schedule(environment, start_worker):
    team, chance = environment.team, random.Random()
    agents = {"robin": team.robin, "scribe": environment.add_agent("Scribe", handle="scribe")}
    for agent in agents.values():
        change_spec(agent.current_spec, tools=[ToolUse(tool="current_time")])
    ChatActor.objects.filter(chat=team.chat).update(response="mentions")
    environment.model.script(text="Here is what I have found.", every=0.05)
    # Other arguments each time: a run that reads several of these messages would be stopped for repeating its calls.
    for city in CITIES:
        call = {"name": "current_time", "arguments": json.dumps({"timezone": city})}
        environment.model.script(match=city, calls=[call], text="I check.", then={"text": "It is noon."}, every=0.05)
    questions = cycle([*(f"please check {city}" for city in CITIES), "what is new?", "what else?"])
    workers = [start_worker(), start_worker()]
    addressed: Counter = Counter()
    for _ in range(N):
        for _ in range(6):
            mentioned = chance.sample(sorted(agents), chance.randint(1, 2))
            text = " ".join([*(f"@{handle}" for handle in mentioned), next(questions)])
            message = environment.post(text, by=chance.choice([team.alice, team.bob]))
            addressed.update((agents[handle].id, message.id) for handle in mentioned)
            time.sleep(chance.uniform(0, 0.3))
        make_due_schedule(environment, chance.choice(list(agents.values())))
        wake_agent(team.alice, team.chat.id, chance.choice(list(agents.values())).id)
        time.sleep(chance.uniform(0, 1.5))
        victim = chance.randrange(2)
        workers[victim].kill()
        workers[victim] = start_worker()
    environment.wait(lambda: ScheduledTime.objects.count() == N, 30)
    runs = environment.wait_until_idle(60)

    assert [(run.error_code, run.error, run.crashes) for run in runs if run.state != "completed"] == []
    taken = Counter((run.agent_id, id) for run in runs for id in run.answered_ids)
    assert taken == addressed
    by_schedule = [line.id for line in environment.log("AGENT_WOKEN") if line.payload["reason"] == "schedule"]
    assert Counter(by_schedule) == Counter(ScheduledTime.objects.values_list("message_id", flat=True))
    assert ScheduledTime.objects.values("schedule").distinct().count() == N
    for line in environment.log("AGENT_WOKEN"):
        cursor = ChatActor.objects.get(chat=team.chat, actor_id=line.payload["target_id"]).last_read_seq
        assert cursor >= line.seq
    crashes = sum(Run.objects.values_list("crashes", flat=True))
    report(f"{N} workers killed, {crashes} runs continued by others; {len(taken)} messages each read once")
