"""The HTTP transport that replaces litellm's: it sends requests through the client that checks addresses (SEC12, SEC13).

litellm's transport follows redirects with the key, takes proxies and addresses from the environment, keeps a connection open
for each event loop, and retries when it cannot connect.
"""

from collections.abc import AsyncIterator

import aiohttp
import httpx
from yarl import URL

from common.egress import HostRefused, check_url, get_session_for, list_model_hosts
from llm.errors import REDIRECTED

_HEADERS_NOT_PASSED_ON = ("content-encoding", "content-length", "transfer-encoding")


class GuardedTransport(httpx.AsyncBaseTransport):
    """Sends requests of httpx through our sessions, and checks their addresses. `any_host`: for endpoints of the operator."""

    def __init__(self, *, any_host: bool) -> None:
        self._any_host = any_host

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request without a time limit. Raises `HostRefused`, `httpx.ReadError`."""
        target = check_url(str(request.url), list_model_hosts(), any_host=self._any_host)
        # With path and query as they were requested. They are signed, so their encoding must not change.
        path, _, query = request.url.raw_path.decode("ascii").partition("?")
        url = URL.build(
            scheme=target.url.scheme, authority=target.url.raw_authority, path=path, query_string=query, encoded=True
        )
        request_headers = [
            (name, text) for name, text in request.headers.items() if name not in ("host", "accept-encoding")
        ]
        try:
            response = await get_session_for(target).request(
                request.method,
                url,
                headers=request_headers,
                data=await request.aread(),
                allow_redirects=False,
            )
        except aiohttp.ClientError as error:
            # Not `ConnectError`, which litellm would retry.
            raise httpx.ReadError(str(error), request=request) from error
        if 300 <= response.status < 400:
            response.close()
            raise HostRefused(REDIRECTED)
        headers = [
            (name, text) for name, text in response.headers.items() if name.lower() not in _HEADERS_NOT_PASSED_ON
        ]
        return httpx.Response(response.status, headers=headers, stream=_ResponseBody(response), request=request)


class _ResponseBody(httpx.AsyncByteStream):
    """The body of a response as it arrives. Closing it early closes the connection."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._response.content.iter_any():
                yield chunk
        except aiohttp.ClientError as error:
            raise httpx.ReadError(str(error)) from error
        finally:
            # litellm does not always close a stream that it stops reading.
            self._response.close()

    async def aclose(self) -> None:
        self._response.close()
