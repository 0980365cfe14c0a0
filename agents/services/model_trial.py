"""Which models are to be had, and a quick trial of one. The worker asks: it alone opens keys and speaks to providers."""

import json
import secrets
import time
from dataclasses import dataclass, field

from django.conf import settings
from django.core.cache import cache
from redis import RedisError

from agents.llm.endpoints import TRIAL
from agents.llm.protocol import Provider, Trial
from agents.services.hints import tell_workers
from common.errors import AppError, Code
from common.local_models import find_local_servers
from common.secrets import Secret, seal
from workspaces.models import Workspace
from workspaces.services import check_model

PATIENCE = 30.0
"""Seconds that a person waits for the answer; the worker gives up on the model earlier."""


@dataclass(frozen=True)
class Offer:
    """A model that can be had without a key."""

    provider: Provider
    label: str
    api_base: str | None = None
    models: tuple[str, ...] = field(default=())


def offers() -> list[Offer]:
    """The demo model, the operator's when there is one, and in embedded mode those of servers on this machine."""
    found = [Offer("demo", "Demo model", models=("demo",))]
    if settings.SYSTEM_MODEL["provider"]:
        found.append(Offer(settings.SYSTEM_MODEL["provider"], "System", models=(settings.SYSTEM_MODEL["model"],)))
    local = find_local_servers()
    return found + [Offer("openai_compatible", one.label, one.api_base, tuple(one.models)) for one in local]


def ask_worker(*, workspace: Workspace, provider: str, api_base: str, default_model: str, key: Secret | None) -> Trial:
    """Ask the model one short question, in a worker. `key` null: the one that is set, for the same provider and address.

    Raises `Invalid` for what cannot be a model, `AppError` (`unavailable`) when no worker answers.
    """
    check_model(provider=provider, default_model=default_model, api_base=api_base)
    place = f"model-test:{secrets.token_urlsafe(16)}"
    sealed = seal(key, owner=str(workspace.id), purpose=TRIAL) if key is not None else None
    arguments = [place, str(workspace.id), provider, api_base, default_model, sealed]
    if not tell_workers("agents.tasks.test_model", [arguments]):
        raise AppError("No worker can be asked now. Try again in a moment.", code=Code.UNAVAILABLE)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if (found := _left_at(place)) is not None:
            return Trial(**json.loads(found))
        time.sleep(0.1)
    raise AppError("No worker has answered. Try again in a moment.", code=Code.UNAVAILABLE)


def _left_at(place: str) -> str | None:
    try:
        found: str | None = cache.get(place)
    except RedisError as error:
        raise AppError("The answer cannot be heard now. Try again in a moment.", code=Code.UNAVAILABLE) from error
    return found
