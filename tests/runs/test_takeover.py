"""Leases: a worker that has lost one writes nothing; the worker that reclaims the run writes one message (RUN1, RUN3, RUN6)."""

import asyncio
import threading
import time
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models.functions import Now

from chats.models import Message
from chats.services.text_sources import TextSources
from common.db_executor import DatabaseExecutor
from common.processes import get_lease_owner, is_dead
from common.secrets import Secret
from llm.messages import Answer, ToolCall, Usage
from llm.protocol import Endpoint
from runs.errors import LeaseLost
from runs.models import Run, Step
from runs.runtime.conversation import make_storable
from runs.runtime.history import StartedCalls
from runs.runtime.messages import PartialMessage
from runs.runtime.steps import LoopEnded, ModelAnswered, StepId, ToolsFinished, ToolsStarted
from runs.services import claims, leases
from tests.factories.runs import RunFactory, StepFactory
from tests.recorder import Recorder, prepare_run
from tools.interface import ToolOutput
from usage.models import LLMCall
from usage.owners import ResolvedModel
from worker.engine import Engine
from worker.isolation import IsolatedProcesses
from worker.sweeper import Sweeper

pytestmark = pytest.mark.django_db(transaction=True)

MODEL = ResolvedModel(Endpoint("demo", None, Secret(""), "demo"), "demo")


def claim(environment, owner="there:1:a", text="hello"):
    engine, environment.engine = environment.engine, None
    environment.post(text)
    environment.engine = engine
    run = claims.claim_run(environment.runs()[-1].id, owner)
    assert run is not None
    return run


def claimed(environment, owner="there:1:a", text="hello"):
    """Return the row of a claimed run."""
    return claim(environment, owner, text).row


def answer(run, text="", *calls):
    step = StepId(run.steps_done + 1, run.message_id)
    made = tuple(ToolCall("", name, arguments, index=n) for n, (name, arguments) in enumerate(calls))
    return ModelAnswered(step, make_storable(Answer(text, "", made, Usage(1, 1), "stop", "demo"), step))


def expire(run):
    Run.objects.filter(pk=run.pk).update(lease_until=Now() - timedelta(seconds=1))


def test_RUN3_a_worker_that_lost_its_lease_writes_nothing(environment):
    zombie = claimed(environment)
    recorder = Recorder(zombie, MODEL)
    expire(zombie)
    assert leases.reclaim_run(leases.list_expired_runs()[0], leases.LeaseOwnerState.DEAD)
    found = claims.claim_run(zombie.id, "here:2:b")
    assert found is not None
    heir = found.row
    assert (heir.attempt, heir.crashes, heir.message_id) == (2, 1, zombie.message_id)
    before = (list(Message.objects.values()), list(Run.objects.values()), list(Step.objects.values()))
    received = answer(zombie, "too late", ("current_time", '{"timezone": "UTC"}'))
    writes = [
        lambda: recorder.record_answer(received),
        lambda: recorder.record_tool_start(ToolsStarted(received.answer.calls)),
        lambda: recorder.record_tool_results(ToolsFinished(())),
        lambda: recorder.record_loop_end(LoopEnded("failed", "cut", "late"), PartialMessage(zombie.message_id, "late")),
        lambda: recorder.run_in_transaction(received.answer.calls[0], lambda: ToolOutput("late"), 5),
        lambda: leases.requeue_run(zombie),
        lambda: leases.fail_run(zombie, "cut", "late"),
    ]
    for write in writes:
        with pytest.raises(LeaseLost):
            write()
    assert (list(Message.objects.values()), list(Run.objects.values()), list(Step.objects.values())) == before
    assert leases.extend_leases("there:1:a", [zombie.id]) == {}


