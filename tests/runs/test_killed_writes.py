"""Workers that are killed at random moments of calls that a person approves, and of questions (RUN15, RUN19).

A webhook counts the requests of each call. An approved call is made at most once; what is not known of it is said.
"""

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from approvals.models import Approval
from chats.models import Message
from context.transcript import INTERRUPTED
from runs.models import Run
from tests.booking_server import BookingServer
from tests.chaos import IS_CHAOS, N, report
from tests.factories.agents import add_tool_use
from tests.factories.tools import ToolServerFactory, WorkspaceToolFactory
from tests.runs.environment import RunEnvironment
from tests.workers import Worker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]

KILLS = N * 5 // 2 if IS_CHAOS else 3
ROUNDS = N if IS_CHAOS else 1
MOMENTS = ("before it waits", "while it waits", "after the decision", "during the request", "after the answer")
IN_SHORT = ("while it waits", "after the decision", "during the request")
"""The moments of the three kills of the short form."""


def give_tool(environment: RunEnvironment, name: str) -> None:
    assert environment.team.robin.current_spec is not None
    add_tool_use(environment.team.robin.current_spec, name)


@pytest.fixture
def webhook(environment: RunEnvironment, settings) -> Iterator[BookingServer]:
    """A server that counts. Robin has a tool that writes there, which a person approves."""
    webhook = BookingServer()
    settings.ALLOW_PRIVATE_HOSTS |= {webhook.host}
    workspace = environment.team.workspace
    WorkspaceToolFactory.create(
        workspace=workspace,
        server=ToolServerFactory.create(workspace=workspace, name="Booking", base_url=webhook.url),
        name="hold_seats",
        effect="write",
        input_schema={"type": "object", "properties": {"seat": {"type": "integer"}}},
        request={"method": "POST", "path": "/holds", "body": "json", "arguments": [{"name": "seat", "where": "body"}]},
    )
    give_tool(environment, "hold_seats")
    yield webhook
    webhook.close()


def kill_worker(workers: list[Worker], run: Run | None) -> None:
    """Kill the worker that has the run, or any, and remove it from the list."""
    run = Run.objects.filter(pk=run.pk).first() if run else None
    victim = next((worker for worker in workers if run and worker.owns(run.lease_owner)), random.choice(workers))
    victim.kill()
    workers.remove(victim)


def list_tool_texts(environment: RunEnvironment) -> list[str]:
    """Return the results of tools that the model has read, in its newest request."""
    return [turn["content"] for turn in environment.model.requests[-1].body["messages"] if turn["role"] == "tool"]


def kill_during_approved_call(
    environment: RunEnvironment, workers: list[Worker], webhook: BookingServer, *, moment: str, title: str
) -> tuple[Message, str]:
    """Let the agent make two calls, approve the first, refuse the second, and kill a worker at this moment.

    Return the result of the approved call, and the id of the refused one.
    """
    environment.model.reset()
    calls = [{"name": "hold_seats", "arguments": json.dumps({"seat": seat})} for seat in (1, 2)]
    environment.model.script(calls=calls, then={"text": "That was it."})
    chat = environment.open_chat(title)
    trigger = environment.post("book", chat=chat)
    if moment == "before it waits":
        time.sleep(random.uniform(0.0, 0.5))
        kill_worker(workers, Run.objects.filter(trigger_id=trigger.id).first())
    approved, refused = environment.wait_until_waiting(40)
    run = Run.objects.get(trigger_id=trigger.id)
    if moment == "while it waits":
        kill_worker(workers, None)
    environment.decide(refused, "refused")
    if moment == "during the request":
        webhook.answers.clear()
    environment.decide(approved)
    if moment == "after the decision":
        time.sleep(random.uniform(0.0, 0.4))
        kill_worker(workers, run)
    elif moment == "during the request":
        environment.wait(lambda: webhook.keys[approved.call_id], 40)
        time.sleep(random.uniform(0.0, 0.3))
        kill_worker(workers, run)
        webhook.answers.set()
    elif moment == "after the answer":
        environment.wait(lambda: approved.call_id in webhook.answered, 40)
        time.sleep(random.uniform(0.0, 0.02))
        kill_worker(workers, run)
    environment.wait_until_idle(60)
    run.refresh_from_db()
    assert (run.state, run.error_code) == ("completed", ""), (moment, run.error)
    results = {row.payload["tool_call_id"]: row for row in Message.objects.filter(chat=chat, type="TOOL_RESPONSE")}
    assert set(results) == {approved.call_id, refused.call_id}
    assert results[refused.call_id].payload["status"] == "rejected"
    assert Counter(list_tool_texts(environment)) == Counter(row.payload["text"] for row in results.values())
    return results[approved.call_id], refused.call_id


