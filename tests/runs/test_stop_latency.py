"""RUN16: many stops, whose time is measured by the model or by the server that a tool calls."""

import time

import pytest
from django.conf import settings as django_settings

from chats.models import Message
from runs.models import Run
from runs.services import runs
from tests.chaos import IS_CHAOS, N, report
from tests.cut_connection import CutConnection
from tests.factories.agents import add_tool_use

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]

STOPS = N * 5 if IS_CHAOS else 3


def check(took, limit, what):
    """Check that all but one percent are within the limit."""
    took.sort()
    report(f"{len(took)} stops {what}: p50 {took[len(took) // 2]:.3f} s, most {took[-1]:.3f} s")
    assert took[(len(took) - 1) * 99 // 100] < limit


def stop(environment):
    """Stop the running run, and return the time of the request."""
    run = Run.objects.get(state="running")
    asked = time.time()
    runs.stop_run(actor=environment.team.alice, run_id=run.id)
    return asked


def stopped_models(environment, count):
    """Return the seconds between each stop and the end of the stream."""
    took = []
    for number in range(count):
        environment.model.reset()
        environment.model.script(mode="drip", count=3000, every=0.02)
        environment.post(f"go {number}")
        environment.wait(lambda: environment.model.requests, 15)
        time.sleep(number % 7 / 20)
        asked = stop(environment)
        took.append(environment.model.wait_until_left(seconds=15).left_at - asked)
        [*_, run] = environment.wait_until_idle(15)
        assert run.state == "stopped"
    return took


def test_RUN16_stops_end_the_models_stream_within_a_second(environment, start_worker):
    start_worker()
    check(stopped_models(environment, STOPS), 1, "of a dripping model")
    texts = environment.log("TEXT_MESSAGE")
    assert all(row.payload["incomplete"] for row in texts if row.author == environment.team.robin)


def test_RUN16_stops_end_a_tool_within_a_second(environment, start_worker, order_server):
    add_tool_use(environment.team.robin.current_spec, "order_by_key")
    start_worker(DJANGO_SETTINGS_MODULE="tests.extra_tools.settings")
    took = []
    for number in range(1, STOPS + 1):
        environment.model.reset()
        environment.model.script(calls=[{"name": "order_by_key", "arguments": f'{{"port": {order_server.port}}}'}])
        # In a chat where a text of another server was read, no tool of an agent writes.
        environment.post("order", chat=environment.open_chat(f"{number}"))
        environment.wait(lambda number=number: len(order_server.orders) == number, 20)
        asked = stop(environment)
        environment.wait(lambda number=number: len(order_server.left_at) == number, 15)
        took.append(max(order_server.left_at.values()) - asked)
        environment.wait_until_idle(15)
    check(took, 1, "of a tool")
    assert set(Run.objects.values_list("state", flat=True)) == {"stopped"}
    assert [row.payload["status"] for row in Message.objects.filter(type="TOOL_RESPONSE")] == ["stopped"] * STOPS


def test_RUN16_stops_end_the_models_stream_within_four_seconds_while_the_worker_has_no_redis(environment, start_worker):
    connection = CutConnection(django_settings.REDIS_URL)
    try:
        start_worker(REDIS_URL=connection.url)
        connection.is_down = True
        connection.cut()
        check(stopped_models(environment, min(STOPS, 20)), 4, "by the heartbeat alone")
    finally:
        connection.close()
