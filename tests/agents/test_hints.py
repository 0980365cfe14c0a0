"""Hints reach workers over Celery; without Redis nothing fails and nothing waits (B4)."""

import json
import time
from base64 import b64decode
from uuid import uuid4

import pytest
import redis
from celery import current_app
from django.conf import settings

from agents.services import hints
from agents.services.model_trial import ask_worker
from common.errors import AppError
from events.wire import wire

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def fresh_broker():
    hints._broker.cache_clear()
    hints._down_until = 0.0
    client = redis.from_url(settings.REDIS_URL)
    client.delete("runs")
    yield client
    hints._broker.cache_clear()
    hints._down_until = wire._down_until = 0.0


@pytest.fixture
def dead_broker(monkeypatch):
    monkeypatch.setattr(current_app.conf, "broker_write_url", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1/0")


def hinted(client):
    return [json.loads(b64decode(json.loads(task)["body"]))[0][0] for task in client.lrange("runs", 0, -1)]


def test_a_message_hints_at_its_run_once_it_is_stored(workroom, fresh_broker):
    workroom.say("hello")
    [run] = workroom.runs()
    assert hinted(fresh_broker) == [str(run.id)]


def test_a_hint_is_word_for_word_what_celery_would_send(fresh_broker):
    run_id = uuid4()
    assert hints.send_hints([run_id])
    current_app.send_task(hints.TASK, [str(run_id)], task_id=str(run_id), retry=False)
    theirs, ours = (json.loads(task) for task in fresh_broker.lrange("runs", 0, -1))
    tags = [task["properties"].pop("delivery_tag") for task in (theirs, ours)]
    assert ours == theirs
    assert tags[0] != tags[1]


def test_many_hints_are_each_their_own(fresh_broker):
    ids = [uuid4() for _ in range(3)]
    assert hints.send_hints(ids)
    assert hints.send_hints([])
    assert hinted(fresh_broker) == [str(run_id) for run_id in reversed(ids)]
    tasks = [json.loads(task) for task in fresh_broker.lrange("runs", 0, -1)]
    assert len({task["properties"]["delivery_tag"] for task in tasks}) == 3


def test_a_message_that_joins_a_waiting_run_needs_no_hint(workroom, fresh_broker):
    workroom.say("one")
    workroom.say("two")
    assert len(hinted(fresh_broker)) == 1


@pytest.mark.usefixtures("dead_broker")
def test_B4_a_message_is_posted_while_redis_is_down(workroom):
    started = time.monotonic()
    workroom.say("hello")
    workroom.say("again")
    assert time.monotonic() - started < 3
    assert len(workroom.runs()) == 1


@pytest.mark.usefixtures("dead_broker")
def test_B4_after_a_failure_no_hint_is_tried_for_a_while():
    assert hints.send_hints([uuid4()]) is False
    started = time.monotonic()
    assert [hints.send_hints([uuid4()]) for _ in range(100)] == [False] * 100
    assert time.monotonic() - started < 0.1


@pytest.mark.usefixtures("dead_broker")
def test_B4_runs_are_done_while_redis_is_down(workroom, engine):
    workroom.engine = None
    workroom.say("hello")
    assert workroom.settle()[0].state == "completed"


@pytest.mark.usefixtures("dead_broker")
def test_B4_a_model_cannot_be_tried_while_redis_is_down_and_that_is_said_soon(team):
    started = time.monotonic()
    with pytest.raises(AppError) as refused:
        ask_worker(workspace=team.workspace, provider="demo", api_base="", default_model="demo", key=None)
    assert refused.value.code == "unavailable"
    assert time.monotonic() - started < 3
