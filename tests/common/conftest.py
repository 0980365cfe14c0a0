"""A stranger's site, and eyes on names and connections."""

from collections.abc import AsyncIterator

import pytest

from tests.hostile_web import Connects, Names, Site, served


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A server on the loopback that is reached only where a test allows it."""
    async with served() as site:
        yield site


@pytest.fixture
def connects(monkeypatch: pytest.MonkeyPatch) -> Connects:
    """What is connected to from here on."""
    return Connects(monkeypatch)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """DNS, as the test says."""
    return Names(monkeypatch)
