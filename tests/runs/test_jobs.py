"""Jobs: runs without a chat, by the same engine and in the same ledger; their end is told once (B1–B3, B6, B16)."""

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
from runs.models import LLMCall, Run, Step
from runs.services import claims, jobs, leases, runs
from runs.worker.engine import Engine
from tests.jobs import answer_job, begin_job
from tests.meanwhile import Meanwhile
from tests.realtime.recording import Recording
from tests.runs.jobroom import Jobroom
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def jobroom(workroom, monkeypatch):
    """A team whose jobs are watched; no worker yet."""
    room = Jobroom(workroom)
    monkeypatch.setattr("runs.hooks.job_ended._listeners", (room.hear,))
    return room


def expire(run):
    Run.objects.filter(pk=run.pk).update(lease_until=Now() - timedelta(seconds=1))


@pytest.mark.usefixtures("engine")
def test_a_job_is_done_and_its_end_is_told_once(jobroom):
    jobroom.workroom.model.script(text="It answers shorter.")
    lines = Message.objects.count()
    run = jobroom.done(jobroom.start())
    assert (run.state, run.answer, run.attempt, run.lease_owner) == ("completed", "It answers shorter.", 1, "")
    assert jobroom.told == [("completed", "It answers shorter.", "")]
    [asked] = jobroom.workroom.model.requests
    assert [(turn["role"], turn["content"]) for turn in asked.body["messages"]] == [
        ("system", SHIPPED["summarizer"].content.prompt), ("user", "What would be different?")
    ]  # fmt: skip
    assert "tools" not in asked.body
    assert (run.stamp["version"], run.stamp["model"], run.stamp["paid_by"]) == (1, "scripted", "workspace")
    assert Message.objects.count() == lines


@pytest.mark.usefixtures("engine")
def test_mission_B2_a_job_is_in_the_ledger_of_its_workspace(jobroom):
    jobroom.workroom.model.script(text="one two three")
    run = jobroom.done(jobroom.start(by=jobroom.workroom.team.bob))
    team, call = jobroom.workroom.team, LLMCall.objects.get()
    assert (call.run, call.agent, call.on_behalf_of, call.workspace) == (run, run.agent, team.bob, team.workspace)
    assert (call.output_tokens, run.output_tokens, call.finish) == (3, 3, "stop")
    assert Step.objects.get(run=run).state == "done"


@pytest.mark.usefixtures("engine")
def test_a_job_whose_model_fails_fails_with_its_code(jobroom):
    jobroom.workroom.model.script(mode="status", status=400, error="no such model")
    run = jobroom.done(jobroom.start())
    assert (run.state, run.error_code, run.answer) == ("failed", "bad_request", "")
    assert "no such model" in run.error
    assert jobroom.told == [("failed", "", "bad_request")]
    assert LLMCall.objects.get().error_code == "bad_request"


@pytest.mark.usefixtures("engine")
def test_a_job_without_an_answer_has_failed(jobroom):
    jobroom.workroom.model.script(tokens=[" "])
    run = jobroom.done(jobroom.start())
    assert (run.state, run.error_code) == ("failed", "empty_answer")
    assert jobroom.told == [("failed", "", "empty_answer")]


@pytest.mark.usefixtures("engine")
def test_a_job_that_calls_a_tool_is_told_that_there_is_none(jobroom):
    call = {"name": "current_time", "arguments": "{}"}
    jobroom.workroom.model.script(calls=[call], then={"text": "Then without."})
    run = jobroom.done(jobroom.start())
    assert (run.state, run.answer, run.steps_done) == ("completed", "Then without.", 2)
    assert LLMCall.objects.filter(run=run).count() == 2


@pytest.mark.usefixtures("engine")
def test_B16_a_job_at_work_is_stopped_within_a_second(jobroom):
    jobroom.workroom.model.script(mode="drip", count=400, every=0.02)
    run = jobroom.start()
    jobroom.workroom.wait(lambda: jobroom.workroom.model.requests)
    time.sleep(0.2)
    asked = time.time()
    jobs.stop_job(run_id=run.id, actor=jobroom.workroom.team.alice)
    assert jobroom.workroom.model.wait_until_left().left_at - asked < 1
    run = jobroom.done(run)
    assert (run.state, run.answer, run.stopped_by) == ("stopped", "", jobroom.workroom.team.alice)
    assert jobroom.told == [("stopped", "", "")]