def test_RUN1_a_reclaimed_run_writes_the_same_message_once(environment, engine):
    dead = claimed(environment, owner="elsewhere:1:a")
    expire(dead)
    environment.model.script(text="the answer")
    [run] = environment.wait_until_idle()
    assert (run.state, run.attempt, run.crashes) == ("completed", 2, 1)
    [message] = [row for row in environment.log("TEXT_MESSAGE") if row.author == environment.team.robin]
    assert (message.id, message.text) == (dead.message_id, "the answer")


def test_RUN1_a_reclaimed_run_continues_after_the_last_stored_step(environment, engine):
    dead = claimed(environment, owner="elsewhere:1:a")
    Recorder(dead, MODEL).record_answer(answer(dead, "Let me look.", ("current_time", '{"timezone": "Asia/Tokyo"}')))
    expire(dead)
    environment.wait_until_idle()
    types = ["TEXT_MESSAGE", "TEXT_MESSAGE", "TOOL_CALL", "TOOL_RESPONSE", "TEXT_MESSAGE"]
    assert [row.type for row in environment.log()] == types
    assert len(environment.model.requests) == 1


def test_RUN15_a_started_call_that_may_not_be_repeated_is_interrupted(environment, engine, monkeypatch):
    from system_tools.current_time import CurrentTime

    monkeypatch.setattr(CurrentTime, "effect", "write")
    dead = claimed(environment, owner="elsewhere:1:a")
    recorder = Recorder(dead, MODEL)
    received = answer(dead, "", ("current_time", '{"timezone": "Asia/Tokyo"}'))
    recorder.record_answer(received)
    recorder.record_tool_start(ToolsStarted(received.answer.calls))
    expire(dead)
    environment.wait_until_idle()
    [result] = environment.log("TOOL_RESPONSE")
    assert result.payload["status"] == "interrupted"


@pytest.mark.parametrize(("effect", "requests"), [("write", 1), ("read", 2)])
def test_RUN11_a_tool_that_wrote_is_known_after_a_takeover_although_the_agent_has_lost_it(
    environment, engine, effect, requests
):
    """An answer that breaks off is requested once more only if no tool has written."""
    dead = claimed(environment, owner="elsewhere:1:a")
    recorder = Recorder(dead, MODEL)
    received = answer(dead, "", ("publish_page", "{}"))
    recorder.record_answer(received)
    recorder.record_tool_start(ToolsStarted(received.answer.calls, effect))
    recorder.run_in_transaction(received.answer.calls[0], lambda: ToolOutput("done"), 5)
    environment.model.script(mode="cut", after=2, text="so far so good")
    expire(dead)
    [run] = environment.wait_until_idle()
    assert (run.state, run.error_code, len(environment.model.requests)) == ("failed", "cut", requests)


def test_RUN15_a_tool_that_wrote_when_it_was_called_is_not_repeated_although_it_reads_now(environment, engine):
    dead = claimed(environment, owner="elsewhere:1:a")
    recorder = Recorder(dead, MODEL)
    received = answer(dead, "", ("current_time", '{"timezone": "Asia/Tokyo"}'))
    recorder.record_answer(received)
    recorder.record_tool_start(ToolsStarted(received.answer.calls, "write"))
    expire(dead)
    environment.wait_until_idle()
    [result] = environment.log("TOOL_RESPONSE")
    assert result.payload["status"] == "interrupted"


def test_RUN15_the_result_that_a_tool_stored_before_the_crash_is_kept(environment, engine):
    dead = claimed(environment, owner="elsewhere:1:a")
    recorder = Recorder(dead, MODEL)
    received = answer(dead, "", ("current_time", '{"timezone": "Asia/Tokyo"}'))
    recorder.record_answer(received)
    recorder.record_tool_start(ToolsStarted(received.answer.calls))
    recorder.run_in_transaction(received.answer.calls[0], lambda: ToolOutput("done before"), 5)
    expire(dead)
    environment.wait_until_idle()
    [result] = environment.log("TOOL_RESPONSE")
    assert (result.payload["status"], result.payload["text"]) == ("ok", "done before")
    assert "quotes_agents" not in result.payload


