"""Open pages on other servers (SEC12, SEC13, RUN13, RUN14).

Redirects are followed here, not by aiohttp, so that each URL is checked like the first, and one time limit covers all
redirects and the body.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urljoin

import aiohttp

from common.egress import HostRefused, Target, check_url, get_session_for
from common.errors import Unavailable

MAX_REDIRECTS = 5
DEFAULT_TIMEOUT_SECONDS = 30.0
REDIRECTS = (301, 302, 303, 307, 308)
# The headers that are also sent to another origin: they identify no one.
_CROSS_ORIGIN_HEADERS = frozenset({"accept", "accept-encoding", "accept-language"})


class FetchFailed(Unavailable):
    """The server gave no usable answer. The message is for the person or model that asked for the page."""


@asynccontextmanager
async def open_url(
    url: str,
    *,
    allow_private: Collection[str] = (),
    headers: Mapping[str, str] | None = None,
    seconds: float = DEFAULT_TIMEOUT_SECONDS,
) -> AsyncIterator[aiohttp.ClientResponse]:
    """GET a URL, follow its redirects, and yield the response, whatever its status. Read its body by `read_capped`.

    `allow_private`: see `check_url`. `seconds` is the time limit of the whole `async with` block. Redirects from https to http are
    not followed; another origin gets only `_CROSS_ORIGIN_HEADERS`. Raises `HostRefused` and `FetchFailed`, also while the body is
    read.
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
        raise build_failure(error) from error


async def _follow_redirects(
    target: Target, allow_private: frozenset[str], headers: dict[str, str]
) -> aiohttp.ClientResponse:
    for _ in range(MAX_REDIRECTS + 1):
        response = await get_session_for(target).get(
            target.url, headers={"Accept-Encoding": "gzip, deflate"} | headers, allow_redirects=False
        )
        location = response.headers.get("Location", "")
        if response.status not in REDIRECTS or not location:
            return response
        response.close()
        next_target = _check_redirect(target, location, allow_private)
        if next_target.url.origin() != target.url.origin():
            headers = {name: value for name, value in headers.items() if name.lower() in _CROSS_ORIGIN_HEADERS}
        target = next_target
    raise FetchFailed(f"The server redirects more than {MAX_REDIRECTS} times.")


def _check_redirect(target: Target, location: str, allow_private: frozenset[str]) -> Target:
    try:
        url = urljoin(str(target.url), location)
    except ValueError as error:
        raise HostRefused("The server redirects to an invalid address.") from error
    next_target = check_url(url, allow_private)
    if target.url.scheme == "https" and next_target.url.scheme != "https":
        raise HostRefused("The server redirects from https to http; that is not followed.")
    return next_target


def build_failure(error: aiohttp.ClientError) -> FetchFailed:
    """Return the failure of a request. Its message has none of aiohttp's details, such as IP addresses."""
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
