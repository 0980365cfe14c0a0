"""One active run per concurrency key, concurrent runs of other keys, and messages during a run (RUN17)."""

import threading
import time

import pytest
from django.db import connection, transaction

from chats import services as chats
from runs.models import Run
from runs.services import claims
from tests.scripted_model import overlap

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.usefixtures("engine")
def test_RUN17_the_runs_of_an_agent_in_a_chat_are_serial_and_messages_join_the_queued_run(environment):
    environment.model.script(text="answer", first=3.0)
    environment.post("message 0")
    environment.wait(lambda: environment.model.requests)
    for number in range(1, 20):
        environment.post(f"message {number}")
    runs = environment.wait_until_idle(20)
    assert overlap(environment.model.requests) == 1
    assert [run.state for run in runs] == ["completed", "completed"]
    assert len(environment.list_answers()) == 2
    seen = "".join(str(request.body["messages"]) for request in environment.model.requests)
    assert all(f"message {number}" in seen for number in range(20))


@pytest.mark.usefixtures("engine")
def test_RUN17_different_agents_run_concurrently(environment):
    for number in range(7):
        environment.add_agent(f"Agent{number}", handle=f"agent{number}")
    environment.model.script(text="answer", first=3.0)
    environment.post(" ".join(f"@agent{number}" for number in range(7)))
    environment.wait_until_idle(20)
    assert len(environment.model.requests) == 7
    assert overlap(environment.model.requests) == 7


@pytest.mark.usefixtures("engine")
def test_RUN17_twenty_messages_at_once_are_answered_one_run_after_the_other(environment):
    environment.model.script(text="answer", first=0.2)
    start = threading.Barrier(20)

    def post_number(number: int) -> None:
        start.wait()
        environment.post(f"message {number}")
        connection.close()

    speakers = [threading.Thread(target=post_number, args=[number]) for number in range(20)]
    for speaker in speakers:
        speaker.start()
    for speaker in speakers:
        speaker.join()
    environment.wait_until_idle(20)
    assert overlap(environment.model.requests) == 1
    seen = "".join(str(request.body["messages"]) for request in environment.model.requests)
    assert all(f"message {number}" in seen for number in range(20))
    assert len(environment.list_answers()) == len(environment.model.requests)


@pytest.mark.usefixtures("engine")
def test_RUN17_twenty_agents_run_concurrently(environment):
    for number in range(20):
        environment.add_agent(f"Agent{number}", handle=f"agent{number}")
    environment.model.script(text="answer", first=5.0)
    environment.post(" ".join(f"@agent{number}" for number in range(20)))
    environment.wait_until_idle(40)
    assert len(environment.model.requests) == 20
    assert overlap(environment.model.requests) == 20


def test_RUN17_a_run_that_many_claim_at_once_is_claimed_once(environment):
    for number in range(5):
        chat = chats.create_chat(
            environment.team.alice,
            environment.team.workspace.id,
            title=f"{number}",
            actor_ids=[environment.team.robin.id],
        )
        environment.post("hello", chat=chat)
    ids = list(Run.objects.values_list("pk", flat=True))
    claimed: list[Run] = []

    def claim_all(owner: str) -> None:
        claimed.extend(run.row for id in ids if (run := claims.claim_run(id, owner)))
        connection.close()

    racers = [threading.Thread(target=claim_all, args=[f"host:{n}:x"]) for n in range(6)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert sorted(run.pk for run in claimed) == sorted(ids)
    assert set(Run.objects.values_list("state", "attempt")) == {("running", 1)}


def test_no_run_of_a_key_with_an_active_run_is_claimed(environment):
    environment.post("one")
    [first] = environment.runs()
    assert claims.claim_run(first.id, "host:1:x") is not None
    environment.post("two")
    second = environment.runs()[-1]
    assert claims.claim_run(second.id, "host:2:x") is None
    assert [run.state for run in environment.runs()] == ["running", "queued"]


def test_messages_join_the_queued_run(environment):
    for text in ("one", "two", "three"):
        environment.post(text)
    [run] = environment.runs()
    assert run.trigger_id == environment.log()[0].id


@pytest.mark.usefixtures("engine")
def test_a_message_during_a_run_is_read_at_its_next_step_and_not_answered_again(environment):
    environment.model.script(text="Both answered.")
    call = {"name": "current_time", "arguments": '{"timezone": "UTC"}'}
    environment.model.script(calls=[call], first=0.8, times=1)
    environment.post("first")
    environment.wait(lambda: environment.model.requests)
    environment.post("second", by=environment.team.bob)
    runs = environment.wait_until_idle()
    assert environment.list_answers() == ["Both answered."]
    assert [run.state for run in runs] == ["completed", "completed"]
    turns = environment.model.requests[1].body["messages"]
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant", "tool", "user"]
    assert turns[-1]["content"] == "Bob: second"
    assert len(environment.model.requests) == 2


@pytest.mark.usefixtures("engine")
def test_a_message_during_the_last_answer_gets_its_own_answer(environment):
    environment.model.script(text="second answer")
    environment.model.script(text="first answer", first=0.4, times=1)
    environment.post("first")
    environment.wait(lambda: environment.model.requests)
    environment.post("second")
    environment.wait_until_idle()
    assert environment.list_answers() == ["first answer", "second answer"]


def test_a_queued_run_whose_message_was_read_ends_without_an_answer(environment, engine):
    """A retry reads the whole chat, so the queued run behind it has nothing left to do."""
    from runs.services import runs

    environment.model.script(mode="status", status=400, times=1)
    environment.post("first")
    [failed] = environment.wait_until_idle()
    environment.engine = None
    runs.retry_run(actor=environment.team.alice, run_id=failed.id)
    environment.post("second")
    engine.submit([run.id for run in environment.runs(state="queued")])
    environment.wait_until_idle()
    assert len(environment.list_answers()) == 1


@pytest.mark.usefixtures("engine")
def test_runs_beyond_the_slots_of_a_process_wait_and_are_executed(environment, settings):
    settings.RUNS_PER_WORKER = 2
    environment.model.script(text="answer", first=0.1)
    rooms = []
    for number in range(8):
        with transaction.atomic():
            rooms.append(
                chats.create_chat(
                    environment.team.alice,
                    environment.team.workspace.id,
                    title=f"{number}",
                    actor_ids=[environment.team.robin.id],
                )
            )
        environment.post("hello", chat=rooms[-1])
    environment.wait_until_idle()
    assert set(Run.objects.values_list("state", flat=True)) == {"completed"}
    assert overlap(environment.model.requests) <= 2


def test_a_run_is_not_claimed_before_its_retry_at(environment):
    from common.clock import now

    environment.post("hello")
    Run.objects.update(retry_at=now().replace(year=2100))
    assert claims.claim_run(environment.runs()[0].id, "host:1:x") is None


def test_RUN4_runs_whose_task_was_lost_are_found_by_the_sweeper(environment, engine):
    environment.engine = None
    environment.model.script(text="found")
    started = time.monotonic()
    environment.post("hello")
    [run] = environment.wait_until_idle()
    assert run.state == "completed"
    assert time.monotonic() - started >= 1.5
    assert environment.list_answers() == ["found"]
