"""Fixtures of a worker, a scripted model, and runs that are driven step by step."""

from tests.memory.driver import driver
from tests.runs.fixtures import _scripted_model, engine, environment, model

__all__ = ["_scripted_model", "driver", "engine", "environment", "model"]
