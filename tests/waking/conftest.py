"""Fixtures of a worker and a scripted model."""

from tests.runs.fixtures import _scripted_model, delivered_tasks, engine, environment, model, order_server, start_worker

__all__ = ["_scripted_model", "delivered_tasks", "engine", "environment", "model", "order_server", "start_worker"]
