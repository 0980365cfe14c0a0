"""Ask an MCP server for its tools, and call them. Only HTTP: no program is ever started for a server (SEC31)."""

import asyncio
import importlib
from typing import Any, cast

from common.egress import HostRefused, Target, check_url, list_hosts_without_path
from mcp_client.protocol import MCPListing, MCPResult, MCPServer

LIST_SECONDS = 20.0
"""Seconds in which a server must have listed its tools."""


def check_server_url(url: str) -> Target:
    """Parse and check the address of a server. No name is resolved. Raises `HostRefused`.

    Credentials are sent to it, so it needs https, unless the operator allows the host.
    """
    target = check_url(url, list_hosts_without_path())
    if target.url.scheme != "https" and not target.trusted:
        raise HostRefused("The address of a server must start with https://.")
    return target


async def list_server_tools(server: MCPServer, *, seconds: float = LIST_SECONDS) -> MCPListing:
    """Return the tools of the server. Raises `MCPError`."""
    session = await _import_session()
    return cast(MCPListing, await session.list_tools(server, seconds=seconds))


async def call_server_tool(
    server: MCPServer, name: str, arguments: dict[str, Any], *, pinned_hash: str, seconds: float
) -> MCPResult:
    """Call a tool if its description still has the hash that an editor has approved.

    Raises `MCPError`: with the code `changed` or `missing`, the tool was not called.
    """
    session = await _import_session()
    return cast(MCPResult, await session.call_tool(server, name, arguments, pinned_hash=pinned_hash, seconds=seconds))


async def _import_session() -> Any:
    """Import the SDK in a thread: it takes about a second and 60 MB, so that only processes that need it have it."""
    return await asyncio.to_thread(importlib.import_module, "mcp_client.session")
