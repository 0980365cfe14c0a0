"""List the models that can be chosen, and test the model of a workspace or a person's own model. A worker runs the test on its
event loop; clients poll the result (FAIR2).

Tests are stored in Redis. The worker gets the key encrypted, and only the worker decrypts it.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, NotRequired, TypedDict, Unpack
from uuid import UUID

from django.conf import settings
from django.db import Error, connections

from actors.models import Actor
from common.errors import AppError, LimitReached, NotFound, Unavailable
from common.ids import new_id
from common.local_models import list_local_servers
from common.model_settings import check_model, check_server
from common.operators import can_administer_installation
from common.providers import get_provider
from common.redis_client import redis_client
from common.secrets import Secret, encrypt_for
from common.shared_slots import SharedSlots
from common.tasks import send_task_now
from common.tenants import set_current_tenant
from llm.client import build_test_request, test_model
from llm.endpoints import MODEL_TEST_PURPOSE
from llm.messages import ModelRequest
from llm.model_list import list_models
from llm.protocol import Endpoint, LLMError, ModelTestResult
from llm.services import check_policy
from workspaces.permissions import WorkspaceVerb, get_workspace_for

logger = logging.getLogger(__name__)

TASK = "worker.tasks.test_model"
LIFETIME_SECONDS = 120
"""Seconds after which a test is deleted."""
MAX_TEST_SECONDS = 40
"""Seconds after which a running test counts as lost."""
MAX_WAIT_SECONDS = 10
"""Seconds within which a worker starts a test."""
TESTS_AT_ONCE = 20
"""Tests that a process runs at the same time."""
_slots = SharedSlots("model tests", lambda: TESTS_AT_ONCE)

ModelTestState = Literal["waiting", "running", "done"]


@dataclass(frozen=True)
class Offer:
    """A provider, or a server on this machine, whose `models` a workspace can use without a key."""

    provider: str
    label: str
    api_base: str | None = None
    models: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class ModelTest:
    """A test and its result. `code` and `message`: why the model did not answer; `models`: the names that the server lists;
    `context_sizes`: how many tokens they read, as far as it says that.

    `locks`: the Redis keys that prevent a second test of the same kind at the same time.
    """

    id: str
    state: ModelTestState
    started_at: float
    locks: tuple[str, ...] = ()
    ok: bool = False
    code: str = ""
    message: str = ""
    seconds: float = 0.0
    models: tuple[str, ...] = ()
    context_sizes: Mapping[str, int] = field(default_factory=dict)


class ModelSettingsInput(TypedDict):
    """The settings of a model that a person saves or tests, as keyword arguments of the services."""

    provider: str
    default_model: str
    api_base: NotRequired[str]
    options: NotRequired[Mapping[str, str] | None]
    key: NotRequired[Secret | None]


def list_offers(actor: Actor) -> list[Offer]:
    """Return the demo model, the operator's models, and those of servers on this machine if the actor may use them."""
    found = [Offer("demo", "Demo model", models=("demo",))]
    if settings.SYSTEM_MODEL["provider"]:
        found.append(Offer(settings.SYSTEM_MODEL["provider"], "System", models=settings.SYSTEM_MODEL["models"]))
    local = list_local_servers()
    if not local or not can_administer_installation(actor):
        return found
    return found + [Offer("openai_compatible", one.label, one.api_base, tuple(one.models)) for one in local]


def start_model_test(actor: Actor, workspace_id: UUID, **settings: Unpack[ModelSettingsInput]) -> ModelTest:
    """Have a worker send the model one short question or, if `default_model` is empty, list the models of the server.

    `key` null: the key that is stored for the same provider and address. A workspace and a person can have one test of each
    kind at a time. Raises `NotFound`, `Forbidden`, `Invalid`, `LimitReached`, `Unavailable`.
    """
    return _start_test(actor, get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_MODEL).id, **settings)


def start_llm_profile_test(actor: Actor, **settings: Unpack[ModelSettingsInput]) -> ModelTest:
    """Test a person's own model in the same way. Raises `Forbidden` if the operator does not allow it, `Invalid`, `LimitReached`,
    `Unavailable`."""
    check_policy(settings["provider"])
    return _start_test(actor, actor.id, **settings)


