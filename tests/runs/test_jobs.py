"""Jobs: runs without a chat, with the same engine and ledger; their hook is called once (RUN1–RUN3, RUN6, RUN16)."""

import json
import time
from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models.functions import Now

from agents.services.shipped import SHIPPED
from chats.models import Message
from common.errors import Conflict
from runs.errors import LeaseLost, RunNotAllowed
from runs.models import Run, Step
from runs.services import claims, leases, runs
from suggestions.run_kinds import MERGE, SUMMARY
from tests.concurrency import ConcurrentTransaction
from tests.jobs import answer_job, claim_job
from tests.people import make_operator
from tests.realtime.recording import Recording
from tests.runs.job_environment import JobEnvironment
from usage.models import LLMCall
from worker.engine import Engine
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def job_environment(environment, monkeypatch):
    """A team whose jobs are recorded; no worker yet."""
    jobs = JobEnvironment(environment)
    monkeypatch.setattr("runs.hooks.runs_ended._listeners", (jobs.on_runs_ended,))
    return jobs


def expire(run):
    Run.objects.filter(pk=run.pk).update(lease_until=Now() - timedelta(seconds=1))


@pytest.mark.usefixtures("engine")
def test_a_job_is_executed_and_its_hook_called_once(job_environment):
    job_environment.environment.model.script(text="It answers shorter.")
    lines = Message.objects.count()
    run = job_environment.wait_for(job_environment.start())
    assert (run.state, run.answer, run.attempt, run.lease_owner) == ("completed", "It answers shorter.", 1, "")
    assert job_environment.recorded_ends == [("completed", "It answers shorter.", "")]
    [asked] = job_environment.environment.model.requests
    assert [(turn["role"], turn["content"]) for turn in asked.body["messages"]] == [
        ("system", SHIPPED["summarizer"].content.prompt),
        ("user", "What would be different?"),
    ]
    assert "tools" not in asked.body
    assert (run.stamp["version"], run.stamp["model"], run.stamp["paid_by"]) == (1, "scripted", "workspace")
    assert Message.objects.count() == lines


@pytest.mark.usefixtures("engine")
def test_a_job_is_in_the_ledger_of_its_workspace(job_environment):
    job_environment.environment.model.script(text="one two three")
    run = job_environment.wait_for(job_environment.start(by=job_environment.environment.team.bob))
    team, call = job_environment.environment.team, LLMCall.objects.get()
    assert (call.run_id, call.agent, call.on_behalf_of, call.workspace) == (run.id, run.agent, team.bob, team.workspace)
    assert (call.output_tokens, run.output_tokens, call.finish) == (3, 3, "stop")
    assert Step.objects.get(run=run).state == "done"


@pytest.mark.usefixtures("engine")
def test_a_job_whose_model_fails_fails_with_its_code(job_environment):
    job_environment.environment.model.script(mode="status", status=400, error="no such model")
    run = job_environment.wait_for(job_environment.start())
    assert (run.state, run.error_code, run.answer) == ("failed", "bad_request", "")
    assert "no such model" in run.error
    assert job_environment.recorded_ends == [("failed", "", "bad_request")]
    assert LLMCall.objects.get().error_code == "bad_request"


@pytest.mark.usefixtures("engine")
def test_a_job_without_an_answer_fails(job_environment):
    job_environment.environment.model.script(tokens=[" "])
    run = job_environment.wait_for(job_environment.start())
    assert (run.state, run.error_code) == ("failed", "empty_answer")
    assert job_environment.recorded_ends == [("failed", "", "empty_answer")]


@pytest.mark.usefixtures("engine")
def test_a_job_that_calls_a_tool_reads_that_there_is_none(job_environment):
    call = {"name": "current_time", "arguments": "{}"}
    job_environment.environment.model.script(calls=[call], then={"text": "Then without."})
    run = job_environment.wait_for(job_environment.start())
    assert (run.state, run.answer, run.steps_done) == ("completed", "Then without.", 2)
    assert LLMCall.objects.filter(run_id=run.id).count() == 2


@pytest.mark.usefixtures("engine")
def test_RUN16_a_running_job_is_stopped_in_the_middle_of_an_answer(job_environment):
    job_environment.environment.model.script(mode="drip", count=400, every=0.02)
    run = job_environment.start()
    job_environment.environment.wait(lambda: job_environment.environment.model.requests)
    time.sleep(0.2)
    runs.stop_job(job_environment.environment.team.alice, run.id)
    job_environment.environment.model.wait_until_left()
    run = job_environment.wait_for(run)
    assert (run.state, run.answer, run.stopped_by) == ("stopped", "", job_environment.environment.team.alice)
    assert job_environment.recorded_ends == [("stopped", "", "")]