def test_SEC9_a_stored_result_with_texts_of_agents_is_still_known_as_such_after_a_crash(environment, engine):
    dead = claimed(environment, owner="elsewhere:1:a")
    recorder = Recorder(dead, MODEL)
    received = answer(dead, "", ("current_time", '{"timezone": "Asia/Tokyo"}'))
    recorder.record_answer(received)
    recorder.record_tool_start(ToolsStarted(received.answer.calls))
    output = ToolOutput("https://evil.example/?q=secret", quotes_agents=True)
    recorder.run_in_transaction(received.answer.calls[0], lambda: output, 5)
    expire(dead)
    environment.wait_until_idle()
    [result] = environment.log("TOOL_RESPONSE")
    assert (result.payload["text"], result.payload["quotes_agents"]) == (output.text, True)
    assert not TextSources(environment.team.chat.id, "").is_url_allowed(output.text)


def test_a_run_whose_worker_died_three_times_fails_visibly(environment):
    run = claimed(environment)
    for is_alone in (False, True):
        expire(run)
        leases.reclaim_run(leases.list_expired_runs()[0], leases.LeaseOwnerState.DEAD)
        # The third time it is isolated, so that no other run can cause the crash (RUN9).
        assert claims.claim_run(run.id, "there:1:a", isolated=not is_alone) is None
        assert claims.claim_run(run.id, "there:1:a", isolated=is_alone)
    expire(run)
    leases.reclaim_run(leases.list_expired_runs()[0], leases.LeaseOwnerState.DEAD)
    run.refresh_from_db()
    assert (run.state, run.error_code, run.crashes) == ("failed", "crash_loop", 3)
    assert [row.type for row in environment.log()] == ["TEXT_MESSAGE", "RUN_FAILED"]


def test_a_stop_that_no_worker_received_ends_the_run_when_it_is_reclaimed(environment):
    from runs.services import runs

    run = claimed(environment)
    runs.stop_run(actor=environment.team.alice, run_id=run.id)
    expire(run)
    leases.reclaim_run(leases.list_expired_runs()[0], leases.LeaseOwnerState.DEAD)
    run.refresh_from_db()
    assert (run.state, run.crashes) == ("stopped", 1)


def test_a_crashed_run_stays_before_later_runs_of_its_key(environment):
    first = claimed(environment)
    environment.post("second")
    expire(first)
    leases.reclaim_run(leases.list_expired_runs()[0], leases.LeaseOwnerState.DEAD)
    later = environment.runs()[-1]
    again = claims.claim_run(later.id, "here:2:b")
    assert again is not None
    assert again.row == first
    # It reads the chat again, and the queued run has nothing left to do.
    assert [run.state for run in environment.runs()] == ["running", "completed"]


def test_two_workers_that_reclaim_a_run_at_once_count_one_crash(environment):
    run = claimed(environment)
    expire(run)
    [stale] = leases.list_expired_runs()
    assert [
        leases.reclaim_run(stale, leases.LeaseOwnerState.DEAD),
        leases.reclaim_run(stale, leases.LeaseOwnerState.DEAD),
    ] == [True, False]
    run.refresh_from_db()
    assert (run.state, run.crashes) == ("queued", 1)


def test_RUN6_a_process_that_shuts_down_queues_its_runs_again_without_a_crash(environment, engine):
    environment.model.script(mode="drip", count=300, every=0.05)
    environment.post("hello")
    environment.wait(lambda: environment.model.requests)
    engine.stop()
    [run] = environment.runs()
    assert (run.state, run.crashes, run.lease_owner) == ("queued", 0, "")
    # The provider bills the request that was given up.
    call = LLMCall.objects.get()
    assert (call.error_code, call.attempt, call.tokens_estimated) == ("stopped", 1, True)
    assert (run.input_tokens, run.output_tokens) == (call.input_tokens, call.output_tokens)
    environment.model.reset()
    environment.model.script(text="after all")
    heir = Engine()
    heir.start()
    try:
        [run] = environment.wait_until_idle()
    finally:
        heir.stop()
    assert (run.state, run.attempt, environment.list_answers()) == ("completed", 2, ["after all"])


