"""Stop and retry: by the control message, by the heartbeat, of queued runs, and who may (RUN16)."""

import threading
import time

import pytest
import redis
from django.db import transaction

from chats import services as chats
from chats.models import Message
from common.errors import Code, Conflict, Forbidden, NotFound
from events.control import send_stop
from events.models import AuditRecord
from events.rows import Role
from events.stream import get_partials
from llm.tokens import estimate_tokens
from runs.kinds.chat import ChatRun
from runs.services import runs
from tests.people import make_person
from tests.runs.test_dispatch import sent_run_ids
from usage.models import LLMCall
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db(transaction=True)


def dripping(environment, **more):
    """A run in the middle of a long answer."""
    environment.model.script(mode="drip", count=400, every=0.02, **more)
    environment.post("hello")
    environment.wait(lambda: environment.model.requests)
    run = environment.runs()[-1]
    environment.wait(lambda: any("w1 " in partial.text for partial in get_partials([run.id])))
    return run


def stop(environment, run, by=None):
    return runs.stop_run(actor=by or environment.team.alice, run_id=run.id)


def hold(monkeypatch, step):
    """Let this step wait after it was stored. Return an event for that, and one that lets it go on."""
    storing, go_on, store = threading.Event(), threading.Event(), getattr(ChatRun, step)

    def store_slowly(*what):
        saved = store(*what)
        storing.set()
        assert go_on.wait(60)
        return saved

    monkeypatch.setattr(ChatRun, step, store_slowly)
    return storing, go_on


@pytest.mark.usefixtures("engine")
def test_RUN16_stop_closes_the_connection_to_the_model_and_keeps_the_streamed_text(environment):
    run = dripping(environment)
    stop(environment, run)
    environment.model.wait_until_left()
    [run] = environment.wait_until_idle()
    assert (run.state, run.stopped_by, run.lease_owner) == ("stopped", environment.team.alice, "")
    answer, line = environment.log()[1:]
    assert answer.payload["incomplete"] is True
    assert answer.text.startswith("w0 w1 ")
    assert (line.type, line.payload["actor_name"], line.payload["target_name"]) == ("RUN_STOPPED", "Alice", "Robin")
    # The provider bills the request and the streamed text.
    call = LLMCall.objects.get(run_id=run.id)
    assert (call.error_code, call.tokens_estimated, call.on_behalf_of) == ("stopped", True, environment.team.alice)
    assert call.output_tokens == estimate_tokens(answer.text)
    assert (run.input_tokens, run.output_tokens) == (call.input_tokens, call.output_tokens)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("step", ["record_answer", "record_retry"])
def test_RUN16_a_stop_while_a_step_is_stored_keeps_the_step_and_ends_the_run_at_once(environment, monkeypatch, step):
    """The step is stored, then the run ends, and each request has one ledger entry."""
    storing, go_on = hold(monkeypatch, step)
    environment.model.script(calls=[{"name": "current_time", "arguments": '{"timezone": "Asia/Tokyo"}'}])
    if step == "record_retry":
        environment.model.script(mode="cleancut", after=2, text="so far so good", times=1)
    environment.post("hello")
    assert storing.wait(60)
    [run] = environment.runs()
    stop(environment, run)
    [runner] = environment.engine._runners.values()
    environment.wait(lambda: runner._cancel_reason == "stop")
    go_on.set()
    [run] = environment.wait_until_idle()
    assert (run.state, run.attempt) == ("stopped", 1 if step == "record_answer" else 2)
    codes = list(LLMCall.objects.values_list("error_code", flat=True))
    assert codes == ([""] if step == "record_answer" else ["cut"])


