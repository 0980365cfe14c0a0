"""Model tests run in a worker: no web process and no thread of a worker waits for the server of the model (FAIR2)."""

import json
import time
from base64 import b64decode
from contextlib import AsyncExitStack
from typing import Any

import pytest
import redis
from django.conf import settings as configured
from django.db import transaction
from django.test import Client

from common.egress import HostRefused
from common.errors import Forbidden, LimitReached, NotFound, Unavailable
from common.ids import new_id
from common.local_models import LocalServer, store_local_servers
from common.secrets import Secret
from common.tenants import set_current_tenant
from llm import model_tests
from llm import services as llm
from llm.protocol import Endpoint
from tests.scripted_model import ScriptedModel
from usage.models import LLMCall
from worker import engine as engines
from worker.tasks import test_model as do_test_model
from workspaces import services as workspaces
from workspaces.models import Credential

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_tests_running():
    client = redis.from_url(configured.REDIS_URL)
    for key in (*client.keys("model-test:*"), "work", *client.keys("rate:jobs:*")):
        client.delete(key)
    return client


def start(team: Any, model: ScriptedModel, by: Any = None, **more: Any) -> model_tests.ModelTest:
    facts = {"provider": "openai_compatible", "api_base": model.api_base, "default_model": "scripted", "key": None}
    return model_tests.start_model_test(by or team.alice, team.workspace.id, **facts | more)


def run_task(client: Any) -> None:
    """Run the sent task as Celery would. Tasks that the sweeper has sent are left out."""
    for task in map(json.loads, client.lrange("work", 0, -1)):
        if task["headers"]["task"] == do_test_model.name:
            do_test_model(*json.loads(b64decode(task["body"]))[0])
    client.delete("work")


def wait_for(environment: Any, test: model_tests.ModelTest) -> model_tests.ModelTest:
    def is_done() -> Any:
        found = model_tests.get_model_test(environment.team.alice, environment.team.workspace.id, test.id)
        return found if found.state == "done" else None

    found: model_tests.ModelTest = environment.wait(is_done)
    return found


@pytest.fixture
def of_process(engine, monkeypatch):
    monkeypatch.setattr(engines, "_engine", engine)


@pytest.mark.usefixtures("of_process")
def test_a_test_is_started_run_by_a_worker_and_polled(environment, model, no_tests_running):
    test = start(environment.team, model, key=Secret("sk-CANARY-of-a-test-0001"))
    assert test.state == "waiting"
    assert b"CANARY" not in b"".join(no_tests_running.lrange("work", 0, -1))
    run_task(no_tests_running)
    done = wait_for(environment, test)
    assert (done.ok, done.code, done.message) == (True, "", "")
    assert model.requests[-1].headers["Authorization"] == "Bearer sk-CANARY-of-a-test-0001"
    assert start(environment.team, model).state == "waiting"  # the next test may start


@pytest.mark.usefixtures("of_process")
def test_a_test_with_a_stored_key_that_cannot_be_decrypted_fails_with_a_reason(environment, model, no_tests_running):
    Credential.objects.update(provider="openai_compatible", api_base=model.api_base, encrypted_key="broken")
    test = start(environment.team, model)
    run_task(no_tests_running)
    done = wait_for(environment, test)
    assert (done.ok, done.code, done.message) == (False, "model_unusable", "The stored key cannot be decrypted.")
    assert start(environment.team, model).state == "waiting"  # the next test may start


TASK_ARGUMENTS = (
    "test_id",
    "owner_id",
    "provider",
    "api_base",
    "options",
    "default_model",
    "encrypted_key",
    "person_id",
)


def ledger():
    rows = LLMCall.objects.select_related("workspace", "on_behalf_of")
    return [(row.workspace, row.on_behalf_of, row.model, row.paid_by, row.error_code) for row in rows]


