"""Celery tasks: load by id, call one service."""

import json
from dataclasses import asdict
from uuid import UUID

from celery import shared_task
from django.core.cache import cache

from agents.llm.door import try_model_now
from agents.llm.endpoints import endpoint_to_test
from agents.llm.protocol import Provider
from agents.runtime import engine


@shared_task
def run_agent(run_id: str) -> None:
    """A run waits: this process's engine claims it, if there is room and nobody was faster. Returns at once."""
    engine.submit(UUID(run_id))


@shared_task
def test_model(
    place: str, workspace_id: str, provider: Provider, api_base: str, default_model: str, sealed: str | None
) -> None:
    """Ask a model one short question and leave the answer at `place`, where the web process waits for it."""
    endpoint = endpoint_to_test(UUID(workspace_id), provider, api_base, sealed)
    trial = try_model_now(endpoint, default_model)
    cache.set(place, json.dumps(asdict(trial)), timeout=60)
