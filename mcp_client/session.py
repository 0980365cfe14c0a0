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
from mcp.shared.exceptions import MCPError as SDKError
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, Implementation, Tool
from pydantic import ValidationError

from common.logs import redact_secrets
from common.text import remove_invisible, to_storable_json
from mcp_client.descriptions import MAX_TOOLS, hash_description, parse_descriptions
from mcp_client.protocol import MCPError, MCPListing, MCPResult, MCPServer
from mcp_client.raw_results import RawResults, get_tool_name
from mcp_client.results import build_text
from mcp_client.transport import MCPTransport

MAX_PAGES = 20
MAX_ERROR_CHARACTERS = 1_000
_TEXTS_OF_SDK = (
    "Connection closed",
    "Failed to parse",
    "Not Found",
    "SSE stream",
    "Server returned an error response",
    "Session terminated",
    "Unexpected content type",
    "server answered a request with 202",
)
"""How the errors begin that the SDK makes itself: they are not words of the server."""


async def list_tools(server: MCPServer, *, seconds: float) -> MCPListing:
    """Return the tools of the server. Raises `MCPError`."""
    async with _connect(server, seconds=seconds) as (client, raw):
        sent: list[Any] = []
        is_cut = False
        async for page, has_more in _list_pages(client, raw):
            # A server that ignores the cursor sends a page again.
            sent += [tool for tool in page if tool not in sent] if sent else page
            is_cut = has_more or len(sent) > MAX_TOOLS
            if len(sent) >= MAX_TOOLS:
                break
        tools, left_out = parse_descriptions([_read_tool(tool) for tool in sent[:MAX_TOOLS]])
        name = client.server_info.title or client.server_info.name if client.server_info else ""
        return MCPListing(
            " ".join(remove_invisible(name).split())[:80], client.protocol_version, tools, left_out, is_cut
        )


async def call_tool(
    server: MCPServer, name: str, arguments: dict[str, Any], *, pinned_hash: str, seconds: float
) -> MCPResult:
    """Call a tool if its description has the pinned hash. Raises `MCPError`."""
    async with _connect(server, seconds=seconds, refusal="The server refused the call") as (client, raw):
        await _check_hash(client, raw, name, pinned_hash)
        request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments))
        await client.session.send_request(request, CallToolResult)
        # In a thread: the largest answer takes seconds, in which the event loop must go on.
        result = await asyncio.to_thread(_redact, to_storable_json(raw.call), server)
        structured = result.get("structuredContent")
        # Without invisible characters: a person who opens the result sees all that the model reads.
        text = remove_invisible(build_text(result.get("content"), structured))
        return MCPResult(text, structured, result.get("isError") is True)


async def _check_hash(client: Client, raw: RawResults, name: str, pinned_hash: str) -> None:
    """Raise `MCPError` unless the server lists the tool, each time with the description that was approved (SEC31)."""
    listed = [_read_tool(tool) async for page, _ in _list_pages(client, raw) for tool in page]
    found = [tool for tool in listed if isinstance(tool, dict) and tool["name"] == name]
    if not found:
        raise MCPError("missing", "The server has no such tool any more, so it was not called.")
    if any(hash_description(tool) != pinned_hash for tool in found):
        raise MCPError("changed", "The server has changed this tool, so it was not called. An editor must approve it.")


async def _list_pages(client: Client, raw: RawResults) -> AsyncIterator[tuple[list[Any], bool]]:
    """Yield the tools of each page as they were sent, and whether another page follows. A cursor that was sent before ends the
    list."""
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        cursor = page.next_cursor or None
        has_more = cursor is not None and cursor not in seen
        # The SDK leaves out a tool whose arguments must not become headers.
        names = {None, *(tool.name for tool in page.tools)}
        yield [one for one in raw.tools if get_tool_name(one) in names], has_more
        if cursor is None or not has_more:
            return
        seen.add(cursor)


def _read_tool(sent: Any) -> dict[str, Any] | tuple[str, str]:
    """Return a description of the protocol, or the name of the tool and the reason why there is none."""
    name = get_tool_name(sent)
    if name is None:
        return "?", "It has no name."
    try:
        return Tool.model_validate(sent | {"inputSchema": sent.get("inputSchema") or {}}, by_name=False).model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
    except ValidationError as error:
        [first, *_] = error.errors()
        where = ".".join(map(str, first["loc"]))
        return name, f"Its description is not valid ({where[:80]}: {first['msg'][:100]})."


@asynccontextmanager
async def _connect(
    server: MCPServer, *, seconds: float, refusal: str = "The server refused the request"
) -> AsyncIterator[tuple[Client, RawResults]]:
    """Connect with the newest protocol that the server speaks. Errors within the block become `MCPError` (RUN13)."""
    transport = MCPTransport(server, seconds=seconds)
    raw = RawResults()
    try:
        async with (
            asyncio.timeout(seconds),
            httpx2.AsyncClient(transport=transport, trust_env=False, timeout=None) as http,
            Client(
                raw.open(server.url, http),
                read_timeout_seconds=seconds,
                client_info=Implementation(name="Atelier", version="1"),
                cache=None,  # else the server decides how long an old listing counts
            ) as client,
        ):
            yield client, raw
    except TimeoutError as error:
        raise transport.failure or MCPError("timeout", f"The server did not answer within {seconds:g} s.") from error
    except Exception as error:  # the SDK nests errors of all kinds in groups
        if transport.may_be_old and await transport.is_old():
            text = "This server speaks the old transport (HTTP+SSE). Look for its address that ends with /mcp."
            raise MCPError("old_transport", text) from error
        raise _build_error(error, transport, server, refusal) from error


def _build_error(error: Exception, transport: MCPTransport, server: MCPServer, refusal: str) -> MCPError:
    """Return the reason of a failure: an error of our own, which the SDK may have hidden in another, else what the SDK reports."""
    causes = list(_iter_leaves(error))
    ours = next((cause for cause in causes if isinstance(cause, MCPError)), None) or transport.failure
    if ours is not None:
        return ours
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return MCPError("timeout", "The server did not answer in time.", is_final=False)
    server_text = next((str(cause.message) for cause in causes if isinstance(cause, SDKError)), "")
    if server_text.startswith(_TEXTS_OF_SDK):
        server_text = ""
    server_text = _redact(" ".join(remove_invisible(server_text).split())[:MAX_ERROR_CHARACTERS], server)
    if transport.status >= 400:
        text = f"{refusal} (HTTP {transport.status})."
        return MCPError("failed", text, is_final=transport.status < 500, server_text=server_text)
    if server_text:
        return MCPError("failed", f"{refusal}.", server_text=server_text)
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