@pytest.mark.usefixtures("of_process")
@pytest.mark.parametrize(
    ("script", "tokens", "is_estimated", "code"),
    [
        ({"text": "OK then"}, (11, 2), False, ""),
        ({"mode": "drip", "count": 10_000, "every": 0.001}, (24, 6), True, ""),
        ({"mode": "cut", "after": 2, "tokens": ["OK ", "OK ", "OK "]}, (24, 2), True, "cut"),
        ({"mode": "status", "status": 401}, (0, 0), False, "refused"),
    ],
)
def test_each_model_test_has_a_ledger_entry(environment, model, no_tests_running, script, tokens, is_estimated, code):
    team = environment.team
    model.script(**script)
    test = start(team, model)
    run_task(no_tests_running)
    done = wait_for(environment, test)
    assert (done.ok, done.code) == (not code, code)
    assert ledger() == [(team.workspace, team.alice, "scripted", "workspace", code)]
    call = LLMCall.objects.get()
    assert (call.run_id, call.agent, call.tries, call.tokens_estimated) == (None, None, 1, is_estimated)
    # The number of chunks of a closed stream varies by one.
    assert call.input_tokens == tokens[0]
    assert abs(call.output_tokens - tokens[1]) <= 1
    assert call.first_token_ms is not None
    assert call.total_ms is not None
    assert call.total_ms >= call.first_token_ms


@pytest.mark.usefixtures("of_process")
def test_a_model_test_without_a_ledger_entry_still_has_its_result(environment, model, no_tests_running, caplog):
    test = start(environment.team, model)
    [task] = no_tests_running.lrange("work", 0, -1)
    arguments = json.loads(b64decode(json.loads(task)["body"]))[0]
    do_test_model(**dict(zip(TASK_ARGUMENTS, [*arguments[:-1], str(new_id())], strict=True)))
    assert wait_for(environment, test).ok
    assert "could not be stored" in caplog.text
    assert not LLMCall.objects.exists()


@pytest.mark.usefixtures("of_process")
def test_without_a_model_the_models_of_the_server_are_listed_and_none_is_tested(environment, model, no_tests_running):
    test = start(environment.team, model, default_model=" ")
    run_task(no_tests_running)
    done = wait_for(environment, test)
    assert (done.ok, done.models) == (True, ("scripted",))
    assert model.requests == []
    assert ledger() == []


@pytest.mark.usefixtures("of_process")
def test_FAIR2_a_silent_server_blocks_no_thread_of_the_worker(environment, model, no_tests_running):
    """The task returns at once. Twenty such tests of a person delay no run on the event loop and no test of another workspace."""
    model.script(model="silent", mode="nofirst")
    team = environment.team
    for _ in range(20):
        start(team, model, default_model="silent")
        run_task(no_tests_running)
        for lock in no_tests_running.keys("model-test:answer:*"):
            no_tests_running.delete(lock)
    environment.wait(lambda: len(model.requests) == 2)  # the share of a person; the others wait
    environment.post("hello")
    assert environment.wait_until_idle()[0].state == "completed"
    facts = {"provider": "openai_compatible", "api_base": model.api_base, "default_model": "scripted", "key": None}
    test = model_tests.start_model_test(team.charlie, team.elsewhere.id, **facts)
    run_task(no_tests_running)
    environment.wait(lambda: model_tests.get_model_test(team.charlie, team.elsewhere.id, test.id).ok)
    assert sum(request.body["model"] == "silent" for request in model.requests) == 2


def test_a_workspace_and_a_person_have_one_test_at_a_time(environment, model):
    team = environment.team
    workspaces.join_workspace(team.charlie, team.workspace.id, role="editor", invited_by=team.alice)
    start(team, model)
    for by in (team.alice, team.charlie):
        with pytest.raises(LimitReached) as refused:
            start(team, model, by=by)
        assert refused.value.data["seconds"] > 0
    own = workspaces.create_workspace(team.alice, name="Another")
    with pytest.raises(LimitReached):
        model_tests.start_model_test(team.alice, own.id, provider="demo", api_base="", default_model="demo", key=None)
    # A refused test keeps no lock: Charlie may test in another workspace.
    elsewhere = model_tests.start_model_test(
        team.charlie, team.elsewhere.id, provider="demo", api_base="", default_model="demo", key=None
    )
    assert elsewhere.state == "waiting"


