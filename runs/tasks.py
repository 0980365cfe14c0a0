"""Celery tasks: load by id, call one service."""

from dataclasses import replace
from functools import partial
from uuid import UUID

from celery import shared_task

from llm.endpoints import endpoint_to_test
from runs.services.model_tests import find_model_test, save_model_test
from runs.worker import engine
from runs.worker.model_tests import run_model_test


@shared_task
def run_agent(run_id: str) -> None:
    """A run waits: this process's engine claims it, if there is room and nobody was faster. Returns at once."""
    engine.submit(UUID(run_id))


@shared_task
def test_model(
    test_id: str,
    workspace_id: str,
    provider: str,
    api_base: str,
    options: dict[str, str],
    default_model: str,
    sealed: str | None,
    person_id: str,
) -> None:
    """Have this process's engine test a model. Return at once."""
    workspace = UUID(workspace_id)
    test = find_model_test(workspace, test_id)
    if test is None or test.state != "waiting":
        return
    endpoint = endpoint_to_test(workspace, provider, api_base, options, sealed)
    test = replace(test, state="running")
    save_model_test(workspace, test)
    engine.run_soon(
        partial(run_model_test, workspace, UUID(person_id), test, endpoint, default_model), f"test {test_id}"
    )
