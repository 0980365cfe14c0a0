"""Which models are to be had, and testing one: a worker's event loop does it, and clients poll for the result (F2).

A test is kept in Redis for `KEPT` seconds. The key goes to the worker encrypted, and is decrypted there only.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal
from uuid import UUID

from django.conf import settings

from actors.models import Actor
from common.errors import LimitReached, NotFound, Unavailable
from common.ids import new_id
from common.local_models import list_local_servers
from common.operators import runs_installation
from common.secrets import Secret, seal
from common.tasks import send_task_now
from events.wire import wire
from llm.endpoints import TRIAL
from workspaces.permissions import WorkspaceVerb, get_workspace_for
from workspaces.services import check_model, check_server

KEPT = 120
"""Seconds that a test and its result are known."""
AT_MOST = 40
"""Seconds after which a running test without a result has lost its worker."""
PICKED_UP = 10
"""Seconds within which a worker begins."""
_RELEASE = b"""
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
"""
_NOTHING = object()

State = Literal["waiting", "running", "done"]


@dataclass(frozen=True)
class Offer:
    """A model that can be had without a key."""

    provider: str
    label: str
    api_base: str | None = None
    models: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class ModelTest:
    """A test, as far as it has come. `code` and `message` say why the model did not answer; `models` are the server's.

    `locks` are the Redis keys that keep others from starting the same kind of test meanwhile.
    """

    id: str
    state: State
    started_at: float
    locks: tuple[str, ...] = ()
    ok: bool = False
    code: str = ""
    message: str = ""
    seconds: float = 0.0
    models: tuple[str, ...] = ()


def list_offers(actor: Actor) -> list[Offer]:
    """Return the demo model, the operator's, and those of servers on this machine for who may choose them."""
    found = [Offer("demo", "Demo model", models=("demo",))]
    if settings.SYSTEM_MODEL["provider"]:
        found.append(Offer(settings.SYSTEM_MODEL["provider"], "System", models=settings.SYSTEM_MODEL["models"]))
    local = list_local_servers()
    if not local or not runs_installation(actor):
        return found
    return found + [Offer("openai_compatible", one.label, one.api_base, tuple(one.models)) for one in local]


def start_model_test(
    actor: Actor,
    workspace_id: UUID,
    *,
    provider: str,
    default_model: str,
    api_base: str = "",
    options: Mapping[str, str] | None = None,
    key: Secret | None = None,
) -> ModelTest:
    """Have a worker ask the model one short question or, without a model's name, list the server's models.

    `key` null: the one that is set for the same provider and address. A workspace, and a person, can have one test of each
    kind at a time. Raises `NotFound`, `Forbidden`, `Invalid`, `LimitReached`, `Unavailable`.
    """
    options = dict(options or {})
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_MODEL)
    if default_model.strip():
        check_model(actor, provider=provider, default_model=default_model, api_base=api_base, options=options)
    else:
        check_server(actor, provider=provider, api_base=api_base, options=options)
    kind = "answer" if default_model.strip() else "list"
    locks = (f"model-test:{kind}:of:{workspace.id}", f"model-test:{kind}:by:{actor.id}")
    test = ModelTest(str(new_id()), "waiting", time.time(), locks)
    _take_locks(test)
    _keep(workspace.id, test)
    sealed = seal(key, owner=str(workspace.id), purpose=TRIAL) if key is not None else None
    arguments = [test.id, str(workspace.id), provider, api_base, options, default_model.strip(), sealed, str(actor.id)]
    try:
        send_task_now("runs.tasks.test_model", arguments)
    except Unavailable:
        _release_locks(test)
        raise
    return test


def get_model_test(actor: Actor, workspace_id: UUID, test_id: UUID | str) -> ModelTest:
    """Return a test as far as it has come. Raises `NotFound`, `Forbidden`; `Unavailable` when no worker does it."""
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_MODEL)
    test = find_model_test(workspace.id, test_id)
    if test is None:
        raise NotFound("There is no such test, or it was long ago.")
    patience = {"waiting": PICKED_UP, "running": AT_MOST}.get(test.state)
    if patience is not None and time.time() - test.started_at > patience:
        _release_locks(test)
        raise Unavailable("No worker has answered. Try again in a moment.")
    return test


def find_model_test(workspace_id: UUID, test_id: UUID | str) -> ModelTest | None:
    """Return the test as it is known now. Raises `Unavailable` without Redis."""
    kept = _ask(lambda client: client.get(_key(workspace_id, test_id)))
    if not kept:
        return None
    read = json.loads(kept)
    return ModelTest(**read | {"locks": tuple(read["locks"]), "models": tuple(read["models"])})


def save_model_test(workspace_id: UUID, test: ModelTest) -> None:
    """Store how far a test has come; once it is done, the next may begin. Raises `Unavailable` without Redis."""
    if test.state == "done":
        # First, so that a client that reads that it is done can start the next one.
        _release_locks(test)
    _keep(workspace_id, test)


def _key(workspace_id: UUID, test_id: UUID | str) -> str:
    return f"model-test:{workspace_id}:{test_id}"


def _keep(workspace_id: UUID, test: ModelTest) -> None:
    _ask(lambda client: client.set(_key(workspace_id, test.id), json.dumps(asdict(test)), ex=KEPT))


def _take_locks(test: ModelTest) -> None:
    taken: list[str] = []
    for lock in test.locks:
        if not _ask(lambda client, lock=lock: client.set(lock, test.id, nx=True, ex=AT_MOST)):
            _release(taken, test.id)
            seconds = max(1, _ask(lambda client, lock=lock: client.ttl(lock)))
            raise LimitReached(
                "A model is being tried already.", hints=["Wait for its answer."],
                data={"limit": "model_tests", "seconds": seconds},
            )  # fmt: skip
        taken.append(lock)


def _release_locks(test: ModelTest) -> None:
    _release(test.locks, test.id)


def _release(locks: Any, test_id: str) -> None:
    if locks:
        _ask(lambda client: client.register_script(_RELEASE)(list(locks), [test_id]))


def _ask(question: Any) -> Any:
    answer = wire.ask(question, _NOTHING)
    if answer is _NOTHING:
        raise Unavailable("The answer cannot be heard now. Try again in a moment.")
    return answer
