"""Opens pages on other servers (SEC12, SEC13, RUN13, RUN14).

It follows redirects itself, because each address is checked like the first, and one time limit covers all redirects and the body.
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
DEFAULT_TIMEOUT_SECONDS = 30.0
_REDIRECTS = (301, 302, 303, 307, 308)
# The headers that another origin gets, too: they identify no one.
_CROSS_ORIGIN_HEADERS = frozenset({"accept", "accept-encoding", "accept-language"})


class FetchFailed(Unavailable):
    """The server gave no usable answer. The message is for the person or model that wanted the page."""


@asynccontextmanager
async def open_url(
    url: str,
    *,
    allow_private: Collection[str] = (),
    headers: Mapping[str, str] | None = None,
    seconds: float = DEFAULT_TIMEOUT_SECONDS,
) -> AsyncIterator[aiohttp.ClientResponse]:
    """GET a URL, and yield the response after its redirects, of any status. Read its body by `read_capped`.

    `allow_private` as in `check_url`. `seconds` limits everything until the block is left. Redirects
    from https to http are not followed; another origin gets only `_CROSS_ORIGIN_HEADERS`. Raises `HostRefused` and
    `FetchFailed`, also while the body is read.
    """
    try:
        async with asyncio.timeout(seconds):
            response = await _follow_redirects(
                check_url(url, allow_private), frozenset(allow_private), dict(headers or {})
            )
            try:
                yield response
            finally:
                response.close()
    except TimeoutError as error:
        raise FetchFailed(f"The server did not answer in time ({seconds:g} s).") from error
    except aiohttp.ClientError as error:
        raise _build_failure(error) from error


async def _follow_redirects(
    target: Target, allow_private: frozenset[str], headers: dict[str, str]
) -> aiohttp.ClientResponse:
    for _ in range(MAX_HOPS + 1):
        response = await session_for(target).get(
            target.url, headers={"Accept-Encoding": "gzip, deflate"} | headers, allow_redirects=False
        )
        location = response.headers.get("Location", "")
        if response.status not in _REDIRECTS or not location:
            return response
        response.close()
        following = _check_redirect(target, location, allow_private)
        if following.url.origin() != target.url.origin():
            headers = {name: value for name, value in headers.items() if name.lower() in _CROSS_ORIGIN_HEADERS}
        target = following
    raise FetchFailed(f"The server redirects more than {MAX_HOPS} times.")


def _check_redirect(target: Target, location: str, allow_private: frozenset[str]) -> Target:
    following = check_url(urljoin(str(target.url), location), allow_private)
    if target.url.scheme == "https" and following.url.scheme != "https":
        raise HostRefused("The server redirects from https to http; that is not followed.")
    return following


def _build_failure(error: aiohttp.ClientError) -> FetchFailed:
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
