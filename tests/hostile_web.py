"""Hostile servers on the loopback, a fake DNS, and a recorder of the addresses that sockets connect to."""

import asyncio
import gzip
import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from common.egress import close_sessions

Answer = Callable[[web.Request], Any]


class Site:
    """A server whose pages are set by the test. It records its requests."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.asked: list[web.Request] = []
        self.port = 0
        self.left = asyncio.Event()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.host}{path}"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request)
        page = self.pages.get(request.path)
        if page is None:
            raise web.HTTPNotFound(text="nothing here")
        try:
            made = page(request)
            response: web.StreamResponse = await made if asyncio.iscoroutine(made) else made
            return response
        finally:
            self.left.set()

    def set_page(
        self, path: str, body: str | bytes, content_type: str = "text/html; charset=utf-8", **headers: str
    ) -> str:
        """Set a page with fixed content. Return its URL."""
        data = body.encode() if isinstance(body, str) else body
        sent = {"Content-Type": content_type} | {name.replace("_", "-"): value for name, value in headers.items()}
        self.pages[path] = lambda request: web.Response(body=data, headers=sent)
        return self.url(path)

    def set_redirect(self, path: str, to: str, status: int = 302) -> str:
        """Set a redirect. Return its URL."""
        self.pages[path] = lambda request: web.Response(status=status, headers={"Location": to})
        return self.url(path)


@asynccontextmanager
async def run_site() -> AsyncIterator[Site]:
    """Serve a site during the block."""
    site = Site()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", site.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    site.port = runner.addresses[0][1]
    try:
        yield site
    finally:
        await close_sessions()
        await runner.cleanup()


Responder = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def run_tcp_server(respond: Responder) -> AsyncIterator[str]:
    """Serve TCP connections with `respond` during the block. Yield `host:port`."""
    async with await asyncio.start_server(respond, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


def build_bomb(kind: str, size: int) -> bytes:
    """Return `size` zero bytes, compressed without building them. The checksum is wrong, because it is never read.

    `kind`: `gzip`, `deflate` (with a header), or `raw` as in archives.
    """
    compressor = zlib.compressobj(9, zlib.DEFLATED, {"gzip": 31, "deflate": 15, "raw": -15}[kind])
    piece = bytes(1024 * 1024)
    # After a full flush the same piece is compressed to the same bytes each time.
    first, again = (compressor.compress(piece) + compressor.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + again * (size // len(piece) - 1) + compressor.flush()


def gzip_text(text: str) -> bytes:
    return gzip.compress(text.encode())


class ConnectionRecorder:
    """Records all addresses that `connect()` gets, and refuses the connection, except to a local port in `allowed`."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.seen: list[tuple[Any, ...]] = []
        self.allowed: set[int] = set()
        real = socket.socket.connect

        def connect(sock: socket.socket, address: Any) -> None:
            if sock.family == socket.AF_UNIX or (address[0] == "127.0.0.1" and address[1] in self.allowed):
                return real(sock, address)
            self.seen.append(address)
            raise ConnectionRefusedError("The test allows no connection.")

        patch.setattr(socket.socket, "connect", connect)


class FakeDns:
    """Answers lookups with `answers`, one after the other; the last one is repeated. IPv4 addresses are not replaced."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.answers: list[list[str]] = []
        self._real = socket.getaddrinfo
        patch.setattr(socket, "getaddrinfo", self.look_up)

    def look_up(self, host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        if str(host).replace(".", "").isdigit() or not self.answers:
            return self._real(host, port, *args, **kwargs)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not answer:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        kinds = [(socket.AF_INET6 if ":" in a else socket.AF_INET, a) for a in answer]
        return [(family, socket.SOCK_STREAM, 6, "", (a, int(port or 0))) for family, a in kinds]
