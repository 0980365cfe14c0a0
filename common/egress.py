"""Checks which hosts we may connect to for a tenant, and the HTTP sessions that enforce it (SEC12, SEC13).

`check_url` parses a URL of a tenant, once. The resolver returns addresses only if *all* addresses of a name are public. Each
address is checked again when its socket is made, because a literal address does not pass through the resolver. Sessions do
not follow redirects: pass `allow_redirects=False`, or open pages by `common.fetching`, which checks each redirect. No other
module makes an HTTP client; the linter checks that.
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from django.conf import settings
from yarl import URL

from common.addresses import AmbiguousAddress, is_public, literal_address
from common.dns import resolve_host
from common.errors import Code, Invalid

PORTS = (80, 443)
CONNECT_TIMEOUT_SECONDS = 5.0
"""Time limit for a connection to one address (RUN13)."""
MAX_HEADER_BYTES = 16 * 1024
"""Size of one header of an answer; there may be 128 headers."""
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_AUTHORITY_END = re.compile(r"[/?#]")
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+")

MODEL_PATH = "/v1"
"""Where model servers speak OpenAI's protocol, unless the operator names another path."""
LOCAL_MODEL_SERVERS = {"Ollama": 11434, "LM Studio": 1234, "vLLM": 8000, "llama.cpp": 8080}
"""Where model servers usually listen on a person's own machine."""


class HostRefused(Invalid):
    """The host is private, not a host, or written so that two parsers could read it differently."""

    default_code = Code.HOST_REFUSED


@dataclass(frozen=True)
class Target:
    """A checked URL. `trusted`: the operator named its host and port, so its addresses are not checked."""

    url: URL
    trusted: bool


def model_hosts() -> dict[str, frozenset[str]]:
    """Return the private `host:port` pairs where a workspace's model may be, each with the paths allowed there.

    The operator names them, with a path or without (then `/v1`). In embedded mode the usual model servers of this
    machine are among them, but never our own port.
    """
    return {host: frozenset({MODEL_PATH}) for host in local_hosts()} | named_hosts()


def named_hosts() -> dict[str, frozenset[str]]:
    """Return the `host:port` pairs that the operator opened for every workspace, each with the paths allowed there."""
    hosts: dict[str, frozenset[str]] = {}
    for name in settings.ALLOW_PRIVATE_HOSTS:
        host, slash, path = name.partition("/")
        host = host.lower()
        hosts[host] = hosts.get(host, frozenset()) | {slash + path.rstrip("/") if path else MODEL_PATH}
    return hosts


def local_hosts() -> frozenset[str]:
    """Return the `host:port` pairs of model servers on this machine; none unless embedded."""
    if not settings.EMBEDDED:
        return frozenset()
    ports = [port for port in LOCAL_MODEL_SERVERS.values() if port != settings.OWN_PORT]
    return frozenset(f"{host}:{port}" for port in ports for host in ("localhost", "127.0.0.1"))


def check_url(url: str, allow_private: Collection[str] = (), *, any_host: bool = False) -> Target:
    """Parse and check a URL of a tenant. No name is resolved. Raises `HostRefused`.

    `allow_private`: `host:port` pairs without any check. `any_host` is for a URL of the operator. For all
    others: http(s), port 80 or 443, no user name, and a literal address must be a public one.
    """
    parsed = _parse_url(url)
    if any_host or host_and_port(parsed) in allow_private:
        return Target(parsed, trusted=True)
    if parsed.port not in PORTS:
        raise HostRefused(f"Only ports 80 and 443 are allowed, not {parsed.port}.")
    _check_host(_host(parsed))
    return Target(parsed, trusted=False)


def check_model_server(api_base: str) -> Target:
    """Read the address of a workspace's model server; its paths are appended to it. Nothing is resolved.

    Raises `HostRefused`. On a private host only the allowed paths can be reached, so that a workspace that names one
    cannot use it for anything but asking models.
    """
    if "?" in api_base or "#" in api_base:
        raise HostRefused("The address must not have a query or a fragment.", hints=["It often ends in /v1."])
    if not api_base.isascii():
        raise HostRefused(
            "The address has letters that can pass for others, and everybody is told which host their chats go to.",
            hints=["Write the host as it goes over the wire: xn--…"],
        )
    hosts = model_hosts()
    target = check_url(api_base.rstrip("/"), hosts)
    if target.trusted:
        paths = hosts[host_and_port(target.url)]
        if target.url.raw_path.rstrip("/") not in paths:
            raise HostRefused(f"The address must end in {' or '.join(sorted(paths))}.")
    return target


