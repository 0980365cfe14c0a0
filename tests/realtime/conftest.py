"""Fixtures for tests of sockets through the ASGI application, with real sessions, Redis and transactions."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from realtime import maintenance
from realtime.hub import get_hub
from tests.people import Team, make_team
from tests.realtime.tab import Tabs


@pytest.fixture
def team(transactional_db: None) -> Team:
    """The team, committed, because sockets read on other connections."""
    return make_team()


@pytest.fixture
async def tabs() -> AsyncIterator[Tabs]:
    """Opens sockets, and closes them at the end of a test."""
    tabs = Tabs()
    yield tabs
    await tabs.close()
    hub = get_hub()
    assert not hub.sockets
    while hub._tasks:
        await asyncio.wait(hub._tasks)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the intervals of the hub."""
    monkeypatch.setattr(maintenance, "HEARTBEAT_INTERVAL_SECONDS", 0.3)
    monkeypatch.setattr(maintenance, "RIGHTS_CHECK_INTERVAL_SECONDS", 0.2)
    monkeypatch.setattr(maintenance, "PROBE_INTERVAL_SECONDS", 0.1)