def test_a_job_that_waits_is_stopped_at_once_and_stopping_again_changes_nothing(jobroom):
    run = jobroom.start()
    for _ in range(2):
        jobs.stop_job(run_id=run.id, actor=jobroom.workroom.team.alice)
    run.refresh_from_db()
    assert (run.state, run.stopped_by) == ("stopped", jobroom.workroom.team.alice)
    assert jobroom.told == [("stopped", "", "")]


def test_a_job_that_begins_while_it_is_being_stopped_is_asked_to_stop(jobroom):
    run = jobroom.start()
    jobroom.listen = lambda ended: begun_meanwhile(jobroom, run)
    jobs.stop_job(run_id=run.id, actor=jobroom.workroom.team.alice)
    run.refresh_from_db()
    assert (run.state, run.lease_owner, jobroom.told) == ("running", "there:1:a", [])
    assert run.stop_requested_at is not None


def begun_meanwhile(jobroom, run):
    jobroom.listen = lambda ended: None
    assert Meanwhile(lambda: claims.claim_run(run.id, "there:1:a")).result()


def test_an_operator_stops_a_job_and_cannot_repeat_it(jobroom):
    operator = jobroom.workroom.team.charlie
    run = runs.stop_any_run(jobroom.start(), operator)
    assert (run.state, run.stopped_by) == ("stopped", operator)
    with pytest.raises(Conflict):
        runs.stop_any_run(run, operator)
    with pytest.raises(Conflict):
        runs.retry_any_run(run, operator)


@pytest.mark.parametrize("gone", ["removed", "deactivated"])
def test_D5_a_job_for_somebody_who_left_asks_no_model(jobroom, engine, gone):
    team = jobroom.workroom.team
    jobroom.workroom.engine = None
    run = jobroom.start(by=team.bob)
    leave(team, gone)
    engine.submit([run.id])
    run = jobroom.done(run)
    assert (run.state, run.error_code, run.attempt) == ("failed", "place_lost", 0)
    assert jobroom.told == [("failed", "", "place_lost")]
    assert not jobroom.workroom.model.requests


def test_D5_who_leaves_while_the_model_answers_gets_no_answer(jobroom):
    run = begin_job(jobroom.start(by=jobroom.workroom.team.bob))
    leave(jobroom.workroom.team, "removed")
    with pytest.raises(RunNotAllowed):
        answer_job(run, "late")
    assert jobroom.told == []


def leave(team, how):
    if how == "deactivated":
        team.bob.is_active = False
        team.bob.save(update_fields=["is_active"])
        return
    with transaction.atomic():
        workspaces.remove_member(workspace=team.workspace, actor=team.alice, member_id=team.bob.id)


# --- exactly once -------------------------------------------------------------------------------------------------


def test_B3_who_lost_a_job_tells_nobody(jobroom):
    zombie = begin_job(jobroom.start())
    expire(zombie)
    assert leases.reclaim_run(leases.list_expired_runs()[0], leases.Owner.DEAD)
    heir = begin_job(zombie, "here:2:b")
    assert (heir.attempt, heir.crashes, heir.message_id) == (2, 1, zombie.message_id)
    with pytest.raises(LeaseLost):
        answer_job(zombie, "late")
    assert jobroom.told == []
    answer_job(heir, "mine")
    assert jobroom.told == [("completed", "mine", "")]


def test_B3_what_a_listener_did_goes_back_with_a_lost_lease(jobroom):
    run = begin_job(jobroom.start())
    title = jobroom.workroom.team.chat.title

    def taken_meanwhile(ended):
        jobroom.workroom.team.chat.title = "Another"
        jobroom.workroom.team.chat.save(update_fields=["title"])
        Run.objects.filter(pk=ended.pk).update(attempt=7)

    jobroom.listen = taken_meanwhile
    with pytest.raises(LeaseLost):
        answer_job(run, "late")
    jobroom.workroom.team.chat.refresh_from_db()
    run.refresh_from_db()
    assert (jobroom.workroom.team.chat.title, run.state, jobroom.told) == (title, "running", [])


