"""Leases: who has lost one writes nothing; whoever takes over makes one message of it (B1, B3, B6)."""

import time
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from agents.errors import LeaseLost
from agents.llm.exchange import Answer, ToolCall, Usage
from agents.llm.protocol import Endpoint
from agents.models import Run, Step
from agents.runtime.answer_rows import Means, Partial
from agents.runtime.engine import Engine
from agents.runtime.preparing import prepared
from agents.runtime.process import is_dead, owner_name
from agents.runtime.recorder import Recorder
from agents.runtime.steps import Answered, Ended, Settled, Started, StepId
from agents.runtime.talk import numbered
from agents.services import claims, leases
from chats.models import Message
from common.secrets import Secret

pytestmark = pytest.mark.django_db(transaction=True)

MEANS = Means(Endpoint("demo", None, Secret(""), "demo"), "demo")


def claimed(workroom, owner="there:1:a", text="hello"):
    engine, workroom.engine = workroom.engine, None
    workroom.say(text)
    workroom.engine = engine
    run = claims.claim(workroom.runs()[-1].id, owner)
    assert run is not None
    return run


def answer(run, text="", *calls):
    step = StepId(run.steps_done + 1, run.message_id)
    made = tuple(ToolCall("", name, arguments, index=n) for n, (name, arguments) in enumerate(calls))
    return Answered(step, numbered(Answer(text, "", made, Usage(1, 1), "stop", "demo"), step))


def expire(run):
    Run.objects.filter(pk=run.pk).update(lease_until=Now() - timedelta(seconds=1))


def test_B3_who_lost_the_lease_changes_nothing(workroom):
    zombie = claimed(workroom)
    recorder = Recorder(zombie, MEANS)
    expire(zombie)
    assert leases.take_over(leases.expired()[0])
    heir = claims.claim(zombie.id, "here:2:b")
    assert heir is not None
    assert (heir.attempt, heir.crashes, heir.message_id) == (2, 1, zombie.message_id)
    before = (list(Message.objects.values()), list(Run.objects.values()), list(Step.objects.values()))
    said = answer(zombie, "too late", ("current_time", '{"timezone": "UTC"}'))
    writes = [
        lambda: recorder.answered(said),
        lambda: recorder.started(Started(said.answer.calls)),
        lambda: recorder.settled(Settled(())),
        lambda: recorder.ended(Ended("failed", "cut", "late"), Partial(zombie.message_id, "late")),
        lambda: recorder.in_transaction(said.answer.calls[0], lambda: "late", 5),
        lambda: leases.give_back(zombie),
        lambda: leases.fail(zombie, "cut", "late"),
    ]
    for write in writes:
        with pytest.raises(LeaseLost):
            write()
    assert (list(Message.objects.values()), list(Run.objects.values()), list(Step.objects.values())) == before
    assert leases.extend("there:1:a", [zombie.id]) == {}


def test_B1_a_takeover_makes_the_same_message_and_only_one(workroom, engine):
    dead = claimed(workroom, owner="elsewhere:1:a")
    expire(dead)
    workroom.model.script(text="the answer")
    [run] = workroom.settle()
    assert (run.state, run.attempt, run.crashes) == ("completed", 2, 1)
    [said] = [row for row in workroom.log("TEXT_MESSAGE") if row.author == workroom.team.robin]
    assert (said.id, said.text) == (dead.message_id, "the answer")


def test_B1_a_takeover_goes_on_after_the_last_stored_step(workroom, engine):
    dead = claimed(workroom, owner="elsewhere:1:a")
    Recorder(dead, MEANS).answered(answer(dead, "Let me look.", ("current_time", '{"timezone": "Asia/Tokyo"}')))
    expire(dead)
    workroom.settle()
    types = ["TEXT_MESSAGE", "TEXT_MESSAGE", "TOOL_CALL", "TOOL_RESPONSE", "TEXT_MESSAGE"]
    assert [row.type for row in workroom.log()] == types
    assert len(workroom.model.requests) == 1


def test_B15_a_call_that_had_begun_and_may_not_be_repeated_is_interrupted(workroom, engine, monkeypatch):
    from tools.current_time.tool import CurrentTime

    monkeypatch.setattr(CurrentTime, "effect", "write")
    dead = claimed(workroom, owner="elsewhere:1:a")
    recorder = Recorder(dead, MEANS)
    said = answer(dead, "", ("current_time", '{"timezone": "Asia/Tokyo"}'))
    recorder.answered(said)
    recorder.started(Started(said.answer.calls))
    expire(dead)
    workroom.settle()
    [result] = workroom.log("TOOL_RESPONSE")
    assert result.payload["status"] == "interrupted"


def test_B15_what_a_tool_did_before_the_crash_is_its_result(workroom, engine):
    dead = claimed(workroom, owner="elsewhere:1:a")
    recorder = Recorder(dead, MEANS)
    said = answer(dead, "", ("current_time", '{"timezone": "Asia/Tokyo"}'))
    recorder.answered(said)
    recorder.started(Started(said.answer.calls))
    recorder.in_transaction(said.answer.calls[0], lambda: "done before", 5)
    expire(dead)
    workroom.settle()
    [result] = workroom.log("TOOL_RESPONSE")
    assert (result.payload["status"], result.payload["text"]) == ("ok", "done before")


