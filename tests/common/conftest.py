"""Fixtures: a server on the loopback, a fake DNS and a recorder of connections."""

from collections.abc import AsyncIterator

import pytest

from tests.hostile_web import ConnectionRecorder, FakeDns, Site, run_site


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A server on the loopback, which our code may reach only if a test allows it."""
    async with run_site() as site:
        yield site


@pytest.fixture
def connects(monkeypatch: pytest.MonkeyPatch) -> ConnectionRecorder:
    """The IP addresses of all connections from now on."""
    return ConnectionRecorder(monkeypatch)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> FakeDns:
    """A DNS whose answers the test sets."""
    return FakeDns(monkeypatch)
