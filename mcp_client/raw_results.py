"""Keep what a server sends about tools as it was sent: the SDK refuses a whole answer if one tool or one block in it is odd."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse


class RawResults:
    """The stream of messages from a server, for the SDK. `tools`: the last listing as it was sent; `call`: the last result of a
    call. The SDK gets only what it accepts of them."""

    def __init__(self) -> None:
        self.tools: list[Any] = []
        self.call: dict[str, Any] = {}
        self._stream: Any = None

    @asynccontextmanager
    async def open(self, url: str, http: httpx2.AsyncClient) -> AsyncIterator[Any]:
        """Connect to a server, and yield the two streams that the SDK needs. `http` limits the bytes of an answer."""
        async with streamable_http_client(url, http_client=http, max_sse_event_size=None) as (
            read_stream,
            write_stream,
        ):
            self._stream = read_stream
            yield self, write_stream

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        return self._keep(await self._stream.receive())

    def __aiter__(self) -> "RawResults":
        return self

    async def __anext__(self) -> Any:
        return self._keep(await anext(self._stream))

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> "RawResults":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _keep(self, item: Any) -> Any:
        if not isinstance(item, SessionMessage) or not isinstance(item.message, JSONRPCResponse):
            return item
        result = item.message.result
        if isinstance(tools := result.get("tools"), list):
            self.tools = tools
            cursor = result.get("nextCursor")
            accepted = [stand_in for tool in tools if (stand_in := _build_stand_in(tool)) is not None]
            item.message.result = result | {
                "tools": accepted,
                "nextCursor": cursor if isinstance(cursor, str) else None,
            }
        elif not result.keys().isdisjoint(("content", "structuredContent", "isError")):
            self.call = result
            others = {key: value for key, value in result.items() if key not in ("structuredContent", "isError")}
            item.message.result = others | {"content": []}
        return item


def get_tool_name(tool: Any) -> str | None:
    """Return the name of a tool that a server has sent, or null if it has none."""
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else None


def _build_stand_in(tool: Any) -> dict[str, Any] | None:
    """Return what the SDK needs of a tool, or null if it could do nothing with it."""
    name = get_tool_name(tool)
    if name is None:
        return None
    schema = tool.get("inputSchema")
    return {"name": name, "inputSchema": (schema if isinstance(schema, dict) else {}) | {"type": "object"}}
