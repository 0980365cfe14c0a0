"""MSG8: the limits of what a client may send and leave unread, on real connections. The time limits are short here."""

import asyncio
import base64
import contextlib
import os
from collections.abc import AsyncIterator, Iterable
from typing import Any, cast

import pytest

from server import limits
from server.bridge import Bridge
from server.serve import build_config
from tests.serving import serve

HEAD = b"POST /x HTTP/1.1\r\nHost: localhost\r\n"


def echo(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
    start("200 OK", [("Content-Type", "text/plain")])
    size = int(environ["QUERY_STRING"] or "0")
    return [b"x" * size or environ["wsgi.input"].read()]


async def send_on_request(scope: Any, receive: Any, send: Any) -> None:
    """Accept a socket, and send 20 MB for each message `tell me`. Other messages are ignored."""
    await receive()
    await send({"type": "websocket.accept"})
    while (event := await receive())["type"] != "websocket.disconnect":
        if event.get("text") == "tell me":
            await send({"type": "websocket.send", "text": "x" * 20_000_000})


@pytest.fixture
async def port(monkeypatch: Any) -> AsyncIterator[int]:
    for name in (
        "HEAD_TIMEOUT_SECONDS",
        "BODY_TIMEOUT_SECONDS",
        "UNREAD_RESPONSE_TIMEOUT_SECONDS",
        "IDLE_CONNECTION_SECONDS",
    ):
        monkeypatch.setattr(limits, name, 0.5)
    http = Bridge(echo, threads=1, max_active=2)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await (send_on_request if scope["type"] == "websocket" else http)(scope, receive, send)

    async with serve(app) as server:
        yield server.config.port


@contextlib.asynccontextmanager
async def connect(port: int, *parts: bytes) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Open a connection, and send `parts` as far as the server reads them."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.suppress(ConnectionError):
        for part in parts:
            writer.write(part)
            await writer.drain()
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


def get_transport(writer: asyncio.StreamWriter) -> asyncio.Transport:
    """Return the transport of a connection, with which reading can be paused."""
    return cast("asyncio.Transport", writer.transport)


async def read_to_end(reader: asyncio.StreamReader) -> bytes:
    """Return all bytes until the server closes the connection."""
    received = b""
    async with asyncio.timeout(60):
        with contextlib.suppress(ConnectionError):
            while part := await reader.read(65_536):
                received += part
    return received


async def is_served(port: int) -> bool:
    async with connect(port, HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\nhi") as (reader, _):
        return (await read_to_end(reader)).endswith(b"\r\n\r\n2\r\nhi\r\n0\r\n\r\n")


@pytest.mark.parametrize("sent", [b"", b"POST /x HT", HEAD, HEAD + b"X-Never: end"])
async def test_MSG8_a_client_that_sends_no_complete_head_is_disconnected(port, sent):
    async with connect(port, sent) as (reader, _):
        assert await is_served(port)
        assert await read_to_end(reader) == b""


async def test_MSG8_a_reused_connection_without_a_complete_head_is_closed(port):
    async with connect(port, HEAD + b"Content-Length: 2\r\n\r\nhi") as (reader, writer):
        await reader.readuntil(b"0\r\n\r\n")
        writer.write(b"POST /x")
        assert await read_to_end(reader) == b""


async def test_an_idle_connection_is_closed(port):
    async with connect(port, HEAD + b"Content-Length: 2\r\n\r\nhi") as (reader, _):
        await reader.readuntil(b"0\r\n\r\n")
        assert await read_to_end(reader) == b""


def test_connections_are_kept_longer_than_by_nginx():
    assert build_config().timeout_keep_alive > 60


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
async def test_MSG8_an_endless_head_is_refused(port, flood):
    async with connect(port, *flood) as (reader, _):
        received = await read_to_end(reader)
        assert not received or received.startswith(b"HTTP/1.1 431 ")
    assert await is_served(port)


async def test_MSG8_a_body_in_tiny_chunks_is_accepted(port):
    chunks = [b"1\r\nx\r\n" * 1000] * 10
    async with connect(
        port, HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n", *chunks, b"0\r\n\r\n"
    ) as (
        reader,
        _,
    ):
        received = await read_to_end(reader)
    assert received.startswith(b"HTTP/1.1 200 ")
    assert received.endswith(b"\r\n\r\n2710\r\n" + b"x" * 10_000 + b"\r\n0\r\n\r\n")


async def test_MSG8_a_request_after_a_large_body_in_the_same_read_is_accepted(port):
    size = limits.MAX_HEAD + 8_000
    first = HEAD + f"Content-Length: {size}\r\n\r\n".encode() + b"x" * size
    async with connect(port, first + b"GET /x?3 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") as (
        reader,
        _,
    ):
        received = await read_to_end(reader)
    assert received.count(b"HTTP/1.1 200 ") == 2
    assert received.endswith(b"xxx\r\n0\r\n\r\n")


async def test_MSG8_slow_bodies_occupy_no_thread(port):
    async with contextlib.AsyncExitStack() as lines:
        slow = [await lines.enter_async_context(connect(port, HEAD + b"Content-Length: 9\r\n\r\nx")) for _ in range(20)]
        assert await is_served(port)
        for reader, _ in slow:
            assert (await read_to_end(reader)).startswith(b"HTTP/1.1 408 ")


ASK_MUCH = b"GET /x?40000000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
"""Requests a response that is larger than the buffers of the kernel."""


async def test_MSG8_unread_responses_occupy_no_thread(port, monkeypatch):
    monkeypatch.setattr("server.bridge.MAX_BUFFERED", 50_000_000)
    monkeypatch.setattr(limits, "UNREAD_RESPONSE_TIMEOUT_SECONDS", 3600.0)
    for _ in range(3):
        async with connect(port, ASK_MUCH) as (reader, writer):
            await reader.readexactly(10)
            get_transport(writer).pause_reading()
            assert await is_served(port)


async def test_MSG8_a_client_that_leaves_a_response_unread_is_disconnected(port):
    async with connect(port, ASK_MUCH) as (reader, writer):
        get_transport(writer).pause_reading()
        await asyncio.sleep(1)
        get_transport(writer).resume_reading()
        assert len(await read_to_end(reader)) < 40_000_000
    assert await is_served(port)


# --- sockets ------------------------------------------------------------------------------------------------------


def encode_frame(opcode: int, payload: bytes = b"") -> bytes:
    """Return a frame from a client, masked with zeros; up to 125 bytes."""
    return bytes([opcode, 0x80 | len(payload)]) + bytes(4) + payload


@contextlib.asynccontextmanager
async def open_socket(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    key = base64.b64encode(os.urandom(16))
    ask = b"GET /ws/ HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    async with connect(port, ask + b"Sec-WebSocket-Key: " + key + b"\r\n\r\n") as (reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        yield reader, writer


async def test_MSG8_a_message_in_too_many_fragments_closes_its_socket(port):
    async with open_socket(port) as (reader, writer):
        writer.write(encode_frame(0x01) + encode_frame(0x00) * (limits.MAX_FRAGMENTS + 1))
        received = await read_to_end(reader)
    assert received.startswith(b"\x88")
    assert int.from_bytes(received[2:4], "big") == 1009


async def test_MSG8_pings_of_a_client_that_does_not_read_use_no_memory(port, monkeypatch):
    """Only the newest of them is answered."""
    sizes: list[int] = []

    def record_size(self: Any) -> None:
        handle_ping(self)
        sizes.append(self.transport.get_write_buffer_size())

    from server.protocols import BoundedSocket

    handle_ping = BoundedSocket.handle_ping
    monkeypatch.setattr(BoundedSocket, "handle_ping", record_size)
    async with open_socket(port) as (reader, writer):
        get_transport(writer).pause_reading()
        writer.write(encode_frame(0x81, b"tell me"))
        while not sizes or sizes[-1] < 65_536:
            writer.write(encode_frame(0x89, b"%125d" % len(sizes)))
            await writer.drain()
            await asyncio.sleep(0.001)
        before = sizes[-1]
        for number in range(10_000):
            writer.write(encode_frame(0x89, b"%125d" % number))
        await writer.drain()
        while len(sizes) < 10_000:
            await asyncio.sleep(0.01)
        assert max(sizes) <= before
        get_transport(writer).resume_reading()
        received = b""
        async with asyncio.timeout(60):
            while not received.endswith(b"%125d" % 9999):
                received = received[-200:] + await reader.read(65_536)


async def test_MSG9_a_socket_that_does_not_answer_pings_is_aborted(port, monkeypatch):
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

    init = WebSocketsSansIOProtocol.__init__

    def init_with_short_timeouts(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        self.ping_interval, self.ping_timeout = 0.2, 0.2

    monkeypatch.setattr(WebSocketsSansIOProtocol, "__init__", init_with_short_timeouts)
    async with open_socket(port) as (reader, writer):
        get_transport(writer).pause_reading()
        writer.write(encode_frame(0x81, b"tell me"))
        await asyncio.sleep(1)
        get_transport(writer).resume_reading()
        assert len(await read_to_end(reader)) < 20_000_000


async def test_messages_of_an_ordinary_client_pass_unchanged(port):
    async with open_socket(port) as (reader, writer):
        writer.write(encode_frame(0x01, b"tell ") + encode_frame(0x80, b"me"))
        head = await reader.readexactly(10)
        assert head == b"\x81\x7f" + (20_000_000).to_bytes(8, "big")
        assert len(await reader.readexactly(20_000_000)) == 20_000_000
        writer.write(encode_frame(0x88, (1000).to_bytes(2, "big")))
        assert (await read_to_end(reader)).startswith(b"\x88")
