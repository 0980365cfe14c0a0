"""Fixtures of a worker and a scripted model."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from common.egress import close_sessions
from llm.adapters.litellm import _import_litellm
from tests.runs.fixtures import _scripted_model, engine, environment, model, order_server, start_worker
from tests.scripted_model import ScriptedModel

__all__ = ["_scripted_model", "engine", "environment", "model", "order_server", "start_worker"]


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def litellm_connections() -> AsyncIterator[None]:
    """The connections of litellm, which it keeps per event loop: the tests of a module share a loop, and close them."""
    _import_litellm()
    yield
    await close_sessions()
