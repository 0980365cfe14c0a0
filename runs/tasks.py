"""Celery tasks: load by id, call one service."""

from dataclasses import replace
from functools import partial
from uuid import UUID

from celery import shared_task

from llm.endpoints import build_test_endpoint
from llm.model_tests import find_model_test, run_model_test, save_model_test
from runs.runtime.ledger import record_model_test
from runs.worker.engine import get_engine


@shared_task
def run_agent(run_id: str) -> None:
    """Submit the run to the engine of this process. Do not wait for it."""
    if engine := get_engine():
        engine.submit([UUID(run_id)])


@shared_task
def test_model(
    test_id: str,
    workspace_id: str,
    provider: str,
    api_base: str,
    options: dict[str, str],
    default_model: str,
    encrypted_key: str | None,
    person_id: str,
) -> None:
    """Start a model test on the engine of this process. Do not wait for it."""
    workspace = UUID(workspace_id)
    test = find_model_test(workspace, test_id)
    engine = get_engine()
    if engine is None or test is None or test.state != "waiting":
        return
    endpoint = build_test_endpoint(workspace, provider, api_base, options, encrypted_key)
    test = replace(test, state="running")
    save_model_test(workspace, test)
    record = partial(record_model_test, workspace, UUID(person_id), endpoint, default_model)
    run = partial(run_model_test, workspace, test, endpoint, default_model, record)
    engine.run_soon(run, name=f"model test {test_id}")
