"""Trying a model on the loop of a worker: no thread and no slot of Celery's waits for the server (F2)."""

import asyncio
import logging
from dataclasses import replace
from uuid import UUID

from django.db import DatabaseError, connections

from common.errors import Unavailable
from common.tenants import on_behalf_of_tenant
from llm.client import try_model
from llm.model_list import list_models
from llm.protocol import Endpoint, LLMError, Trial
from runs.runtime.ledger import save_trial
from runs.services.model_tests import ModelTest, save_model_test

logger = logging.getLogger(__name__)

AT_ONCE = 20
"""Tests that a process makes at the same time; those beyond are refused, not kept waiting."""
_running = 0


async def run_model_test(workspace_id: UUID, person_id: UUID, test: ModelTest, endpoint: Endpoint, model: str) -> None:
    """Run the test and store its result, which the person's client polls. Never raises."""
    global _running
    _running += 1
    try:
        with on_behalf_of_tenant(workspace_id):
            if _running > AT_ONCE:
                done = _busy(test)
            elif model:
                done = await _tried(workspace_id, person_id, test, endpoint, model)
            else:
                done = await _listed(test, endpoint)
        await asyncio.to_thread(save_model_test, workspace_id, done)
    except Unavailable:
        logger.warning("The result of a model's test could not be stored: Redis does not answer.")
    finally:
        _running -= 1


async def _listed(test: ModelTest, endpoint: Endpoint) -> ModelTest:
    try:
        return replace(test, state="done", ok=True, models=tuple(await list_models(endpoint)))
    except LLMError as error:
        return replace(test, state="done", code=error.code, message=error.message)


async def _tried(workspace_id: UUID, person_id: UUID, test: ModelTest, endpoint: Endpoint, model: str) -> ModelTest:
    trial = await try_model(endpoint, model)
    await asyncio.to_thread(_save_trial, workspace_id, person_id, endpoint, model, trial)
    return replace(
        test, state="done", ok=trial.ok, code=trial.code, message=trial.message, seconds=round(trial.seconds, 3)
    )  # fmt: skip


def _save_trial(workspace_id: UUID, person_id: UUID, endpoint: Endpoint, model: str, trial: Trial) -> None:
    """Store what the trial took. A failure is only logged: the person still learns whether the model answers."""
    try:
        save_trial(workspace_id, person_id, endpoint, model, trial)
    except DatabaseError:
        logger.exception("A trial of a model could not be stored in the ledger of workspace %s.", workspace_id)
    finally:
        connections.close_all()


def _busy(test: ModelTest) -> ModelTest:
    return replace(
        test, state="done", code="unavailable", message="Too many models are being tried. Try again in a moment."
    )
