"""Check which hosts we may connect to for a tenant, and build the HTTP sessions that enforce it (SEC12, SEC13).

`check_url` parses a URL of a tenant, once. The resolver returns IP addresses only if *all* IP addresses of a name are public. Each
IP address is checked again when its socket is made, because one in the URL does not pass through the resolver. Callers pass
`allow_redirects=False`, or open pages by `common.fetching`, which checks each redirect. No other module makes an HTTP client;
the linter checks that.
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

from common.dns import resolve_host
from common.errors import Code, Invalid
from common.ip_addresses import AmbiguousIpAddress, is_public, parse_ip_address

PORTS = (80, 443)
_THIS_MACHINE = ("localhost", "127.0.0.1")
CONNECT_TIMEOUT_SECONDS = 5.0
"""Time limit for a connection to one IP address (RUN13)."""
MAX_HEADER_BYTES = 16 * 1024
"""Bytes of one header of a response, which may have 128 headers."""
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_AUTHORITY_END = re.compile(r"[/?#]")
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+")

MODEL_PATH = "/v1"
"""The path of OpenAI's protocol on a model server, unless the operator names another one."""
LOCAL_MODEL_SERVERS = {"Ollama": 11434, "LM Studio": 1234, "vLLM": 8000, "llama.cpp": 8080}
"""The usual ports of model servers on a person's own machine."""


class HostRefused(Invalid):
    """The host is private, not a host, or written so that two parsers could read it differently.

    `can_be_allowed`: the operator could allow it.
    """

    default_code = Code.HOST_REFUSED
    can_be_allowed = False


@dataclass(frozen=True)
class Target:
    """A checked URL. If it is `trusted`, the operator has allowed its host and port, and its IP addresses are not checked."""

    url: URL
    trusted: bool


def list_model_hosts() -> dict[str, frozenset[str]]:
    """Return the private `host:port` pairs that a workspace's model may use, each with the paths allowed there.

    The operator names them, with or without a path (default `/v1`). In embedded mode the usual ports of model servers on this
    machine are added, but never our own port.
    """
    return {host: frozenset({MODEL_PATH}) for host in list_hosts_of_this_machine()} | list_allowed_hosts()


def list_allowed_hosts() -> dict[str, frozenset[str]]:
    """Return the `host:port` pairs that the operator allows for models of every workspace, each with the paths allowed there."""
    hosts: dict[str, frozenset[str]] = {}
    for name in settings.ALLOW_PRIVATE_HOSTS:
        host, _, path = name.partition("/")
        allowed_path = f"/{path.rstrip('/')}" if path else MODEL_PATH
        for spelling in _list_spellings(host):
            hosts[spelling] = hosts.get(spelling, frozenset()) | {allowed_path}
    return hosts


def _list_spellings(host: str) -> list[str]:
    """Return the spellings of a `host:port`: this machine is `localhost` and `127.0.0.1`."""
    name, _, port = host.lower().rpartition(":")
    return [f"{same}:{port}" for same in _THIS_MACHINE] if name in _THIS_MACHINE else [host.lower()]


def list_hosts_without_path() -> frozenset[str]:
    """Return the `host:port` pairs that the operator names without a path: tools and webhooks may use only these, on any path."""
    return frozenset(
        spelling for name in settings.ALLOW_PRIVATE_HOSTS if "/" not in name for spelling in _list_spellings(name)
    )


def list_hosts_of_this_machine() -> frozenset[str]:
    """Return the `host:port` pairs of the usual model servers on this machine; none unless embedded."""
    if not settings.EMBEDDED:
        return frozenset()
    ports = [port for port in LOCAL_MODEL_SERVERS.values() if port != settings.OWN_PORT]
    return frozenset(f"{host}:{port}" for port in ports for host in _THIS_MACHINE)


def is_host_and_port(text: str) -> bool:
    """Return whether a text is `host:port`, as a URL names them."""
    try:
        parsed = URL(f"http://{text}")
        return parsed.explicit_port is not None and format_host_and_port(parsed) == text.lower()
    except ValueError:
        return False


def is_private_server(url: str) -> bool:
    """Return whether a URL names a host on a private network or on this machine. No name is resolved."""
    parsed = URL(url)
    host = _get_host(parsed)
    if format_host_and_port(parsed) in list_model_hosts():
        return True
    try:
        ip_address = parse_ip_address(host)
    except AmbiguousIpAddress:
        return False
    if ip_address is not None:
        return not is_public(ip_address)
    return bool(host) and (
        "." not in host or host.endswith((".localhost", ".local", ".internal", ".lan", ".home.arpa"))
    )


def check_url(url: str, allow_private: Collection[str] = (), *, any_host: bool = False) -> Target:
    """Parse and check a URL of a tenant. No name is resolved. Raises `HostRefused`.

    Every URL needs http(s), a host and no user name. It also needs port 80 or 443, and a public name or IP address, unless its
    `host:port` is in `allow_private` or `any_host` is true (a URL that the operator has set).
    """
    parsed = _parse_url(url)
    if any_host or format_host_and_port(parsed) in allow_private:
        return Target(parsed, trusted=True)
    try:
        if parsed.port not in PORTS:
            raise HostRefused(f"Only ports 80 and 443 are allowed, not {parsed.port}.")
        _check_host(_get_host(parsed))
    except HostRefused as refused:
        refused.hints = [f"The operator can allow it: ATELIER_ALLOW_PRIVATE_HOSTS={format_host_and_port(parsed)}"]
        refused.can_be_allowed = True
        raise
    return Target(parsed, trusted=False)


