"""B15: a worker is killed when a tool has asked a server outside and its result is not stored."""

from collections import Counter

import pytest

from chats.models import Message
from runs.models import Run
from tests.chaos import IS_CHAOS, N, report

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]

ROUNDS = N * 5 // 4 if IS_CHAOS else 1


@pytest.mark.parametrize(("tool", "status"), [("order_once", "interrupted"), ("order_by_key", "ok")])
def test_B15_a_call_is_repeated_after_a_kill_only_when_it_may_be_and_then_with_its_key(
    workroom, crew, shop, tool, status
):
    workroom.team.robin.current_spec.tool_configs.create(position=9, tool=tool)
    workers = [crew(DJANGO_SETTINGS_MODULE="tests.poison.settings") for _ in range(2)]
    for number in range(1, ROUNDS + 1):
        shop.answers.clear()
        workroom.model.reset()
        workroom.model.script(text="That was it.")
        workroom.model.script(calls=[{"name": tool, "arguments": f'{{"port": {shop.port}}}'}], times=1)
        # In a chat where something from outside was read, an agent changes nothing any more.
        workroom.say("order", chat=workroom.open_chat(f"{number}"))
        workroom.wait(lambda number=number: len(shop.orders) == number, 20)
        [run] = Run.objects.filter(state="running")
        victim = next(worker for worker in workers if worker.owns(run.lease_owner))
        victim.kill()
        shop.answers.set()
        workroom.settle(30)
        run.refresh_from_db()
        assert (run.state, run.crashes) == ("completed", 1)
        [result] = Message.objects.filter(chat=run.chat, type="TOOL_RESPONSE")
        assert result.payload["status"] == status
        if number % 5 == 0:
            report(f"{tool}: {number} kills")
        if number < ROUNDS:
            workers[workers.index(victim)] = crew(DJANGO_SETTINGS_MODULE="tests.poison.settings")
    calls = [row.payload["call_id"] for row in Message.objects.filter(type="TOOL_CALL")]
    assert shop.orders == Counter(dict.fromkeys(calls, 1 if status == "interrupted" else 2))
    report(f"{tool}: {ROUNDS} kills, {sum(shop.orders.values())} requests")