def test_a_job_whose_worker_died_three_times_fails_and_is_told(jobroom):
    run = jobroom.start()
    for is_alone in (False, False, True):
        assert claims.claim_run(run.id, "there:1:a", isolated=is_alone)
        expire(run)
        leases.reclaim_run(leases.list_expired_runs()[0], leases.Owner.DEAD)
    run.refresh_from_db()
    assert (run.state, run.error_code, run.crashes) == ("failed", "crash_loop", 3)
    assert jobroom.told == [("failed", "", "crash_loop")]


@pytest.mark.usefixtures("engine")
def test_an_answer_that_cannot_be_taken_fails_and_that_is_told(jobroom):
    def refuse_answers(ended):
        if ended.state == "completed":
            raise ValueError("a listener's mistake")

    jobroom.listen = refuse_answers
    jobroom.workroom.model.script(text="An answer.")
    run = jobroom.done(jobroom.start())
    assert (run.state, run.error_code, run.answer) == ("failed", "internal", "")
    assert jobroom.told == [("failed", "", "internal")]
    call = LLMCall.objects.get()
    assert (call.error_code, call.tokens_estimated, call.output_tokens) == ("internal", False, 2)


@pytest.mark.usefixtures("engine")
def test_a_listener_that_always_breaks_keeps_no_job_alive(jobroom):
    jobroom.listen = lambda ended: 1 / 0
    run = jobroom.done(jobroom.start())
    assert (run.state, run.error_code, jobroom.told) == ("failed", "internal", [])


def test_B6_a_worker_that_ends_gives_its_job_back(jobroom):
    jobroom.workroom.model.script(mode="stall", times=1)
    first = Engine()
    first.start()
    run = jobroom.start()
    first.submit([run.id])
    jobroom.workroom.wait(lambda: jobroom.workroom.model.requests)
    first.stop()
    run.refresh_from_db()
    assert (run.state, run.crashes, run.lease_owner, jobroom.told) == ("queued", 0, "", [])
    jobroom.workroom.model.script(text="An answer.")
    second = Engine()
    second.start()
    try:
        second.submit([run.id])
        assert jobroom.done(run).answer == "An answer."
    finally:
        second.stop()


@pytest.mark.stack
def test_B1_a_killed_workers_job_is_taken_over_and_answered_once(jobroom, crew):
    jobroom.workroom.model.script(mode="stall", times=1)
    jobroom.workroom.model.script(text="An answer.")
    worker = crew()
    run = jobroom.start()
    jobroom.workroom.wait(lambda: jobroom.workroom.model.requests)
    worker.kill()
    crew()
    run = jobroom.done(run, 20)
    assert (run.state, run.answer, run.attempt, run.crashes) == ("completed", "An answer.", 2, 1)
    assert Step.objects.filter(run=run).count() == LLMCall.objects.filter(run=run).count() == 1


# --- beside each other --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("engine")
def test_one_job_at_a_time_works_on_a_subject(jobroom):
    jobroom.workroom.model.script(mode="drip", count=20, every=0.02)
    first = jobroom.start()
    second = jobroom.start(subject_id=first.trigger_id)
    third = jobroom.start()
    first, second, third = (jobroom.done(run) for run in (first, second, third))
    assert second.started_at > first.ended_at
    assert third.started_at < first.ended_at


@pytest.mark.usefixtures("engine")
def test_a_merge_that_streams_says_how_far_it_is_and_a_summary_does_not(jobroom):
    jobroom.workroom.model.script(mode="drip", count=60, every=0.02)
    with Recording(f"workspace:{jobroom.workroom.team.workspace.id}") as recording:
        merge = jobroom.done(jobroom.start("merge"))
        jobroom.done(jobroom.start("summary"))
        frames = [envelope for envelope in recording.heard() if envelope["kind"] == "progress"]
    said = [json.loads(envelope["text"]) for envelope in frames]
    assert {frame["merge_id"] for frame in said} == {str(merge.trigger_id)}
    done = [frame["done"] for frame in said]
    assert done == sorted(done)
    assert 2 <= len(done) <= 2 + 4 * 1.2 * 2
    assert 0 < done[-1] <= len(merge.answer)
    assert {frame["expected"] for frame in said} == {400}