def test_a_heartbeat_extends_only_the_leases_of_the_given_runs(environment):
    run = claimed(environment)
    expire(run)
    assert leases.extend_leases("there:1:a", []) == {}
    assert leases.list_expired_runs() == [run]
    kept = leases.extend_leases("there:1:a", [run.id])
    assert {id: (kept_run.attempt, kept_run.stop_requested_at) for id, kept_run in kept.items()} == {run.id: (1, None)}
    assert leases.list_expired_runs() == []


def test_a_run_that_lost_its_lease_is_cancelled_within_a_heartbeat(environment, engine):
    environment.model.script(mode="drip", count=300, every=0.05)
    environment.post("hello")
    environment.wait(lambda: environment.model.requests)
    time.sleep(0.2)
    Run.objects.update(lease_owner="elsewhere:1:a", lease_until=Now() + timedelta(seconds=60))
    environment.model.wait_until_left()
    assert [row.type for row in environment.log()] == ["TEXT_MESSAGE"]


def test_only_ended_processes_of_this_host_count_as_dead():
    host, pid, birth = get_lease_owner().rsplit(":", 2)
    assert not is_dead(get_lease_owner())
    assert is_dead(f"{host}:{pid}:{int(birth) + 1}")
    assert is_dead(f"{host}:999999999:{birth}")
    assert not is_dead(f"another:999999999:{birth}")


def test_preparing_a_run_takes_a_fixed_number_of_queries(environment, django_assert_num_queries):
    run = claim(environment)
    prepare_run(run)
    with django_assert_num_queries(2):  # the log and the participants
        prepare_run(run)
    for number in range(20):
        environment.post(f"more {number}")
    with django_assert_num_queries(2):
        prepare_run(run)


def test_storing_an_answer_takes_a_fixed_number_of_queries(environment, django_assert_num_queries):
    claimed_run = claim(environment)
    recorder, run = Recorder(claimed_run, MODEL), claimed_run.row
    # The beginning of the transaction, the lock of the chat with rights, the run, all that is written, the commit.
    with django_assert_num_queries(5):
        recorder.record_answer(answer(run, "Let me look.", ("current_time", '{"timezone": "Asia/Tokyo"}')))
    step = StepId(2, Run.objects.get(pk=run.pk).get_message_id())
    with django_assert_num_queries(5):
        recorder.record_answer(ModelAnswered(step, Answer("Nine.", "It is nine.", (), Usage(1, 1), "stop", "demo")))
    assert Run.objects.get(pk=run.pk).state == "completed"
    assert list(LLMCall.objects.order_by("pk").values_list("step_number", flat=True)) == [1, 2]
    assert list(Step.objects.order_by("number").values_list("number", "kind")) == [(1, "llm"), (2, "llm")]


@pytest.mark.parametrize("others", [2, 20])
def test_preparing_a_run_of_a_tree_takes_one_query_more(environment, django_assert_num_queries, others):
    claimed_run = claim(environment)
    run = claimed_run.row
    run.root = RunFactory.create(ended=True, chat=run.chat, agent=run.agent)
    for _ in range(others):
        StepFactory.create(run=RunFactory.create(ended=True, chat=run.chat, agent=run.agent, root=run.root))
    prepare_run(claimed_run)
    with django_assert_num_queries(3):
        assert prepare_run(claimed_run).started_calls == StartedCalls(of_other_runs=others)


def test_a_run_that_could_not_be_stored_is_queued_again_without_a_crash(environment, engine):
    run = claimed(environment, owner=engine.owner)
    environment.model.script(text="at last")
    environment.wait_until_idle()
    run.refresh_from_db()
    assert (run.state, run.attempt, run.crashes) == ("completed", 2, 0)