@pytest.mark.parametrize("is_shutdown", [False, True])
@pytest.mark.parametrize("step", ["record_answer", "record_loop_end"])
def test_a_stop_or_shutdown_while_the_end_is_stored_does_not_delay_the_next_run(
    environment, engine, settings, monkeypatch, step, is_shutdown
):
    settings.RUN_HEARTBEAT, settings.RUN_LEASE, settings.SWEEP_EVERY = 60, 200, 60
    time.sleep(0.6)  # the last beat and the last sweep under the earlier settings
    storing, go_on = hold(monkeypatch, step)
    environment.model.script(text="second answer")
    answer = {"mode": "status", "status": 400} if step == "record_loop_end" else {"text": "first answer"}
    environment.model.script(**answer, times=1)
    environment.post("first")
    assert storing.wait(60)
    environment.engine = None
    environment.post("second")
    first, second = environment.runs()
    [runner] = engine._runners.values()
    tasks = redis.from_url(settings.REDIS_URL)
    tasks.delete("queued-runs")
    if is_shutdown:
        stopping = threading.Thread(target=engine.stop)
        stopping.start()
    else:
        send_stop(first.id)
    environment.wait(lambda: runner._cancel_reason)
    go_on.set()
    if is_shutdown:
        stopping.join()
        assert str(second.id) in sent_run_ids(tasks)
    else:
        environment.wait_until_idle()
        assert environment.list_answers()[-1:] == ["second answer"]


def test_RUN16_the_control_message_alone_stops_a_run(environment, engine, settings):
    settings.RUN_HEARTBEAT = 60
    settings.RUN_LEASE = 200
    time.sleep(0.6)  # the last beat under the earlier setting
    run = dripping(environment)
    stop(environment, run)
    environment.model.wait_until_left()  # long before the next heartbeat
    assert environment.wait_until_idle()[0].state == "stopped"


def test_RUN16_a_stop_that_comes_between_the_claim_and_the_execution_is_not_lost(environment, engine, settings):
    settings.RUN_HEARTBEAT = 60
    settings.RUN_LEASE = 200
    settings.SWEEP_EVERY = 60
    time.sleep(0.6)  # the last beat and the last sweep under the earlier settings
    environment.model.script(mode="drip", count=400, every=0.02)
    environment.engine = None
    environment.post("hello")
    [run] = environment.runs()
    send_stop(run.id)
    environment.wait(lambda: engine._stopped_before_execution.get(run.id, False))
    engine.submit([run.id])
    assert [run.state for run in environment.wait_until_idle()] == ["stopped"]


def test_RUN16_the_heartbeat_alone_stops_a_run(environment, engine, monkeypatch):
    monkeypatch.setattr(runs, "send_stop", lambda root_id: None)
    run = dripping(environment)
    stop(environment, run)
    environment.model.wait_until_left()
    assert environment.wait_until_idle()[0].state == "stopped"


@pytest.mark.usefixtures("engine")
def test_a_run_that_is_asked_to_stop_shows_it_until_it_has_stopped(environment, monkeypatch):
    monkeypatch.setattr(runs, "send_stop", lambda root_id: None)
    row = stop(environment, dripping(environment)).to_row()
    assert (row.state, row.stopping) == ("running", True)
    assert environment.wait_until_idle()[0].to_row().stopping is False


def test_a_queued_run_is_stopped_at_once(environment):
    environment.post("hello")
    [run] = environment.runs()
    assert stop(environment, run).state == "stopped"
    assert [row.type for row in environment.log()] == ["TEXT_MESSAGE", "RUN_STOPPED"]


def test_stopping_a_stopped_run_again_changes_nothing(environment):
    environment.post("hello")
    [run] = environment.runs()
    stop(environment, run)
    assert stop(environment, run).state == "stopped"
    assert [row.type for row in environment.log()] == ["TEXT_MESSAGE", "RUN_STOPPED"]
    assert AuditRecord.objects.filter(action="run.stopped").count() == 1


@pytest.mark.usefixtures("engine")
def test_stopping_a_run_that_has_answered_is_refused(environment):
    environment.model.script(text="Hello.")
    environment.post("hello")
    [run] = environment.wait_until_idle()
    with pytest.raises(Conflict) as refusal:
        stop(environment, run)
    assert refusal.value.code == Code.RUN_ENDED
    assert environment.runs()[0].state == "completed"


def test_a_suggester_stops_what_works_for_them_and_nothing_else(environment):
    team = environment.team
    environment.post("hello")
    [run] = environment.runs()
    with pytest.raises(Forbidden):
        stop(environment, run, by=team.bob)
    with pytest.raises(NotFound):
        stop(environment, run, by=team.charlie)
    run.refresh_from_db()
    assert (run.state, run.stop_requested_at) == ("queued", None)
    assert stop(environment, run).state == "stopped"
    environment.post("hello again", by=team.bob)
    assert stop(environment, environment.runs()[-1], by=team.bob).state == "stopped"


