"""Fixtures of boards in a chat whose agents use a scripted model."""

from tests.boards.fixtures import boards, supervisor
from tests.runs.fixtures import _scripted_model, engine, environment, model, receiving_engine, start_worker
from tests.runs.test_runs_with_web_fetch import site

__all__ = [
    "_scripted_model",
    "boards",
    "receiving_engine",
    "engine",
    "environment",
    "model",
    "site",
    "start_worker",
    "supervisor",
]