def test_a_run_that_can_never_be_stored_ends_at_its_time_limit(environment, engine):
    """A run for which no crash is counted is not started for ever."""
    run = claimed(environment, owner=engine.owner)
    Run.objects.update(started_at=Now() - timedelta(hours=2))
    environment.wait_until_idle()
    run.refresh_from_db()
    assert (run.state, run.error_code, run.crashes) == ("failed", "time_limit", 0)


@pytest.fixture
def refused_steps(db):
    """Let PostgreSQL refuse all steps, as if they were too large: 54000, program limit exceeded."""
    with connection.cursor() as cursor:
        cursor.execute("""
            CREATE FUNCTION refuse_step() RETURNS trigger LANGUAGE plpgsql
                AS $$ BEGIN RAISE EXCEPTION 'too large' USING ERRCODE = '54000'; END $$;
            CREATE TRIGGER refuse_step BEFORE INSERT ON runs_step FOR EACH ROW EXECUTE FUNCTION refuse_step()
        """)
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION refuse_step CASCADE")


@pytest.mark.usefixtures("engine", "refused_steps")
def test_a_refusal_by_the_database_ends_the_run_at_its_first_attempt(environment):
    environment.post("hello")
    [run] = environment.wait_until_idle()
    assert (run.state, run.error_code, run.attempt, run.crashes) == ("failed", "internal", 1, 0)


def stalled(owner):
    """Sweep a run of this owner with an expired lease, and return the run."""
    expire(run := Run.objects.get())
    Run.objects.update(lease_owner=owner)
    engine: Any = IdleEngine()
    Sweeper(engine, IsolatedProcesses(1))._reclaim_runs()
    run.refresh_from_db()
    return run


class IdleEngine:
    """The engine of a process that executes no runs and claims none."""

    owner, free_slots = "here:1:a", 0
    executing_ids: list[UUID] = []
    full_ids: list[UUID] = []

    def submit(self, run_ids):
        assert not list(run_ids)

    def report_states(self, runs):
        pass


def test_a_living_process_that_did_not_extend_its_lease_has_not_crashed(environment):
    claimed(environment)
    run = stalled(get_lease_owner())
    assert (run.state, run.crashes, run.presumed_dead) == ("queued", 0, "")


def test_the_death_of_a_process_of_this_host_is_a_crash_of_its_runs(environment):
    claimed(environment)
    host, pid, birth = get_lease_owner().rsplit(":", 2)
    run = stalled(f"{host}:{pid}:{int(birth) + 1}")
    assert (run.state, run.crashes, run.presumed_dead) == ("queued", 1, "")


def test_a_process_of_another_host_is_presumed_dead_and_withdraws_the_crash_if_it_lives(environment):
    claimed(environment)
    run = stalled("elsewhere:1:a")
    assert (run.state, run.crashes, run.presumed_dead) == ("queued", 1, "elsewhere:1:a")
    assert leases.subtract_presumed_crashes("elsewhere:2:a") == 0
    assert [leases.subtract_presumed_crashes("elsewhere:1:a") for _ in range(2)] == [1, 0]
    run.refresh_from_db()
    assert (run.crashes, run.presumed_dead) == (0, "")


async def test_a_memory_error_is_reported_although_the_caller_was_cancelled():
    """The cancelled run does not get the exception; the process has to end all the same (RUN9)."""
    reports, has_begun, go_on = [], threading.Event(), threading.Event()
    executor = DatabaseExecutor(1, "test", on_memory_error=lambda: reports.append(True))

    def run_out():
        has_begun.set()
        go_on.wait(60)
        raise MemoryError

    caller = asyncio.ensure_future(executor(run_out))
    await asyncio.to_thread(has_begun.wait, 10)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    go_on.set()
    await executor(lambda: None)
    assert reports == [True]
