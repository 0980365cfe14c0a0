"""A site of another server, which the operator allows to be read."""

from collections.abc import AsyncIterator

import pytest

from tests.hostile_web import Site, run_site


@pytest.fixture
async def site(settings) -> AsyncIterator[Site]:
    """A server on the loopback."""
    async with run_site() as site:
        settings.ALLOW_PRIVATE_HOSTS = frozenset({site.host})
        yield site