def test_a_queued_job_is_stopped_at_once_and_stopping_it_again_changes_nothing(job_environment):
    run = job_environment.start()
    for _ in range(2):
        runs.stop_job(job_environment.environment.team.alice, run.id)
    run.refresh_from_db()
    assert (run.state, run.stopped_by) == ("stopped", job_environment.environment.team.alice)
    assert job_environment.recorded_ends == [("stopped", "", "")]


def test_a_job_that_is_claimed_while_it_is_stopped_gets_a_stop_request(job_environment):
    run = job_environment.start()
    job_environment.listen = lambda ended: claim_concurrently(job_environment, run)
    runs.stop_job(job_environment.environment.team.alice, run.id)
    run.refresh_from_db()
    assert (run.state, run.lease_owner, job_environment.recorded_ends) == ("running", "there:1:a", [])
    assert run.stop_requested_at is not None


def claim_concurrently(job_environment, run):
    job_environment.listen = lambda ended: None
    assert ConcurrentTransaction(lambda: claims.claim_run(run.id, "there:1:a")).result()


def test_an_operator_can_stop_a_job_and_cannot_retry_it(job_environment):
    operator = make_operator()
    run = runs.stop_run(operator, job_environment.start().id, as_operator=True)
    assert (run.state, run.stopped_by) == ("stopped", operator)
    assert runs.stop_run(operator, run.pk, as_operator=True) == run
    with pytest.raises(Conflict):
        runs.retry_run(operator, run.pk, as_operator=True)


@pytest.mark.parametrize("gone", ["removed", "deactivated"])
def test_SEC5_a_job_for_a_person_who_left_sends_no_request(job_environment, engine, gone):
    team = job_environment.environment.team
    job_environment.environment.engine = None
    run = job_environment.start(by=team.bob)
    leave(team, gone)
    engine.submit([run.id])
    run = job_environment.wait_for(run)
    assert (run.state, run.error_code, run.attempt) == ("failed", "rights_lost", 0)
    assert job_environment.recorded_ends == [("failed", "", "rights_lost")]
    assert not job_environment.environment.model.requests


def test_SEC5_a_person_who_leaves_while_the_model_answers_gets_no_answer(job_environment):
    run = claim_job(job_environment.start(by=job_environment.environment.team.bob))
    leave(job_environment.environment.team, "removed")
    with pytest.raises(RunNotAllowed):
        answer_job(run, "late")
    assert job_environment.recorded_ends == []


def leave(team, how):
    if how == "deactivated":
        team.bob.is_active = False
        team.bob.save(update_fields=["is_active"])
        return
    with transaction.atomic():
        workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)


# --- exactly once -------------------------------------------------------------------------------------------------


def test_RUN3_a_worker_that_lost_a_job_calls_no_hook(job_environment):
    zombie = claim_job(job_environment.start())
    expire(zombie)
    assert leases.reclaim_run(leases.list_expired_runs()[0], leases.LeaseOwnerState.DEAD)
    heir = claim_job(zombie, "here:2:b")
    assert (heir.attempt, heir.crashes, heir.message_id) == (2, 1, zombie.message_id)
    with pytest.raises(LeaseLost):
        answer_job(zombie, "late")
    assert job_environment.recorded_ends == []
    answer_job(heir, "mine")
    assert job_environment.recorded_ends == [("completed", "mine", "")]


def test_RUN3_the_changes_of_listeners_are_rolled_back_with_a_lost_lease(job_environment):
    run = claim_job(job_environment.start())
    title = job_environment.environment.team.chat.title

    def claim_by_other(ended):
        job_environment.environment.team.chat.title = "Another"
        job_environment.environment.team.chat.save(update_fields=["title"])
        Run.objects.filter(pk=ended.pk).update(attempt=7)

    job_environment.listen = claim_by_other
    with pytest.raises(LeaseLost):
        answer_job(run, "late")
    job_environment.environment.team.chat.refresh_from_db()
    run.refresh_from_db()
    assert (job_environment.environment.team.chat.title, run.state, job_environment.recorded_ends) == (
        title,
        "running",
        [],
    )