async def test_a_test_that_gets_no_slot_in_time_is_given_up_and_never_runs(team):
    workspace, person = team.workspace.id, team.alice.id
    asked: list[object] = []

    def start(seconds_left: float) -> tuple[model_tests.ModelTest, Any]:
        started_at = time.time() - model_tests.MAX_WAIT_SECONDS + seconds_left
        test = model_tests.ModelTest(str(new_id()), "waiting", started_at)
        model_tests.save_model_test(workspace, test)
        endpoint = Endpoint("demo", "", Secret(""), "workspace")
        run = model_tests.run_model_test(
            workspace, person, test, endpoint, "demo", reserve=asked.append, record_usage=asked.append
        )
        return test, run

    async with AsyncExitStack() as slots:
        with set_current_tenant(workspace, person):
            for _ in range(2):  # the share of a person
                release = await model_tests._slots.acquire()
                slots.callback(release)
        test, run = start(0.3)
        await run
        assert (model_tests.find_model_test(workspace, test.id), asked) == (test, [])
    test, run = start(-1)
    await run
    assert (model_tests.find_model_test(workspace, test.id), asked) == (test, [])
    test, run = start(5)
    await run
    done = model_tests.find_model_test(workspace, test.id)
    assert done is not None
    assert (done.state, done.ok, len(asked)) == ("done", True, 2)


def test_a_test_that_no_worker_starts_is_unavailable(environment, model, monkeypatch):
    team = environment.team
    test = start(team, model)
    monkeypatch.setattr(model_tests, "MAX_WAIT_SECONDS", -1)
    with pytest.raises(Unavailable) as error:
        model_tests.get_model_test(team.alice, team.workspace.id, test.id)
    assert error.value.status == 503
    start(team, model)  # and the next test is not refused


def test_a_test_is_visible_only_in_its_workspace_to_those_who_may_set_the_model(environment, model):
    team = environment.team
    test = start(team, model)
    with pytest.raises(NotFound):
        model_tests.get_model_test(team.charlie, team.workspace.id, test.id)
    with pytest.raises(NotFound):
        model_tests.get_model_test(team.charlie, team.elsewhere.id, test.id)
    with pytest.raises(Forbidden):
        model_tests.get_model_test(team.bob, team.workspace.id, test.id)
    with pytest.raises(NotFound):
        model_tests.get_model_test(team.alice, team.workspace.id, new_id())


def test_model_tests_count_against_the_rate_of_jobs(team, settings):
    settings.RATES = settings.RATES | {"jobs": (0.001, 1.0)}
    client = Client()
    client.force_login(team.alice)
    path, body = f"/api/v1/workspaces/{team.workspace.id}/model/test", {"provider": "demo", "default_model": "demo"}
    statuses = [client.post(path, body, "application/json").status_code for _ in range(3)]
    assert statuses[0] == 202
    assert statuses[-1] == 429


@pytest.mark.parametrize(
    ("who", "port", "is_accepted"),
    [("alice", 11434, True), ("alice", 1234, False), ("bob", 11434, False), ("alice", 8000, False)],
)
def test_a_server_of_this_machine_is_offered_to_operators_if_it_has_answered(team, settings, who, port, is_accepted):
    settings.EMBEDDED, settings.OWN_PORT = True, 8000
    store_local_servers([LocalServer("Ollama", "http://localhost:11434/v1", ["llama"])])
    actor = getattr(team, who)
    workspace = workspaces.create_workspace(actor, name="Own")

    @transaction.atomic
    def choose() -> Credential:
        return workspaces.set_model(
            actor,
            workspace.id,
            provider="openai_compatible",
            default_model="llama",
            revision=0,
            api_base=f"http://localhost:{port}/v1",
        )

    assert ("Ollama" in {offer.label for offer in model_tests.list_offers(actor)}) == (who == "alice")
    if is_accepted:
        assert choose().api_base
        return
    with pytest.raises(HostRefused):
        choose()
    with pytest.raises(HostRefused):
        model_tests.start_model_test(
            actor,
            workspace.id,
            provider="openai_compatible",
            api_base=f"http://localhost:{port}/v1",
            default_model="llama",
            key=None,
        )
    assert not Credential.objects.filter(workspace=workspace).exists()