def build_hint_for_operators() -> str:
    """Return which private hosts are allowed now. Other people must not read it: it names servers of the operator's network."""
    return f"Allowed now: {', '.join(sorted(settings.ALLOW_PRIVATE_HOSTS)) or 'none'}."


def check_model_server(api_base: str) -> Target:
    """Parse and check the base URL of a workspace's model server. No name is resolved. Raises `HostRefused`.

    On a private host only the allowed paths can be reached, so that a workspace can use that host for model calls only.
    """
    if "?" in api_base or "#" in api_base:
        raise HostRefused("The URL must not have a query or a fragment.", hints=["It often ends in /v1."])
    if not api_base.isascii():
        raise HostRefused(
            "The URL has letters that can pass for others, and everybody is notified which host their chats go to.",
            hints=["Write the host as it goes over the wire: xn--…"],
        )
    hosts = list_model_hosts()
    target = check_url(api_base.rstrip("/"), hosts)
    if target.trusted:
        paths = hosts[format_host_and_port(target.url)]
        if target.url.raw_path.rstrip("/") not in paths:
            raise HostRefused(f"The URL must end in {' or '.join(sorted(paths))}.")
    return target


def format_host_and_port(url: URL) -> str:
    """Return `host:port`, as `ATELIER_ALLOW_PRIVATE_HOSTS` names it."""
    host = _get_host(url)
    return f"[{host}]:{url.port}" if ":" in host else f"{host}:{url.port}"


def _get_host(url: URL) -> str:
    return (url.raw_host or "").rstrip(".").lower()


def check_ip_addresses(host: str, ip_addresses: Iterable[str]) -> None:
    """Raise `HostRefused` unless there is an IP address and all of them are public."""
    parsed = [ipaddress.ip_address(text) for text in ip_addresses]
    if not parsed or not all(is_public(ip_address) for ip_address in parsed):
        raise HostRefused(
            f"{host} is not on the public internet.", hints=["The operator can allow a private host by name."]
        )


def _parse_url(url: str) -> URL:
    if _UNSAFE.search(url):
        raise HostRefused("The URL has spaces, control characters or backslashes.")
    try:
        parsed = URL(url)
    except (ValueError, UnicodeError) as error:
        raise HostRefused("The URL cannot be read.") from error
    if parsed.scheme not in ("http", "https") or not parsed.raw_host:
        raise HostRefused("The URL must start with http:// or https:// and name a host.")
    if "@" in _AUTHORITY_END.split(url.partition("//")[2], maxsplit=1)[0]:
        raise HostRefused("The URL must not carry a user name or a password.")
    return parsed


def _check_host(host: str) -> None:
    try:
        ip_address = parse_ip_address(host)
    except AmbiguousIpAddress as error:
        raise HostRefused("The host is an IP address in an unusual form.") from error
    if ip_address is not None:
        check_ip_addresses(host, [host])
    elif not _NAME.fullmatch(host) or host.endswith((".localhost", ".local", ".internal")):
        raise HostRefused(f"{host} is not a name on the public internet.")


class PublicOnlyResolver(AbstractResolver):
    """Returns the IP addresses of a name only if all of them are public. The connection uses these."""

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_UNSPEC) -> list[ResolveResult]:
        infos = await resolve_host(host, port, family)
        check_ip_addresses(host, [str(info[4][0]) for info in infos])
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
        """Do nothing: the resolver has no resources."""


def make_checked_socket(info: Any) -> socket.socket:
    """Return the socket for one IP address, after a last check of it. Raises `HostRefused`."""
    family, kind, proto, _, socket_address = info
    check_ip_addresses(str(socket_address[0]), [str(socket_address[0])])
    return socket.socket(family, kind, proto)


_Loop = asyncio.AbstractEventLoop
_sessions: WeakKeyDictionary[_Loop, dict[bool, aiohttp.ClientSession]] = WeakKeyDictionary()


def get_session_for(target: Target) -> aiohttp.ClientSession:
    """Return this loop's session for the target. It has no cookies, no proxies of the environment and no total time limit."""
    of_loop = _sessions.setdefault(asyncio.get_running_loop(), {})
    session = of_loop.get(target.trusted)
    if session is None or session.closed:
        # Without a limit of connections (the default is 100): the runs of a process are limited elsewhere.
        if target.trusted:
            connector = aiohttp.TCPConnector(limit=0)
        else:
            connector = aiohttp.TCPConnector(
                limit=0, ttl_dns_cache=30, resolver=PublicOnlyResolver(), socket_factory=make_checked_socket
            )
        session = of_loop[target.trusted] = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_SECONDS),
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
            headers={"User-Agent": "Atelier", "Accept-Encoding": "identity"},
        )
    return session


async def close_sessions() -> None:
    """Close the sessions of this loop, before it ends."""
    for session in _sessions.pop(asyncio.get_running_loop(), {}).values():
        await session.close()


async def read_capped(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """Return at most the first `limit` bytes of the decoded body. The rest is neither read nor decompressed (RUN14)."""
    parts: list[bytes] = []
    left = limit
    while left > 0 and (part := await response.content.read(left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
