"""A server of an outside program, and fixtures of a worker."""

import pytest

from tests.runs.fixtures import _scripted_model, engine, environment, model
from tests.webhook_receiver import Receiver

__all__ = ["_scripted_model", "engine", "environment", "model"]


@pytest.fixture
def receiver(settings):
    made = Receiver()
    settings.ALLOW_PRIVATE_HOSTS = [made.host]
    yield made
    made.close()