def host_and_port(url: URL) -> str:
    """Return `host:port`, as `ATELIER_ALLOW_PRIVATE_HOSTS` names it."""
    return f"{_host(url)}:{url.port}"


def _host(url: URL) -> str:
    return (url.raw_host or "").rstrip(".").lower()


def check_addresses(host: str, addresses: Iterable[str]) -> None:
    """Raise `HostRefused` unless there is an address and all of them are public."""
    parsed = [ipaddress.ip_address(address) for address in addresses]
    if not parsed or not all(is_public(address) for address in parsed):
        raise HostRefused(
            f"{host} is not on the public internet.", hints=["The operator can allow a private host by name."]
        )


def _parse_url(url: str) -> URL:
    if _UNSAFE.search(url):
        raise HostRefused("The address has spaces, control characters or backslashes.")
    try:
        parsed = URL(url)
    except (ValueError, UnicodeError) as error:
        raise HostRefused("The address cannot be read.") from error
    if parsed.scheme not in ("http", "https") or not parsed.raw_host:
        raise HostRefused("The address must start with http:// or https:// and name a host.")
    if "@" in _AUTHORITY_END.split(url.partition("//")[2], maxsplit=1)[0]:
        raise HostRefused("The address must not carry a user name or a password.")
    return parsed


def _check_host(host: str) -> None:
    try:
        address = literal_address(host)
    except AmbiguousAddress as error:
        raise HostRefused("The address is a number in an unusual form.") from error
    if address is not None:
        check_addresses(host, [host])
    elif not _NAME.fullmatch(host) or host.endswith((".localhost", ".local", ".internal")):
        raise HostRefused(f"{host} is not a name on the public internet.")


class PublicOnlyResolver(AbstractResolver):
    """Returns the addresses of a name only if all of them are public. The connection uses these addresses."""

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_UNSPEC) -> list[ResolveResult]:
        infos = await resolve_host(host, port, family)
        check_addresses(host, [str(info[4][0]) for info in infos])
        return [
            ResolveResult(
                hostname=host,
                host=str(info[4][0]),
                port=port,
                family=info[0],
                proto=info[2],
                flags=socket.AI_NUMERICHOST,
            )
            for info in infos
        ]

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


def make_checked_socket(info: Any) -> socket.socket:
    """Return the socket for one address, after a last check of it. Raises `HostRefused`."""
    family, kind, proto, _, address = info
    check_addresses(str(address[0]), [str(address[0])])
    return socket.socket(family, kind, proto)


_Loop = asyncio.AbstractEventLoop
_sessions: WeakKeyDictionary[_Loop, dict[bool, aiohttp.ClientSession]] = WeakKeyDictionary()


def session_for(target: Target) -> aiohttp.ClientSession:
    """Return the session of this loop for the target, without cookies, proxies of the environment and a time limit."""
    of_loop = _sessions.setdefault(asyncio.get_running_loop(), {})
    session = of_loop.get(target.trusted)
    if session is None or session.closed:
        session = of_loop[target.trusted] = _build_session(trusted=target.trusted)
    return session


async def close_sessions() -> None:
    """Close the sessions of this loop, at the end of a process or a test."""
    for session in _sessions.pop(asyncio.get_running_loop(), {}).values():
        await session.close()


def _build_session(*, trusted: bool) -> aiohttp.ClientSession:
    # Not 100 connections as by default: the runs of a process are bounded elsewhere.
    if trusted:
        connector = aiohttp.TCPConnector(limit=0)
    else:
        connector = aiohttp.TCPConnector(
            limit=0, ttl_dns_cache=30, resolver=PublicOnlyResolver(), socket_factory=make_checked_socket
        )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_SECONDS),
        max_line_size=MAX_HEADER_BYTES,
        max_field_size=MAX_HEADER_BYTES,
        headers={"User-Agent": "Atelier", "Accept-Encoding": "identity"},
    )


async def read_capped(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """Return at most the first `limit` bytes of the decoded body. The rest is not read or decompressed (RUN14).

    aiohttp decompresses only what is read.
    """
    parts: list[bytes] = []
    left = limit
    while left > 0 and (part := await response.content.read(left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
