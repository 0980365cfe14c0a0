"""Servers of others: a site that the operator allows to be read, and an MCP server."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.hostile_web import Site, run_site
from tests.mcp_server import MCPTestServer, run_mcp_server


@pytest.fixture
async def site(settings) -> AsyncIterator[Site]:
    """A server on the loopback."""
    async with run_site() as site:
        settings.ALLOW_PRIVATE_HOSTS = frozenset({site.host})
        yield site


@pytest.fixture(scope="module")
def real_process() -> Iterator[MCPTestServer]:
    """An MCP server by the SDK."""
    with run_mcp_server() as server:
        yield server