def test_a_job_whose_worker_died_three_times_fails_and_calls_its_hook(job_environment):
    run = job_environment.start()
    for is_alone in (False, False, True):
        assert claims.claim_run(run.id, "there:1:a", isolated=is_alone)
        expire(run)
        leases.reclaim_run(leases.list_expired_runs()[0], leases.LeaseOwnerState.DEAD)
    run.refresh_from_db()
    assert (run.state, run.error_code, run.crashes) == ("failed", "crash_loop", 3)
    assert job_environment.recorded_ends == [("failed", "", "crash_loop")]


@pytest.mark.usefixtures("engine")
def test_a_job_whose_answer_is_refused_by_a_listener_fails_and_calls_its_hook(job_environment):
    def refuse_answers(ended):
        if ended.state == "completed":
            raise ValueError("a listener's mistake")

    job_environment.listen = refuse_answers
    job_environment.environment.model.script(text="An answer.")
    run = job_environment.wait_for(job_environment.start())
    assert (run.state, run.error_code, run.answer) == ("failed", "internal", "")
    assert job_environment.recorded_ends == [("failed", "", "internal")]
    call = LLMCall.objects.get()
    assert (call.error_code, call.tokens_estimated, call.output_tokens) == ("internal", False, 2)


@pytest.mark.usefixtures("engine")
def test_a_job_ends_although_its_listener_always_fails(job_environment):
    job_environment.listen = lambda ended: 1 / 0
    run = job_environment.wait_for(job_environment.start())
    assert (run.state, run.error_code, job_environment.recorded_ends) == ("failed", "internal", [])


def test_RUN6_a_worker_that_ends_queues_its_job_again(job_environment):
    job_environment.environment.model.script(mode="stall", times=1)
    first = Engine()
    first.start()
    run = job_environment.start()
    first.submit([run.id])
    job_environment.environment.wait(lambda: job_environment.environment.model.requests)
    first.stop()
    run.refresh_from_db()
    assert (run.state, run.crashes, run.lease_owner, job_environment.recorded_ends) == ("queued", 0, "", [])
    job_environment.environment.model.script(text="An answer.")
    second = Engine()
    second.start()
    try:
        second.submit([run.id])
        assert job_environment.wait_for(run).answer == "An answer."
    finally:
        second.stop()


@pytest.mark.stack
def test_RUN1_the_job_of_a_killed_worker_is_reclaimed_and_answered_once(job_environment, start_worker):
    job_environment.environment.model.script(mode="stall", times=1)
    job_environment.environment.model.script(text="An answer.")
    worker = start_worker()
    run = job_environment.start()
    job_environment.environment.wait(lambda: job_environment.environment.model.requests)
    worker.kill()
    start_worker()
    run = job_environment.wait_for(run, 20)
    assert (run.state, run.answer, run.attempt, run.crashes) == ("completed", "An answer.", 2, 1)
    assert Step.objects.filter(run=run).count() == LLMCall.objects.filter(run_id=run.id).count() == 1


# --- concurrent jobs --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("engine")
def test_the_jobs_of_a_subject_run_one_at_a_time(job_environment):
    job_environment.environment.model.script(mode="drip", count=20, every=0.02)
    first = job_environment.start()
    second = job_environment.start(subject_id=first.trigger_id)
    third = job_environment.start()
    first, second, third = (job_environment.wait_for(run) for run in (first, second, third))
    assert second.started_at > first.ended_at
    assert third.started_at < first.ended_at


@pytest.mark.usefixtures("engine")
def test_a_merge_that_streams_reports_progress_and_a_summary_does_not(job_environment):
    answer = json.dumps({"segments": [{"text": "Be brief.\n" * 30, "from": []}]})
    tokens = [answer[at : at + 6] for at in range(0, len(answer), 6)]
    job_environment.environment.model.script(mode="drip", tokens=tokens, every=0.02)
    data = {"production": "Be brief.\n" * 30, "suggestions": []}
    with Recording(f"workspace:{job_environment.environment.team.workspace.id}") as recording:
        merge = job_environment.wait_for(job_environment.start(MERGE, data=data))
        job_environment.wait_for(job_environment.start(SUMMARY))
        frames = [envelope for envelope in recording.get_received() if envelope["kind"] == "progress"]
    progress = [json.loads(envelope["text"]) for envelope in frames]
    assert {frame["merge_id"] for frame in progress} == {str(merge.trigger_id)}
    done = [frame["done"] for frame in progress]
    assert done == sorted(done)
    assert 2 <= len(done) <= 2 + 4 * 1.2 * 2
    assert 0 < done[-1] <= len(merge.answer)
    assert {frame["expected"] for frame in progress} == {400}
