"""The ids of queued runs reach workers through Redis; without it, posting neither fails nor waits (RUN4)."""

import socketserver
import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
import redis
from celery import current_app
from django.conf import settings
from django.db import connection, transaction

from actors.services import people
from agents.services import agents
from chats import services as chats
from common.errors import AppError
from llm import model_tests
from runs.runtime import dispatch
from runs.runtime.dispatch import DispatchedRuns
from runs.services.claims import claim_posted_run
from tests.concurrency import count_sessions_that_wait
from tests.people import make_operator
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def fresh_broker():
    client = redis.from_url(settings.REDIS_URL)
    client.delete(dispatch.QUEUE)
    return client


@pytest.fixture
def dead_broker(monkeypatch):
    """Set the address of a server that closes each connection. Return the list of these connections."""
    connections = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            connections.append(self.client_address)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"redis://127.0.0.1:{server.server_address[1]}/0"
        monkeypatch.setattr(current_app.conf, "broker_write_url", url)
        monkeypatch.setattr(settings, "REDIS_URL", url)
        yield connections
        server.shutdown()


def read_dispatched(client):
    """Return what was sent to the workers, the first first."""
    return [DispatchedRuns.model_validate_json(item) for item in reversed(client.lrange(dispatch.QUEUE, 0, -1))]


def sent_run_ids(client):
    return [str(run_id) for dispatched in read_dispatched(client) for run_id in dispatched.run_ids]


def test_the_run_of_a_message_is_sent_before_the_commit(environment, fresh_broker):
    with transaction.atomic():
        environment.post("hello")
        [dispatched] = read_dispatched(fresh_broker)
    [run] = environment.runs()
    assert dispatched == DispatchedRuns(run_ids=[run.id], chat_id=run.chat_id)


def test_a_worker_that_receives_a_run_waits_for_the_commit_and_claims_it(environment):
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            environment.post("hello")
            [run] = environment.runs()
            claiming = pool.submit(claim, run)
            environment.wait(lambda: count_sessions_that_wait() == 1)
        assert claiming.result().row.id == run.id
    assert environment.runs()[0].state == "running"


def test_a_run_whose_message_was_rolled_back_is_not_claimed(environment):
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            environment.post("hello")
            [run] = environment.runs()
            claiming = pool.submit(claim, run)
            environment.wait(lambda: count_sessions_that_wait() == 1)
            transaction.set_rollback(True)
        assert claiming.result() is None
    assert environment.runs() == []


def remove_agent_from_chat(team):
    chats.remove_participant(team.alice, team.chat.id, team.robin.id)


def remove_person_from_chat(team):
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)


def remove_member(team):
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)


def close_account(team):
    people.deactivate_person(make_operator(), team.bob.id)


def suspend_agent(team):
    people.suspend_agent(make_operator(), team.robin.id)


def delete_agent(team):
    agents.delete_agent(team.alice, team.robin.id)


def delete_workspace(team):
    workspaces.delete_workspace(team.alice, team.workspace.id, name=team.workspace.name)


@pytest.mark.parametrize(
    "withdraw",
    [
        remove_agent_from_chat,
        remove_person_from_chat,
        remove_member,
        close_account,
        suspend_agent,
        delete_agent,
        delete_workspace,
    ],
)
def test_SEC5_a_run_whose_rights_are_withdrawn_before_its_message_is_committed_does_not_start(environment, withdraw):
    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            environment.post("hello", by=environment.team.bob)
            [run] = environment.runs()
            withdrawing = pool.submit(in_own_transaction, withdraw, environment.team)
            environment.wait(lambda: withdrawing.done() or count_sessions_that_wait() == 1)
            is_waiting = not withdrawing.done()
            claiming = pool.submit(claim, run)
            environment.wait(lambda: count_sessions_that_wait() == 1 + is_waiting)
        withdrawing.result()
        assert claiming.result() is None
    check_did_not_start(environment)


@pytest.mark.parametrize("withdraw", [close_account, suspend_agent])
def test_SEC5_a_run_whose_rights_are_withdrawn_while_a_worker_waits_for_the_commit_does_not_start(
    environment, withdraw
):
    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            environment.post("hello", by=environment.team.bob)
            [run] = environment.runs()
            claiming = pool.submit(claim, run)
            environment.wait(lambda: count_sessions_that_wait() == 1)
            pool.submit(in_own_transaction, withdraw, environment.team).result(10)
        assert claiming.result() is None
    check_did_not_start(environment)


def check_did_not_start(environment):
    [run] = environment.runs()
    assert run.state in ("failed", "stopped")
    assert run.started_at is None
    assert environment.log("TEXT_MESSAGE")[-1].author == environment.team.bob


def in_own_transaction(withdraw, team):
    try:
        with transaction.atomic():
            withdraw(team)
    finally:
        connection.close()


def claim(run):
    try:
        return claim_posted_run(run.id, "a worker", chat_id=run.chat_id)
    finally:
        connection.close()


def test_each_of_several_runs_is_an_item_of_its_own(fresh_broker):
    ids = [uuid4() for _ in range(3)]
    assert dispatch.send_runs(ids)
    assert dispatch.send_runs([])
    assert read_dispatched(fresh_broker) == [DispatchedRuns(run_ids=[run_id]) for run_id in ids]


@pytest.mark.parametrize("item", [b"", b"[]", b'{"run_ids": ["no id"]}', b"{}", b'{"run_ids": []}', b"\xff", b"null"])
def test_an_item_of_another_program_is_refused(item):
    with pytest.raises(ValueError, match=r".*"):
        DispatchedRuns.model_validate_json(item)


def test_a_message_that_joins_a_queued_run_sends_nothing(environment, fresh_broker):
    environment.post("one")
    environment.post("two")
    assert len(sent_run_ids(fresh_broker)) == 1


def test_RUN4_a_message_is_posted_while_redis_is_down(environment, dead_broker):
    environment.post("hello")
    environment.post("again")
    assert len(environment.runs()) == 1
    assert len(dead_broker) <= 2  # posting does not wait for repeated attempts


def test_RUN4_after_a_failure_nothing_is_sent_for_a_while(dead_broker):
    assert dispatch.send_runs([uuid4()]) is False
    attempts = len(dead_broker)
    assert attempts > 0
    assert [dispatch.send_runs([uuid4()]) for _ in range(10)] == [False] * 10
    assert len(dead_broker) == attempts


@pytest.mark.usefixtures("dead_broker")
def test_RUN4_runs_are_executed_while_redis_is_down(environment, engine):
    environment.engine = None
    environment.post("hello")
    assert environment.wait_until_idle()[0].state == "completed"


def test_RUN4_a_model_test_is_refused_soon_while_redis_is_down(team, dead_broker):
    with pytest.raises(AppError) as refused:
        model_tests.start_model_test(
            team.alice, team.workspace.id, provider="demo", api_base="", default_model="demo", key=None
        )
    assert (refused.value.status, refused.value.code) == (503, "unavailable")
    assert len(dead_broker) <= 2
