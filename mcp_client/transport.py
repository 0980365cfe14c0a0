"""The HTTP transport of the MCP SDK: it sends requests through the client that checks addresses (SEC12, SEC13, SEC31).

Without this transport, the SDK would read a body of any size, reconnect as often as a server asks it to, and follow redirects.
"""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import httpx2

from common.egress import CONNECT_TIMEOUT_SECONDS, HostRefused, get_session_for
from mcp_client.client import check_server_url
from mcp_client.protocol import MCPError, MCPServer

MAX_BYTES = 2 * 1024 * 1024
"""Bytes of all answers to one client, decompressed."""
MAX_REQUESTS = 50
"""Requests of one client."""
_CHUNK = 64 * 1024
_HEADERS_NOT_SENT = ("host", "accept-encoding", "user-agent")
_HEADERS_NOT_PASSED_ON = ("content-encoding", "content-length", "transfer-encoding")


class MCPTransport(httpx2.AsyncBaseTransport):
    """Sends the requests of one client until a limit is reached or `seconds` have passed.

    With a server, all requests go to its origin and carry its credential. Without one (for OAuth), requests may go to any address
    that `check_server_url` allows, and the SDK checks the status of answers. `failure`: the error of the first request that failed;
    the SDK hides it in errors of its own. `status`: the last HTTP status of a POST, as a server may refuse the stream (GET) and the
    end of the session (DELETE).
    """

    def __init__(self, server: MCPServer | None, *, seconds: float) -> None:
        self.failure: MCPError | None = None
        self.status = 0
        self._has_succeeded = False
        self._server = server
        self._ends_at = asyncio.get_running_loop().time() + seconds
        self._bytes = 0
        self._requests = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request. Raises `httpx2.ReadError`."""
        try:
            response = await self._send(request)
            if request.method == "POST":
                self.status = response.status
                self._has_succeeded = self._has_succeeded or response.status < 400
            self._check_status(response)
        except (MCPError, HostRefused, aiohttp.ClientError, ValueError, OSError) as error:
            raise self.record_failure(error, request) from error
        headers = [
            (name, text) for name, text in response.headers.items() if name.lower() not in _HEADERS_NOT_PASSED_ON
        ]
        return httpx2.Response(
            response.status, headers=headers, stream=_AnswerBody(self, response, request), request=request
        )

    @property
    def may_be_old(self) -> bool:
        """Whether the server has refused all that was posted, as one with the old transport (HTTP+SSE) does."""
        return self._server is not None and not self._has_succeeded and self.status in (400, 404, 405)

    async def is_old(self) -> bool:
        """Return whether the server opens a stream of events at its address, as the old transport begins."""
        assert self._server is not None
        try:
            response = await self._send(
                httpx2.Request("GET", self._server.url, headers={"Accept": "text/event-stream"})
            )
        except (MCPError, HostRefused, aiohttp.ClientError, ValueError, OSError):
            return False
        response.close()
        return response.status == 200 and response.content_type == "text/event-stream"

    async def _send(self, request: httpx2.Request) -> aiohttp.ClientResponse:
        self._requests += 1
        if self._requests > MAX_REQUESTS:
            raise MCPError("too_large", f"The server made us send more than {MAX_REQUESTS} requests.")
        seconds = self._ends_at - asyncio.get_running_loop().time()
        if seconds <= 0:
            raise TimeoutError
        target = check_server_url(str(request.url))
        if self._server and target.url.origin() != check_server_url(self._server.url).url.origin():
            raise MCPError("redirected", "The server sends requests to another server, which is not followed.")
        secrets = self._server.headers if self._server else {}
        headers = [(name, text) for name, text in request.headers.items() if name not in _HEADERS_NOT_SENT]
        return await get_session_for(target).request(
            request.method,
            target.url,
            headers=[*headers, *((name, secret.reveal()) for name, secret in secrets.items())],
            data=await request.aread(),
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=CONNECT_TIMEOUT_SECONDS),
        )

    def _check_status(self, response: aiohttp.ClientResponse) -> None:
        if self._server is None:
            return
        if response.status in (401, 403):
            response.close()
            challenge = response.headers.get("WWW-Authenticate", "")
            if not self._server.headers:
                raise MCPError("sign_in_needed", "The server wants a sign-in.", challenge=challenge)
            raise MCPError("unauthorized", "The server does not accept our credential.", challenge=challenge)
        if 300 <= response.status < 400:
            response.close()
            raise MCPError("redirected", "The server redirects, which is not followed.")

    def count_bytes(self, number: int) -> None:
        """Count these bytes of an answer. Raises `MCPError` when all answers together are too large."""
        self._bytes += number
        if self._bytes > MAX_BYTES:
            raise MCPError("too_large", f"The server sent more than {MAX_BYTES // 1024 // 1024} MB.")

    def record_failure(self, error: Exception, request: httpx2.Request) -> httpx2.ReadError:
        """Remember the reason of a failure if it is the first, and return the error for the SDK."""
        if self.failure is None:
            self.failure = _build_error(error)
        return httpx2.ReadError(str(self.failure), request=request)


class _AnswerBody(httpx2.AsyncByteStream):
    """The body of an answer as it arrives. Its end closes the connection."""

    def __init__(self, transport: MCPTransport, response: aiohttp.ClientResponse, request: httpx2.Request) -> None:
        self._transport = transport
        self._response = response
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            # `read` decompresses no more than it returns.
            while chunk := await self._response.content.read(_CHUNK):
                self._transport.count_bytes(len(chunk))
                yield chunk
        except (MCPError, aiohttp.ClientError, OSError) as error:
            raise self._transport.record_failure(error, self._request) from error
        finally:
            self._response.close()

    async def aclose(self) -> None:
        self._response.close()


def _build_error(error: Exception) -> MCPError:
    match error:
        case MCPError():
            return error
        case HostRefused():
            return MCPError("host_refused", error.message)
        case TimeoutError():
            return MCPError("timeout", "The server did not answer in time.", is_final=False)
        case aiohttp.ClientConnectorError() if isinstance(error.__cause__, HostRefused):
            return MCPError("host_refused", error.__cause__.message)
        case aiohttp.ClientConnectorError() | aiohttp.ClientSSLError():
            return MCPError("unreachable", "The server cannot be reached.", is_final=False)
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError() | ConnectionError():
            return MCPError(
                "unreachable", "The server closed the connection without a complete answer.", is_final=False
            )
        case _:
            is_final = not isinstance(error, aiohttp.ClientPayloadError)  # the body of the answer broke off
            text = f"The server's answer cannot be read ({type(error).__name__})."
            return MCPError("unreadable", text, is_final=is_final)
