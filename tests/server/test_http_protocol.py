"""MSG8: what a client may send and leave unread, on real lines; the limits are made small and short."""

import asyncio
import base64
import contextlib
import os
from collections.abc import AsyncIterator, Iterable
from typing import Any, cast

import pytest

from server import limits
from server.bridge import Bridge
from tests.serving import serving

HEAD = b"POST /x HTTP/1.1\r\nHost: localhost\r\n"


def echo(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
    start("200 OK", [("Content-Type", "text/plain")])
    size = int(environ["QUERY_STRING"] or "0")
    return [b"x" * size or environ["wsgi.input"].read()]


async def deaf(scope: Any, receive: Any, send: Any) -> None:
    """A socket that is accepted, told much when it says so, and otherwise only listened to."""
    await receive()
    await send({"type": "websocket.accept"})
    while (event := await receive())["type"] != "websocket.disconnect":
        if event.get("text") == "tell me":
            await send({"type": "websocket.send", "text": "x" * 20_000_000})


@pytest.fixture
async def port(monkeypatch: Any) -> AsyncIterator[int]:
    for name in ("HEAD_TIMEOUT_SECONDS", "BODY_TIMEOUT_SECONDS", "UNREAD_RESPONSE_TIMEOUT_SECONDS"):
        monkeypatch.setattr(limits, name, 0.5)
    http = Bridge(echo, threads=1, waiting=2)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await (deaf if scope["type"] == "websocket" else http)(scope, receive, send)

    async with serving(app) as server:
        yield server.config.port


@contextlib.asynccontextmanager
async def line(port: int, *parts: bytes) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection on which `parts` were sent, as far as they were taken."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.suppress(ConnectionError):
        for part in parts:
            writer.write(part)
            await writer.drain()
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


def of(writer: asyncio.StreamWriter) -> asyncio.Transport:
    """Its line, for pausing the reading."""
    return cast("asyncio.Transport", writer.transport)


async def ending(reader: asyncio.StreamReader) -> bytes:
    """What still comes until the other side ends the line."""
    said = b""
    async with asyncio.timeout(10):
        with contextlib.suppress(ConnectionError):
            while part := await reader.read(65_536):
                said += part
    return said


async def is_served(port: int) -> bool:
    async with line(port, HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\nhi") as (reader, _):
        return (await ending(reader)).endswith(b"\r\n\r\n2\r\nhi\r\n0\r\n\r\n")


@pytest.mark.parametrize("said", [b"", b"POST /x HT", HEAD, HEAD + b"X-Never: end"])
async def test_MSG8_who_does_not_say_what_they_want_is_cut_off(port, said):
    async with line(port, said) as (reader, _):
        assert await is_served(port)
        assert await ending(reader) == b""


async def test_MSG8_also_on_a_line_that_has_served_before(port):
    async with line(port, HEAD + b"Content-Length: 2\r\n\r\nhi") as (reader, writer):
        await reader.readuntil(b"0\r\n\r\n")
        writer.write(b"POST /x")
        assert await ending(reader) == b""


@pytest.mark.parametrize(
    "flood",
    [
        [HEAD, b"X-Long: ", *[b"x" * 4096] * 200],
        [HEAD, *[b"X-Many: 1\r\n" * 400] * 200],
        [b"POST /" + b"x" * 40_000 + b" HTTP/1.1\r\n\r\n"],
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", *[b"X-Trailer: 1\r\n" * 400] * 200],
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", *[b"x" * 4096] * 200],
    ],
    ids=["one header", "many headers", "an address", "trailers", "a chunk's extension"],
)
async def test_MSG8_a_head_without_end_is_refused(port, flood):
    async with line(port, *flood) as (reader, _):
        said = await ending(reader)
        assert not said or said.startswith(b"HTTP/1.1 431 ")
    assert await is_served(port)


async def test_MSG8_a_body_in_tiny_chunks_is_taken(port):
    chunks = [b"1\r\nx\r\n" * 1000] * 10
    async with line(port, HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n", *chunks, b"0\r\n\r\n") as (
        reader,
        _,
    ):
        said = await ending(reader)
    assert said.startswith(b"HTTP/1.1 200 ")
    assert said.endswith(b"\r\n\r\n2710\r\n" + b"x" * 10_000 + b"\r\n0\r\n\r\n")


async def test_MSG8_bodies_that_drip_hold_no_thread(port):
    async with contextlib.AsyncExitStack() as lines:
        slow = [await lines.enter_async_context(line(port, HEAD + b"Content-Length: 9\r\n\r\nx")) for _ in range(20)]
        assert await is_served(port)
        for reader, _ in slow:
            assert (await ending(reader)).startswith(b"HTTP/1.1 408 ")


ASK_MUCH = b"GET /x?40000000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
"""More than the kernel keeps for us."""


async def test_MSG8_answers_that_are_not_read_hold_no_thread(port, monkeypatch):
    monkeypatch.setattr("server.bridge.MAX_BUFFERED", 50_000_000)
    monkeypatch.setattr(limits, "UNREAD_RESPONSE_TIMEOUT_SECONDS", 3600.0)
    for _ in range(3):
        async with line(port, ASK_MUCH) as (reader, writer):
            await reader.readexactly(10)
            of(writer).pause_reading()
            assert await is_served(port)


async def test_MSG8_who_leaves_an_answer_unread_is_cut_off(port):
    async with line(port, ASK_MUCH) as (reader, writer):
        of(writer).pause_reading()
        await asyncio.sleep(1)
        of(writer).resume_reading()
        assert len(await ending(reader)) < 40_000_000
    assert await is_served(port)


# --- sockets ------------------------------------------------------------------------------------------------------


def piece(opcode: int, payload: bytes = b"") -> bytes:
    """A frame from a client, masked with zeros; up to 125 bytes."""
    return bytes([opcode, 0x80 | len(payload)]) + bytes(4) + payload


@contextlib.asynccontextmanager
async def socket(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    key = base64.b64encode(os.urandom(16))
    ask = b"GET /ws/ HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    async with line(port, ask + b"Sec-WebSocket-Key: " + key + b"\r\n\r\n") as (reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        yield reader, writer


async def test_MSG8_a_message_in_too_many_chunks_ends_its_socket(port):
    async with socket(port) as (reader, writer):
        writer.write(piece(0x01) + piece(0x00) * (limits.MAX_FRAGMENTS + 1))
        said = await ending(reader)
    assert said.startswith(b"\x88")
    assert int.from_bytes(said[2:4], "big") == 1009


async def test_MSG8_pings_of_somebody_who_does_not_read_gather_nothing(port, monkeypatch):
    """Of all that come meanwhile, the newest is answered."""
    sizes: list[int] = []

    def watched(self: Any) -> None:
        handle_ping(self)
        sizes.append(self.transport.get_write_buffer_size())

    from server.protocols import BoundedSocket

    handle_ping = BoundedSocket.handle_ping
    monkeypatch.setattr(BoundedSocket, "handle_ping", watched)
    async with socket(port) as (reader, writer):
        of(writer).pause_reading()
        writer.write(piece(0x81, b"tell me"))
        while not sizes or sizes[-1] < 65_536:
            writer.write(piece(0x89, b"%125d" % len(sizes)))
            await writer.drain()
            await asyncio.sleep(0.001)
        before = sizes[-1]
        for number in range(10_000):
            writer.write(piece(0x89, b"%125d" % number))
        await writer.drain()
        while len(sizes) < 10_000:
            await asyncio.sleep(0.01)
        assert max(sizes) <= before
        of(writer).resume_reading()
        said = b""
        async with asyncio.timeout(20):
            while not said.endswith(b"%125d" % 9999):
                said = said[-200:] + await reader.read(65_536)


async def test_MSG9_a_socket_that_does_not_answer_is_cut_off(port, monkeypatch):
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

    made = WebSocketsSansIOProtocol.__init__

    def quick(self: Any, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)
        self.ping_interval, self.ping_timeout = 0.2, 0.2

    monkeypatch.setattr(WebSocketsSansIOProtocol, "__init__", quick)
    async with socket(port) as (reader, writer):
        of(writer).pause_reading()
        writer.write(piece(0x81, b"tell me"))
        await asyncio.sleep(1)
        of(writer).resume_reading()
        assert len(await ending(reader)) < 20_000_000


async def test_what_is_sent_by_a_quick_client_is_untouched(port):
    async with socket(port) as (reader, writer):
        writer.write(piece(0x01, b"tell ") + piece(0x80, b"me"))
        head = await reader.readexactly(10)
        assert head == b"\x81\x7f" + (20_000_000).to_bytes(8, "big")
        assert len(await reader.readexactly(20_000_000)) == 20_000_000
        writer.write(piece(0x88, (1000).to_bytes(2, "big")))
        assert (await ending(reader)).startswith(b"\x88")