def test_the_person_who_triggered_a_run_may_stop_it_when_it_works_for_another_person(environment):
    """Bob's message is retried by Alice: the run works for Alice. Dora is not involved."""
    team, dora = environment.team, make_person("Dora")
    with transaction.atomic():
        workspaces.join_workspace(dora, team.workspace.id, role=Role.SUGGESTER, invited_by=team.alice)
        chats.add_participant(team.alice, team.chat.id, dora.id)
    environment.post("hello", by=team.bob)
    stop(environment, environment.runs()[-1], by=team.bob)
    again = runs.retry_run(actor=team.alice, run_id=environment.runs()[-1].id)
    row = again.to_row()
    assert (row.on_behalf_of, row.triggered_by) == (team.alice.id, team.bob.id)
    with pytest.raises(Forbidden):
        stop(environment, again, by=dora)
    again.refresh_from_db()
    assert (again.state, again.stop_requested_at, again.stopped_by) == ("queued", None, None)
    assert stop(environment, again, by=team.bob).state == "stopped"


@pytest.mark.usefixtures("engine")
def test_a_run_that_an_agent_triggered_may_be_stopped_by_the_person_whom_that_agent_worked_for(environment):
    helper = environment.add_agent("Helper")
    environment.model.script(mode="drip", count=400, every=0.02)
    environment.model.script(match="hello", text="@helper your turn", times=1)
    environment.post("@robin hello", by=environment.team.bob)
    [second] = environment.wait(lambda: environment.runs(agent=helper))
    assert (second.on_behalf_of, second.triggered_by) == (environment.team.bob, environment.team.bob)
    stop(environment, second, by=environment.team.bob)
    environment.wait_until_idle()
    second.refresh_from_db()
    assert second.state == "stopped"


@pytest.mark.usefixtures("engine")
def test_the_text_streamed_before_a_stop_is_part_of_the_conversation(environment):
    stop(environment, dripping(environment, match="hello"))
    environment.wait_until_idle()
    environment.model.reset()
    environment.post("go on")
    environment.wait_until_idle()
    turns = [turn["role"] for turn in environment.model.requests[0].body["messages"]]
    assert turns == ["system", "user", "assistant", "user"]


@pytest.mark.usefixtures("engine")
def test_a_failed_run_is_retried_as_a_new_run_for_the_person_who_retries_it(environment):
    team = environment.team
    environment.model.script(mode="status", status=400, times=1)
    environment.post("hello")
    [failed] = environment.wait_until_idle()
    again = runs.retry_run(actor=team.bob, run_id=failed.id)
    assert (again.origin, again.on_behalf_of, again.trigger_id) == ("retry", team.bob, failed.trigger_id)
    environment.submit_queued_runs()
    assert [run.state for run in environment.wait_until_idle()] == ["failed", "completed"]
    # Clients hide the failure by these ids.
    answer = Message.objects.get(type="TEXT_MESSAGE", run_id=again.id)
    end = Message.objects.get(type="RUN_FAILED")
    assert answer.payload["answers"] == end.payload["message_id"] == str(failed.trigger_id)


def test_retrying_twice_while_the_retry_is_queued_creates_one_run(environment):
    environment.post("hello")
    [run] = environment.runs()
    stop(environment, run)
    first = runs.retry_run(actor=environment.team.alice, run_id=run.id)
    assert runs.retry_run(actor=environment.team.alice, run_id=run.id) == first
    assert len(environment.runs()) == 2


def test_a_run_that_has_not_ended_cannot_be_retried(environment):
    environment.post("hello")
    with pytest.raises(Conflict, match="failed or was stopped"):
        runs.retry_run(actor=environment.team.alice, run_id=environment.runs()[0].id)
    assert len(environment.runs()) == 1


@pytest.mark.usefixtures("engine")
def test_the_run_of_an_agent_that_is_removed_from_the_chat_is_stopped(environment):
    team = environment.team
    dripping(environment)
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.robin.id)
    assert environment.wait_until_idle()[0].state == "stopped"
