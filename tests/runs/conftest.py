"""Fixtures of a worker and a scripted model."""

from tests.runs.fixtures import _scripted_model, crew, engine, model, shop, workroom

__all__ = ["_scripted_model", "crew", "engine", "model", "shop", "workroom"]
