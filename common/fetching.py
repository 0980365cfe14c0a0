"""The one door through which a page on somebody else's server is opened (SEC12, SEC13, RUN13, RUN14).

It follows redirects by itself, because each hop is judged like the first; and the whole, hops and body, has one end.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urljoin

import aiohttp

from common.egress import HostRefused, Target, check_url, session_for
from common.errors import Unavailable

MAX_HOPS = 5
"""Redirects that are followed."""
SECONDS = 30.0
_REDIRECTS = (301, 302, 303, 307, 308)
# What may still be said to another origin: nothing by which it could know, or act for, whoever asks.
_FOR_ANYBODY = frozenset({"accept", "accept-encoding", "accept-language"})


class FetchFailed(Unavailable):
    """The server was asked and there is no answer to use; the message is for whoever wanted the page."""


@asynccontextmanager
async def opened(
    url: str, *, allow_private: Collection[str] = (), headers: Mapping[str, str] | None = None, seconds: float = SECONDS
) -> AsyncIterator[aiohttp.ClientResponse]:
    """GET a URL; the response at the end of its redirects, of any status, its body still to be read (`read_capped`).

    `allow_private` as in `check_url`. `seconds` bound everything until the block is left. From https to http no
    redirect is followed; `headers` go to the first origin only, but for what says nothing about the caller. Raises
    `HostRefused` and `FetchFailed`, also for what happens while the body is read.
    """
    try:
        async with asyncio.timeout(seconds):
            response = await _follow(check_url(url, allow_private), frozenset(allow_private), dict(headers or {}))
            try:
                yield response
            finally:
                response.close()
    except TimeoutError as error:
        raise FetchFailed(f"The server did not answer in time ({seconds:g} s).") from error
    except aiohttp.ClientError as error:
        raise _failure(error) from error


async def _follow(target: Target, allow_private: frozenset[str], headers: dict[str, str]) -> aiohttp.ClientResponse:
    for _ in range(MAX_HOPS + 1):
        response = await session_for(target).get(
            target.url, headers={"Accept-Encoding": "gzip, deflate"} | headers, allow_redirects=False
        )
        where = response.headers.get("Location", "")
        if response.status not in _REDIRECTS or not where:
            return response
        response.close()
        following = _next(target, where, allow_private)
        if following.url.origin() != target.url.origin():
            headers = {name: value for name, value in headers.items() if name.lower() in _FOR_ANYBODY}
        target = following
    raise FetchFailed(f"The server redirects more than {MAX_HOPS} times.")


def _next(target: Target, where: str, allow_private: frozenset[str]) -> Target:
    following = check_url(urljoin(str(target.url), where), allow_private)
    if target.url.scheme == "https" and following.url.scheme != "https":
        raise HostRefused("The server redirects from https to http; that is not followed.")
    return following


def _failure(error: aiohttp.ClientError) -> FetchFailed:
    match error:
        case aiohttp.ClientConnectorDNSError() if error.os_error.errno == socket.EAI_AGAIN:
            return FetchFailed(f"The name {error.host} could not be looked up in time.")
        case aiohttp.ClientConnectorDNSError():
            return FetchFailed(f"There is no host named {error.host}.")
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError():
            return FetchFailed("The server's certificate is not valid, or it does not speak TLS.")
        case aiohttp.ClientConnectorError() | aiohttp.ServerTimeoutError():
            return FetchFailed("The server cannot be reached.")
        case _:
            return FetchFailed(f"The server's answer cannot be read ({type(error).__name__}).")
