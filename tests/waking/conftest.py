"""Fixtures of a worker and a scripted model."""

from tests.runs.fixtures import (
    _scripted_model,
    engine,
    environment,
    model,
    order_server,
    receiving_engine,
    start_worker,
)

__all__ = ["_scripted_model", "receiving_engine", "engine", "environment", "model", "order_server", "start_worker"]
