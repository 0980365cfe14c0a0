"""RUN15: a worker is killed after a tool has sent a request to another server and before the result is stored."""

from collections import Counter

import pytest

from chats.models import Message
from runs.models import Run
from tests.chaos import IS_CHAOS, N, report
from tests.factories.agents import add_tool_use

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]

ROUNDS = N * 5 // 4 if IS_CHAOS else 1


@pytest.mark.parametrize(("tool", "status"), [("order_once", "interrupted"), ("order_by_key", "ok")])
def test_RUN15_a_call_is_repeated_after_a_kill_only_if_it_is_idempotent_and_with_its_key(
    environment, start_worker, order_server, tool, status
):
    add_tool_use(environment.team.robin.current_spec, tool)
    workers = [start_worker(DJANGO_SETTINGS_MODULE="tests.extra_tools.settings") for _ in range(2)]
    for number in range(1, ROUNDS + 1):
        order_server.answers.clear()
        environment.model.reset()
        environment.model.script(text="That was it.")
        environment.model.script(calls=[{"name": tool, "arguments": f'{{"port": {order_server.port}}}'}], times=1)
        # In a chat where a text of another server was read, no tool of an agent writes.
        environment.post("order", chat=environment.open_chat(f"{number}"))
        environment.wait(lambda number=number: len(order_server.orders) == number, 20)
        [run] = Run.objects.filter(state="running")
        victim = next(worker for worker in workers if worker.owns(run.lease_owner))
        victim.kill()
        order_server.answers.set()
        environment.wait_until_idle(30)
        run.refresh_from_db()
        assert (run.state, run.crashes) == ("completed", 1)
        [result] = Message.objects.filter(chat=run.chat, type="TOOL_RESPONSE")
        assert result.payload["status"] == status
        if number % 5 == 0:
            report(f"{tool}: {number} kills")
        if number < ROUNDS:
            workers[workers.index(victim)] = start_worker(DJANGO_SETTINGS_MODULE="tests.extra_tools.settings")
    calls = [row.payload["call_id"] for row in Message.objects.filter(type="TOOL_CALL")]
    assert order_server.orders == Counter(dict.fromkeys(calls, 1 if status == "interrupted" else 2))
    report(f"{tool}: {ROUNDS} kills, {sum(order_server.orders.values())} requests")
