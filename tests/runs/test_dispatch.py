"""The tasks of queued runs reach workers through Celery; without Redis, posting neither fails nor waits (RUN4)."""

import json
import socketserver
import threading
from base64 import b64decode
from uuid import uuid4

import pytest
import redis
from celery import current_app
from django.conf import settings

from common.errors import AppError
from llm import model_tests
from runs.runtime import dispatch

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def fresh_broker():
    client = redis.from_url(settings.REDIS_URL)
    client.delete("runs")
    return client


@pytest.fixture
def dead_broker(monkeypatch):
    """Set the address of a server that closes each connection. Return the list of these connections."""
    connections = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            connections.append(self.client_address)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"redis://127.0.0.1:{server.server_address[1]}/0"
        monkeypatch.setattr(current_app.conf, "broker_write_url", url)
        monkeypatch.setattr(settings, "REDIS_URL", url)
        yield connections
        server.shutdown()


def sent_run_ids(client):
    return [json.loads(b64decode(json.loads(task)["body"]))[0][0] for task in client.lrange("runs", 0, -1)]


def test_a_message_dispatches_its_run_on_commit(environment, fresh_broker):
    environment.post("hello")
    [run] = environment.runs()
    assert sent_run_ids(fresh_broker) == [str(run.id)]


def test_a_celery_worker_accepts_the_task(fresh_broker):
    run_id = uuid4()
    assert dispatch.send_run_tasks([run_id])
    current_app.send_task(dispatch.TASK, [str(run_id)], retry=False)
    theirs, ours = (json.loads(task) for task in fresh_broker.lrange("runs", 0, -1))
    assert ours["headers"].items() >= {"lang": "py", "task": dispatch.TASK}.items()
    assert (ours["headers"]["id"], ours["content-type"]) == (ours["properties"]["correlation_id"], "application/json")
    assert ours["properties"].keys() <= theirs["properties"].keys()
    assert json.loads(b64decode(ours["body"]))[:2] == json.loads(b64decode(theirs["body"]))[:2]


def test_each_of_several_runs_gets_its_own_task(fresh_broker):
    ids = [uuid4() for _ in range(3)]
    assert dispatch.send_run_tasks(ids)
    assert dispatch.send_run_tasks([])
    assert sent_run_ids(fresh_broker) == [str(run_id) for run_id in reversed(ids)]
    tasks = [json.loads(task) for task in fresh_broker.lrange("runs", 0, -1)]
    assert len({task["properties"]["delivery_tag"] for task in tasks}) == 3


def test_a_message_that_joins_a_queued_run_sends_no_task(environment, fresh_broker):
    environment.post("one")
    environment.post("two")
    assert len(sent_run_ids(fresh_broker)) == 1


def test_RUN4_a_message_is_posted_while_redis_is_down(environment, dead_broker):
    environment.post("hello")
    environment.post("again")
    assert len(environment.runs()) == 1
    assert len(dead_broker) <= 2  # posting does not wait for repeated attempts


def test_RUN4_after_a_failure_no_task_is_sent_for_a_while(dead_broker):
    assert dispatch.send_run_tasks([uuid4()]) is False
    attempts = len(dead_broker)
    assert attempts > 0
    assert [dispatch.send_run_tasks([uuid4()]) for _ in range(10)] == [False] * 10
    assert len(dead_broker) == attempts


@pytest.mark.usefixtures("dead_broker")
def test_RUN4_runs_are_executed_while_redis_is_down(environment, engine):
    environment.engine = None
    environment.post("hello")
    assert environment.wait_until_idle()[0].state == "completed"


def test_RUN4_a_model_test_is_refused_soon_while_redis_is_down(team, dead_broker):
    with pytest.raises(AppError) as refused:
        model_tests.start_model_test(
            team.alice, team.workspace.id, provider="demo", api_base="", default_model="demo", key=None
        )
    assert (refused.value.status, refused.value.code) == (503, "unavailable")
    assert len(dead_broker) <= 2