def test_RUN15_RUN19_an_approved_call_is_requested_at_most_once_whenever_a_worker_is_killed(
    environment, start_worker, webhook
):
    workers: list[Worker] = []
    outcomes: Counter[tuple[str, str]] = Counter()
    refused_ids = set()
    for number in range(KILLS):
        while len(workers) < 2:
            workers.append(start_worker())
        moment = MOMENTS[number % len(MOMENTS)] if IS_CHAOS else IN_SHORT[number]
        result, refused_id = kill_during_approved_call(environment, workers, webhook, moment=moment, title=f"{number}")
        refused_ids.add(refused_id)
        status, requests = result.payload["status"], webhook.keys[result.payload["tool_call_id"]]
        outcomes[moment, status] += 1
        # What came of a call is known, or it is said that it is not: to the person in the log, and to the model.
        match status:
            case "ok":
                assert requests == 1
            case "interrupted":
                assert requests <= 1
                assert result.payload["text"] == INTERRUPTED
            case _:
                raise AssertionError((moment, result.payload))
        if moment in ("before it waits", "while it waits"):
            assert status == "ok"
        if moment == "during the request":
            assert (status, requests) == ("interrupted", 1)
        if number % 10 == 9:
            report(f"{number + 1} kills: {dict(outcomes)}")
    assert set(webhook.keys.values()) == {1}
    assert not refused_ids & set(webhook.keys)
    assert set(webhook.keys) <= set(Approval.objects.filter(decision="approved").values_list("call_id", flat=True))
    assert set(Run.objects.values_list("state", flat=True)) == {"completed"}
    report(f"{KILLS} kills, {KILLS} approved calls, {len(webhook.keys)} requests, each once: {dict(outcomes)}")


def test_RUN19_a_question_waits_across_kills_and_its_answer_is_read_once(
    environment: RunEnvironment, start_worker: Callable[..., Any]
) -> None:
    """Workers are killed before the question is stored, while it waits, and after a person has answered."""
    give_tool(environment, "ask_user")
    question = {"question": "Which?", "choices": [{"label": "A"}, {"label": "B"}]}
    workers = [start_worker()]
    for number in range(1, ROUNDS + 1):
        environment.model.reset()
        call = {"name": "ask_user", "arguments": json.dumps(question)}
        environment.model.script(calls=[call], then={"text": "B it is.", "first": 0.5})
        chat = environment.open_chat(f"{number}")
        environment.post("ask me", chat=chat)
        time.sleep(random.uniform(0.0, 0.5))
        kill_worker(workers, None)
        workers.append(start_worker())
        [approval] = environment.wait_until_waiting(40)
        kill_worker(workers, None)
        environment.decide(approval, "answered", choice=1)
        workers.append(start_worker())
        time.sleep(random.uniform(0.0, 1.0))
        kill_worker(workers, None)
        workers.append(start_worker())
        environment.wait_until_idle(60)
        run = Run.objects.get(chat=chat)
        assert (run.state, run.error_code) == ("completed", ""), run.error
        rows = list(Message.objects.filter(chat=chat).exclude(type="MEMBER_JOINED").order_by("seq"))
        types = ["TEXT_MESSAGE", "TOOL_CALL", "APPROVAL_ASKED", "APPROVAL_DECIDED", "TOOL_RESPONSE", "TEXT_MESSAGE"]
        assert [row.type for row in rows] == types
        assert (rows[4].payload["status"], rows[4].payload["text"]) == ("ok", "Alice answered: B")
        assert list_tool_texts(environment) == ["Alice answered: B"]
        assert rows[5].text == "B it is."
        report(f"a question, {number * 3} kills: answered {number} times")