def test_a_run_whose_worker_died_three_times_fails_visibly(workroom):
    run = claimed(workroom)
    for is_alone in (False, True):
        expire(run)
        leases.take_over(leases.expired()[0])
        # The third time it is alone, so that a death can be nobody else's fault (B9).
        assert claims.claim(run.id, "there:1:a", apart=not is_alone) is None
        assert claims.claim(run.id, "there:1:a", apart=is_alone)
    expire(run)
    leases.take_over(leases.expired()[0])
    run.refresh_from_db()
    assert (run.state, run.error_code, run.crashes) == ("failed", "crash_loop", 3)
    assert [row.type for row in workroom.log()] == ["TEXT_MESSAGE", "RUN_FAILED"]


def test_a_stop_that_nobody_was_there_to_hear_ends_the_run_when_it_is_taken_over(workroom):
    from agents.services import runs

    run = claimed(workroom)
    runs.stop_run(actor=workroom.team.alice, run_id=run.id)
    expire(run)
    leases.take_over(leases.expired()[0])
    run.refresh_from_db()
    assert (run.state, run.crashes) == ("stopped", 1)


def test_a_crashed_run_keeps_its_turn_before_what_came_later(workroom):
    first = claimed(workroom)
    workroom.say("second")
    expire(first)
    leases.take_over(leases.expired()[0])
    later = workroom.runs()[-1]
    again = claims.claim(later.id, "here:2:b")
    assert again == first
    # It reads the room again, and the wake that waited has nothing left to do.
    assert [run.state for run in workroom.runs()] == ["running", "completed"]


def test_two_who_take_over_at_once_count_one_crash(workroom):
    run = claimed(workroom)
    expire(run)
    [stale] = leases.expired()
    assert [leases.take_over(stale), leases.take_over(stale)] == [True, False]
    run.refresh_from_db()
    assert (run.state, run.crashes) == ("queued", 1)


def test_B6_a_process_that_ends_in_order_gives_its_runs_back_and_that_is_no_crash(workroom, engine):
    workroom.model.script(mode="drip", count=300, every=0.05)
    workroom.say("hello")
    workroom.wait(lambda: workroom.model.requests)
    engine.stop()
    [run] = workroom.runs()
    assert (run.state, run.crashes, run.lease_owner) == ("queued", 0, "")
    workroom.model.reset()
    workroom.model.script(text="after all")
    heir = Engine()
    heir.start()
    try:
        [run] = workroom.settle()
    finally:
        heir.stop()
    assert (run.state, run.attempt, workroom.said()) == ("completed", 2, ["after all"])


def test_a_heartbeat_keeps_only_what_is_named(workroom):
    run = claimed(workroom)
    expire(run)
    assert leases.extend("there:1:a", []) == {}
    assert leases.expired() == [run]
    assert leases.extend("there:1:a", [run.id]) == {run.id: leases.Held(1, stop=False)}
    assert leases.expired() == []


def test_a_run_that_lost_its_lease_is_let_go_within_a_heartbeat(workroom, engine):
    workroom.model.script(mode="drip", count=300, every=0.05)
    workroom.say("hello")
    workroom.wait(lambda: workroom.model.requests)
    time.sleep(0.2)
    Run.objects.update(lease_owner="elsewhere:1:a", lease_until=Now() + timedelta(seconds=60))
    workroom.model.wait_until_left()
    assert [row.type for row in workroom.log()] == ["TEXT_MESSAGE"]


def test_only_processes_of_this_host_that_are_gone_count_as_dead():
    host, pid, birth = owner_name().rsplit(":", 2)
    assert not is_dead(owner_name())
    assert is_dead(f"{host}:{pid}:{int(birth) + 1}")
    assert is_dead(f"{host}:999999999:{birth}")
    assert not is_dead(f"another:999999999:{birth}")


def test_what_a_run_needs_is_read_in_a_bounded_number_of_queries(workroom, django_assert_num_queries):
    run = claimed(workroom)
    prepared(run)
    with django_assert_num_queries(3):
        prepared(run)
    for number in range(20):
        workroom.say(f"more {number}")
    with django_assert_num_queries(3):
        prepared(run)


@pytest.mark.parametrize(("restarted", "crashes"), [(True, 0), (False, 1)])
def test_B7_a_run_that_could_not_be_stored_is_begun_again_and_only_a_restart_excuses_it(
    workroom, engine, monkeypatch, restarted, crashes
):
    """Else one that can never be stored would be begun for ever (B9)."""
    if restarted:
        # As if this PostgreSQL had been started a moment ago.
        monkeypatch.setattr(leases.PostgresStart, "template", "clock_timestamp()")
    run = claimed(workroom, owner=engine.owner)
    workroom.model.script(text="at last")
    workroom.settle()
    run.refresh_from_db()
    assert (run.state, run.attempt, run.crashes) == ("completed", 2, crashes)