# --- people's own models ------------------------------------------------------------------------------------------------


def run_own_test(environment: Any, client: Any, **more: Any) -> model_tests.ModelTest:
    alice = environment.team.alice
    facts = {
        "provider": "openai_compatible",
        "api_base": environment.model.api_base,
        "default_model": "own",
        "key": None,
    }
    test = model_tests.start_llm_profile_test(alice, **facts | more)
    run_task(client)

    def is_done() -> Any:
        found = model_tests.get_llm_profile_test(alice, test.id)
        return found if found.state == "done" else None

    found: model_tests.ModelTest = environment.wait(is_done)
    return found


@pytest.fixture
def own_model(environment):
    """Alice's own model."""
    return llm.set_llm_profile(
        environment.team.alice,
        provider="openai_compatible",
        default_model="own",
        revision=0,
        api_base=environment.model.api_base,
        key=Secret("sk-CANARY-of-alice-0001"),
    )


@pytest.mark.usefixtures("of_process")
def test_a_test_of_an_own_model_is_the_persons_in_the_ledger_and_its_result_is_stored(
    environment, model, no_tests_running, own_model
):
    assert run_own_test(environment, no_tests_running).ok
    assert model.requests[-1].headers["Authorization"] == "Bearer sk-CANARY-of-alice-0001"
    assert ledger() == [(None, environment.team.alice, "own", "person", "")]
    own_model.refresh_from_db()
    assert (own_model.tested_at is not None, own_model.test_code) == (True, "")
    model.script(mode="status", status=401)
    assert run_own_test(environment, no_tests_running).code == "refused"
    own_model.refresh_from_db()
    assert (own_model.test_code, bool(own_model.test_message)) == ("refused", True)


@pytest.mark.usefixtures("of_process")
@pytest.mark.parametrize("change", [{"default_model": "other"}, {"key": Secret("sk-another-key-0001")}])
def test_a_test_of_settings_that_are_not_stored_is_not_their_result(environment, no_tests_running, own_model, change):
    assert run_own_test(environment, no_tests_running, **change).ok
    own_model.refresh_from_db()
    assert own_model.tested_at is None


@pytest.mark.usefixtures("of_process")
def test_SEC18_a_test_sends_an_own_key_only_to_the_address_for_which_it_is_stored(
    environment, model, no_tests_running, own_model, settings
):
    """Neither to another address, nor for the workspace, nor for another person."""
    settings.ALLOW_PRIVATE_HOSTS = settings.ALLOW_PRIVATE_HOSTS | {"localhost:" + model.host.partition(":")[2]}
    elsewhere = model.api_base.replace("127.0.0.1", "localhost")
    assert run_own_test(environment, no_tests_running, api_base=elsewhere).ok
    wait_for(environment, start_and_run(environment, model, no_tests_running))
    with pytest.raises(NotFound):
        model_tests.get_llm_profile_test(environment.team.bob, new_id())
    assert len(model.requests) == 2
    assert [request.headers.get("Authorization", "") for request in model.requests].count("") == 2


def start_and_run(environment: Any, model: ScriptedModel, client: Any) -> model_tests.ModelTest:
    test = start(environment.team, model)
    run_task(client)
    return test


def test_another_person_cannot_read_a_test_of_an_own_model(environment, own_model):
    test = model_tests.start_llm_profile_test(environment.team.alice, provider="demo", default_model="demo")
    assert model_tests.get_llm_profile_test(environment.team.alice, test.id).state == "waiting"
    with pytest.raises(NotFound):
        model_tests.get_llm_profile_test(environment.team.bob, test.id)
