"""Talk to one MCP server by the SDK. Each operation has a connection of its own.

The SDK's own way to call a tool is not used: it checks results against the server's schema, and a pattern in that schema can
occupy the event loop for hours.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError as SDKError
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, Implementation, Tool
from pydantic import BaseModel

from common.logs import redact_secrets
from common.text import remove_invisible, to_storable_json
from mcp_client.descriptions import MAX_TOOLS, hash_description, parse_descriptions
from mcp_client.protocol import MCPError, MCPListing, MCPResult, MCPServer
from mcp_client.results import build_text
from mcp_client.transport import MCPTransport

MAX_PAGES = 20
MAX_ERROR_CHARACTERS = 1_000


async def list_tools(server: MCPServer, *, seconds: float) -> MCPListing:
    """Return the tools of the server. Raises `MCPError`."""
    async with _connect(server, seconds=seconds) as client:
        sent: list[dict[str, Any]] = []
        is_cut = False
        async for page, has_more in _list_pages(client):
            sent += [_dump(tool) for tool in page]
            is_cut = has_more or len(sent) > MAX_TOOLS
            if len(sent) >= MAX_TOOLS:
                break
        tools, left_out = parse_descriptions(sent[:MAX_TOOLS])
        name = client.server_info.title or client.server_info.name if client.server_info else ""
        return MCPListing(
            " ".join(remove_invisible(name).split())[:80], client.protocol_version, tools, left_out, is_cut
        )


async def call_tool(
    server: MCPServer, name: str, arguments: dict[str, Any], *, pinned_hash: str, seconds: float
) -> MCPResult:
    """Call a tool if its description has the pinned hash. Raises `MCPError`."""
    async with _connect(server, seconds=seconds) as client:
        await _check_hash(client, name, pinned_hash)
        request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments))
        answer = await client.session.send_request(request, CallToolResult)
        # In a thread: the largest answer takes seconds, in which the event loop must go on.
        dumped = await asyncio.to_thread(_redact, to_storable_json(_dump(answer)), server)
        structured = dumped.get("structuredContent")
        # Without invisible characters: a person who opens the result sees all that the model reads.
        text = remove_invisible(build_text(dumped["content"], structured))
        return MCPResult(text, structured, answer.is_error)


async def _check_hash(client: Client, name: str, pinned_hash: str) -> None:
    """Raise `MCPError` unless the server lists the tool, each time with the description that was approved (SEC31)."""
    found = [tool async for page, _ in _list_pages(client) for tool in page if tool.name == name]
    if not found:
        raise MCPError("missing", "The server has no such tool any more, so it was not called.")
    if any(hash_description(_dump(tool)) != pinned_hash for tool in found):
        raise MCPError("changed", "The server has changed this tool, so it was not called. An editor must approve it.")


async def _list_pages(client: Client) -> AsyncIterator[tuple[list[Tool], bool]]:
    """Yield the tools of each page, and whether another page follows."""
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        cursor = page.next_cursor
        yield page.tools, cursor is not None
        if cursor is None:
            return


def _dump(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


@asynccontextmanager
async def _connect(server: MCPServer, *, seconds: float) -> AsyncIterator[Client]:
    """Connect with the newest protocol that the server speaks. Errors within the block become `MCPError` (RUN13)."""
    transport = MCPTransport(server, seconds=seconds)
    try:
        async with (
            asyncio.timeout(seconds),
            httpx2.AsyncClient(transport=transport, trust_env=False, timeout=None) as http,
            Client(
                streamable_http_client(server.url, http_client=http),
                read_timeout_seconds=seconds,
                client_info=Implementation(name="Atelier", version="1"),
                cache=None,  # else the server decides how long an old listing counts
            ) as client,
        ):
            yield client
    except TimeoutError as error:
        raise transport.failure or MCPError("timeout", f"The server did not answer within {seconds:g} s.") from error
    except Exception as error:  # the SDK nests errors of all kinds in groups
        raise _build_error(error, transport, server) from error


def _build_error(error: Exception, transport: MCPTransport, server: MCPServer) -> MCPError:
    """Return the reason of a failure: an error of our own, which the SDK may have hidden in another, else what the SDK reports."""
    causes = list(_iter_leaves(error))
    ours = next((cause for cause in causes if isinstance(cause, MCPError)), None) or transport.failure
    if ours is not None:
        return ours
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return MCPError("timeout", "The server did not answer in time.", is_final=False)
    server_text = next((str(cause.message) for cause in causes if isinstance(cause, SDKError)), "")
    server_text = _redact(" ".join(remove_invisible(server_text).split())[:MAX_ERROR_CHARACTERS], server)
    if transport.status >= 400:
        text = f"The server refused the request (HTTP {transport.status})."
        return MCPError("failed", text, is_final=transport.status < 500, server_text=server_text)
    if server_text:
        return MCPError("failed", "The server refused the request.", server_text=server_text)
    return MCPError("unreadable", f"The server's answer cannot be read ({type(causes[0]).__name__}).")


def _iter_leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _iter_leaves(inner)
    else:
        yield error


def _redact(value: Any, server: MCPServer) -> Any:
    """Return a value of the server without our secrets, which some servers repeat (SEC17)."""
    if isinstance(value, str):
        return redact_secrets(value, *(secret.reveal().removeprefix("Bearer ") for secret in server.headers.values()))
    if isinstance(value, list):
        return [_redact(item, server) for item in value]
    if isinstance(value, dict):
        return {_redact(key, server): _redact(item, server) for key, item in value.items()}
    return value