def _start_test(actor: Actor, owner_id: UUID, **settings: Unpack[ModelSettingsInput]) -> ModelTest:
    """Start a test for the owner of the key: a workspace or a person."""
    model, key, options = settings["default_model"].strip(), settings.get("key"), dict(settings.get("options") or {})
    provider, api_base = settings["provider"], settings.get("api_base", "")
    if model:
        check_model(
            actor, provider=provider, api_base=api_base, options=options, default_model=settings["default_model"]
        )
    else:
        check_server(actor, provider=provider, api_base=api_base, options=options)
    kind = "answer" if model else "list"
    locks = (f"model-test:{kind}:of:{owner_id}", f"model-test:{kind}:by:{actor.id}")
    test = ModelTest(str(new_id()), "waiting", time.time(), tuple(dict.fromkeys(locks)))
    _acquire_locks(test)
    _store(owner_id, test)
    encrypted_key = encrypt_for(key, owner=str(owner_id), purpose=MODEL_TEST_PURPOSE) if key is not None else None
    server = [provider, api_base, options]
    try:
        send_task_now(TASK, [test.id, str(owner_id), *server, model, encrypted_key, str(actor.id)])
    except Unavailable:
        redis_client.release_locks(test.locks, test.id)
        raise
    return test


def get_model_test(actor: Actor, workspace_id: UUID, test_id: UUID | str) -> ModelTest:
    """Return the state of a test. Raises `NotFound`, `Forbidden`, and `Unavailable` if no worker runs it."""
    return _get_test(get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_MODEL).id, test_id)


def get_llm_profile_test(actor: Actor, test_id: UUID | str) -> ModelTest:
    """Return the state of a test of the actor's own model. Raises `NotFound`, and `Unavailable` if no worker runs it."""
    return _get_test(actor.id, test_id)


def _get_test(owner_id: UUID, test_id: UUID | str) -> ModelTest:
    test = find_model_test(owner_id, test_id)
    if test is None:
        raise NotFound("There is no such test, or it was long ago.")
    limit = {"waiting": MAX_WAIT_SECONDS, "running": MAX_TEST_SECONDS}.get(test.state)
    if limit is not None and time.time() - test.started_at > limit:
        redis_client.release_locks(test.locks, test.id)
        raise Unavailable("No worker has answered. Try again in a moment.")
    return test


def find_model_test(owner_id: UUID, test_id: UUID | str) -> ModelTest | None:
    """Return the test without a check of rights, or null. Raises `Unavailable` without Redis."""
    stored = redis_client.call_or_raise(lambda client: client.get(_build_redis_key(owner_id, test_id)))
    if not stored:
        return None
    fields = json.loads(stored)
    return ModelTest(**fields | {"locks": tuple(fields["locks"]), "models": tuple(fields["models"])})


def save_model_test(owner_id: UUID, test: ModelTest) -> None:
    """Store the state of a test. Release its locks when it is done. Raises `Unavailable` without Redis."""
    if test.state == "done":
        # Released first: a client that reads that the test is done can start the next one.
        redis_client.release_locks(test.locks, test.id)
    _store(owner_id, test)


async def run_model_test(
    owner_id: UUID,
    person_id: UUID,
    test: ModelTest,
    endpoint: Endpoint,
    model: str,
    *,
    reserve: Callable[[ModelRequest], object],
    record_usage: Callable[[ModelTestResult], None],
) -> None:
    """Run a test on the event loop of a worker when there is a slot for it, and store its result. A test that
    has no slot after `MAX_WAIT_SECONDS` is given up.

    `reserve` is called before the request, and may raise `AppError`; `record_usage` writes the ledger entry.
    """
    try:
        with set_current_tenant(None if owner_id == person_id else owner_id, person_id):
            async with _slots.reserve(test.started_at + MAX_WAIT_SECONDS - time.time()):
                running = await asyncio.to_thread(_mark_running, owner_id, test.id)
                if running is None:
                    return
                if model:
                    done = await _test_model(running, endpoint, model, reserve, record_usage)
                else:
                    done = await _list_models(running, endpoint)
        await asyncio.to_thread(save_model_test, owner_id, done)
    except TimeoutError:
        logger.info("A model test was given up: there was no slot for it in time.")
    except Unavailable:
        logger.warning("The state of a model test could not be stored: Redis does not answer.")


