"""Which models are to be had, and a quick trial of one. The worker asks: it alone opens keys and speaks to providers."""

import json
import secrets
import time
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.core.cache import cache

from agents.runtime.llm import Endpoint
from agents.runtime.models import Trial
from agents.services.endpoints import DEMO_MODEL
from common.errors import AppError, Code
from common.secrets import Secret, seal, unseal
from workspaces.models import Credential, Workspace
from workspaces.services import check_model

PURPOSE = "model-test"
PATIENCE = 30.0
"""Seconds that a person waits for the answer; the worker gives up on the model earlier."""

Provider = Literal["demo", "openai", "anthropic", "gemini", "openrouter", "openai_compatible"]


@dataclass(frozen=True)
class Offer:
    """A model that can be had without a key."""

    provider: Provider
    label: str
    api_base: str | None = None
    models: tuple[str, ...] = field(default=())


def offers() -> list[Offer]:
    """The demo model, and the operator's when there is one."""
    found = [Offer("demo", "Demo model", models=(DEMO_MODEL,))]
    if settings.SYSTEM_MODEL["provider"]:
        found.append(Offer(settings.SYSTEM_MODEL["provider"], "System", models=(settings.SYSTEM_MODEL["model"],)))
    return found


def ask_worker(
    *, workspace: Workspace, provider: str, api_base: str, default_model: str, key: Secret | None
) -> Trial:
    """Ask the model one short question, in a worker. `key` null: the one that is set, for the same provider and address.

    Raises `Invalid` for what cannot be a model, `AppError` (`unavailable`) when no worker answers.
    """
    check_model(provider=provider, default_model=default_model, api_base=api_base)
    place = f"model-test:{secrets.token_urlsafe(16)}"
    sealed = seal(key, owner=str(workspace.id), purpose=PURPOSE) if key is not None else None
    arguments = [place, str(workspace.id), provider, api_base, default_model, sealed]
    current_app.send_task("agents.tasks.test_model", arguments)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if (found := cache.get(place)) is not None:
            return Trial(**json.loads(found))
        time.sleep(0.1)
    raise AppError("No worker has answered. Try again in a moment.", code=Code.UNAVAILABLE)


def endpoint_to_test(workspace_id: UUID, provider: Provider, api_base: str, sealed: str | None) -> Endpoint:
    """The endpoint as the person described it; without a key of theirs, with the one that is set for this very address."""
    owner = str(workspace_id)
    key = unseal(sealed, owner=owner, purpose=PURPOSE) if sealed else _key_that_is_set(owner, provider, api_base)
    return Endpoint(provider=provider, api_base=api_base or None, key=key, paid_by="workspace")


def _key_that_is_set(owner: str, provider: str, api_base: str) -> Secret:
    row = Credential.objects.filter(workspace_id=owner, provider=provider, api_base=api_base).exclude(sealed_key="")
    credential = row.first()
    return unseal(credential.sealed_key, owner=owner, purpose=Credential.PURPOSE) if credential else Secret("")