def _mark_running(owner_id: UUID, test_id: str) -> ModelTest | None:
    """Mark a waiting test as running, and return it. Return null if `_get_test` has given it up: it may have been started again."""
    test = find_model_test(owner_id, test_id)
    if test is None or test.state != "waiting" or time.time() - test.started_at > MAX_WAIT_SECONDS:
        return None
    # The time that it has waited is not part of `MAX_TEST_SECONDS`.
    running = replace(test, state="running", started_at=time.time())
    save_model_test(owner_id, running)
    return running


async def _list_models(test: ModelTest, endpoint: Endpoint) -> ModelTest:
    try:
        sizes = await list_models(endpoint)
        return replace(_add_sizes(test, sizes), state="done", ok=True, models=tuple(sizes))
    except LLMError as error:
        return replace(test, state="done", code=error.code, message=error.message)


async def _test_model(
    test: ModelTest,
    endpoint: Endpoint,
    model: str,
    reserve: Callable[[ModelRequest], object],
    record_usage: Callable[[ModelTestResult], None],
) -> ModelTest:
    try:
        await asyncio.to_thread(_reserve, reserve, build_test_request(model))
    except AppError as error:
        return replace(test, state="done", code=error.code.value, message=error.message)
    result = await test_model(endpoint, model)
    if result.ok:
        result, test = await _compare_with_listing(result, test, endpoint, model)
    await asyncio.to_thread(_record_usage, record_usage, result)
    seconds = round(result.seconds, 3)
    return replace(test, state="done", ok=result.ok, code=result.code, message=result.message, seconds=seconds)


async def _compare_with_listing(
    result: ModelTestResult, test: ModelTest, endpoint: Endpoint, model: str
) -> tuple[ModelTestResult, ModelTest]:
    """Return the result with what the server's list says of the model: how much it reads, and whether it is among them. A server
    without a list is asked nothing else."""
    if get_provider(endpoint.provider).models_from != "server":
        return result, test
    try:
        sizes = await list_models(endpoint)
    except LLMError:
        return result, test
    if model in sizes:
        return replace(result, context_size=sizes[model]), _add_sizes(test, {model: sizes[model]})
    if sizes and not result.code:
        text = f"It answers, but the server does not list {model}. It lists {', '.join(list(sizes)[:5])}."
        return replace(result, code="not_listed", message=text), test
    return result, test


def _add_sizes(test: ModelTest, sizes: Mapping[str, int | None]) -> ModelTest:
    known = {name: size for name, size in sizes.items() if size is not None}
    return replace(test, context_sizes=known)


def _reserve(reserve: Callable[[ModelRequest], object], request: ModelRequest) -> None:
    try:
        reserve(request)
    finally:
        connections.close_all()


def _record_usage(record_usage: Callable[[ModelTestResult], None], result: ModelTestResult) -> None:
    """Write the ledger entry of the test. Errors of the database are only logged, so that the person gets the result."""
    try:
        record_usage(result)
    except Error:
        logger.exception("The usage of a model test could not be stored.")
    finally:
        connections.close_all()


def _build_redis_key(owner_id: UUID, test_id: UUID | str) -> str:
    return f"model-test:{owner_id}:{test_id}"


def _store(owner_id: UUID, test: ModelTest) -> None:
    redis_client.call_or_raise(
        lambda client: client.set(_build_redis_key(owner_id, test.id), json.dumps(asdict(test)), ex=LIFETIME_SECONDS)
    )


def _acquire_locks(test: ModelTest) -> None:
    acquired: list[str] = []
    for lock in test.locks:
        if seconds := _acquire_lock(lock, test.id):
            redis_client.release_locks(acquired, test.id)
            data = {"limit": "model_tests", "seconds": seconds}
            raise LimitReached("A model is being tried already.", hints=["Wait for its answer."], data=data)
        acquired.append(lock)


def _acquire_lock(lock: str, test_id: str) -> int:
    """Acquire a lock. Return 0, or the seconds after which it expires if another test has it."""
    if redis_client.call_or_raise(
        lambda client: client.set(lock, test_id, nx=True, ex=MAX_WAIT_SECONDS + MAX_TEST_SECONDS)
    ):
        return 0
    return max(1, redis_client.call_or_raise(lambda client: client.ttl(lock)))
