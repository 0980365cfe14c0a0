"""MSG7, MSG8, SEC20: attacks on a web process, its memory, and the effect on other clients."""

import asyncio
import contextlib
import json
import random
from collections.abc import Iterable, Iterator
from select import poll
from socket import SO_RCVBUF, SOL_SOCKET, create_connection
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from common.ids import new_id
from events.frames import Changes, Delta
from events.publish import publish_now
from events.rows import ChatRow
from realtime.db_executor import run_in_db_thread
from tests.realtime.story import get_version
from tests.serving import Web, run_web_process

MB = 1024 * 1024


@pytest.fixture(scope="module")
def web(django_db_setup: None, django_db_blocker: Any) -> Iterator[Web]:
    with django_db_blocker.unblock(), run_web_process() as web:
        yield web
        assert web.process.poll() is None
        assert "Traceback" not in web.log.read_text()


@contextlib.asynccontextmanager
async def open_socket(web: Web, person: Any, *topics: str) -> Any:
    """Open a socket, and wait for the answers to all subscriptions."""
    headers = {"X-Session-Token": await run_in_db_thread(web.sign_in, person)}
    url = web.url.replace("http", "ws") + "/ws/"
    async with connect(url, additional_headers=headers, max_size=None, max_queue=4, compression=None) as socket:
        for topic in topics:
            await socket.send(json.dumps({"type": "subscribe", "topic": topic}))
        for _ in topics:
            await receive_type(socket, "subscribed")
        yield socket


async def receive_type(socket: ClientConnection, type_: str) -> Any:
    """Return the next frame of this type."""
    async with asyncio.timeout(60):
        while (frame := json.loads(await socket.recv()))["type"] != type_:
            pass
    return frame


def open_stalled_socket(web: Web, key: str, topic: str) -> Any:
    """Open a socket that subscribes and never reads, with small buffers in the kernel."""
    line = create_connection(("127.0.0.1", web.port))
    line.setsockopt(SOL_SOCKET, SO_RCVBUF, 4096)
    ask = "GET /ws/ HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    line.sendall(f"{ask}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nX-Session-Token: {key}\r\n\r\n".encode())
    assert line.recv(1000).startswith(b"HTTP/1.1 101 ")
    frame = json.dumps({"type": "subscribe", "topic": topic}).encode()
    line.sendall(bytes([0x81, 0x80 | len(frame)]) + bytes(4) + frame)
    return line


def large_change(team: Any, version: int) -> Changes:
    row = ChatRow(
        id=team.chat.id,
        workspace_id=team.workspace.id,
        title="x" * 100_000,
        version=version,
        created_by=None,
        created_at="2026-01-01T00:00:00Z",
    )
    return Changes(topic=f"chat:{team.chat.id}", after=version - 1, version=version, rows=[row])


async def test_MSG7_a_client_that_never_reads_takes_little_memory_and_others_receive_all_frames(team, web):
    topic = f"chat:{team.chat.id}"
    head = await run_in_db_thread(get_version, team.chat.id)
    async with open_socket(web, team.bob, topic) as bob:
        before = web.get_memory()
        line = await asyncio.to_thread(open_stalled_socket, web, await run_in_db_thread(web.sign_in, team.alice), topic)
        while str(team.alice.id) not in (await receive_type(bob, "presence"))["present"]:
            pass
        closing = asyncio.create_task(asyncio.to_thread(is_aborted, line))
        for first in range(head + 1, head + 3001, 20):
            versions = range(first, first + 20)
            await run_in_db_thread(publish_now, *(large_change(team, version) for version in versions))
            for version in versions:
                assert f'"version":{version},' in await receive_changes(bob)
        assert await closing
        assert web.get_peak_memory() - before < 20 * MB
    async with open_socket(web, team.alice, topic):
        pass  # and she may come back


async def receive_changes(socket: ClientConnection) -> str:
    """Return the beginning of the next `changes` frame."""
    while not (text := str(await socket.recv())).startswith('{"type":"changes"'):
        pass
    return text[:200]


def is_aborted(line: Any) -> bool:
    """Return whether the server aborts the connection within 60 s, without reading from it."""
    watch = poll()
    watch.register(line, 0)
    events = watch.poll(60_000)
    line.close()
    return bool(events)


BODIES = {
    "10 MB": (b'{"text": "' + b"x" * 10 * MB + b'"}', 413, "too_large"),
    "a long text": (json.dumps({"id": str(new_id()), "text": "x" * 200_001}).encode(), 413, "too_large"),
    "deep": (b'{"text": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", 400, "invalid"),
    "deep and open": (b'{"a":' * 10_000, 400, "invalid"),
    "a long number": (b'{"text": ' + b"9" * 500_000 + b"}", 400, "invalid"),
}


async def test_MSG8_too_large_messages_are_refused_and_take_little_memory(team, web):
    key = await run_in_db_thread(web.sign_in, team.alice)
    async with (
        open_socket(web, team.bob, f"chat:{team.chat.id}") as bob,
        httpx.AsyncClient(base_url=web.url) as client,
    ):
        before = web.get_memory()
        for name, (body, status, code) in BODIES.items():
            for content in (body, _in_chunks(body)):
                headers = {"X-Session-Token": key, "Content-Type": "application/json"}
                path = f"/api/v1/chats/{team.chat.id}/messages"
                # A server that has refused does not read on: the line may break before everything was sent.
                with contextlib.suppress(httpx.WriteError, httpx.ReadError):
                    answer = await client.post(path, content=content, headers=headers)
                    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), name
        for payload in ("x" * 10 * MB, b"x" * 10 * MB):
            async with open_socket(web, team.alice) as socket:
                assert await close_code(socket, [payload]) == 1009
        assert web.get_peak_memory() - before < 30 * MB
        await bob.send(json.dumps({"type": "subscribe", "topic": f"actor:{team.bob.id}"}))
        await receive_type(bob, "subscribed")


async def _in_chunks(body: bytes) -> Any:
    for start in range(0, len(body), 65_536):
        yield body[start : start + 65_536]


async def close_code(socket: ClientConnection, messages: Iterable[str | bytes]) -> int | None:
    """Send all messages, ignore the answers, and return the close code."""

    async def speak() -> None:
        with contextlib.suppress(ConnectionClosed):
            for message in messages:
                await socket.send(message)

    speaking = asyncio.create_task(speak())
    async with asyncio.timeout(60):
        with contextlib.suppress(ConnectionClosed):
            async for text in socket:
                assert json.loads(text).get("code") != "internal"
        await speaking
    return socket.close_code


@pytest.mark.parametrize("kind", ["subscribe", "typing", "nonsense"])
async def test_MSG8_a_client_that_sends_thousands_of_messages_is_closed(team, web, kind):
    topic = f"chat:{team.chat.id}"
    message = json.dumps({"type": kind, "topic": topic})
    async with open_socket(web, team.bob, topic) as bob:
        before = web.get_memory()
        async with open_socket(web, team.alice) as alice:
            assert await close_code(alice, [message] * 10_000) == 4029
        assert web.get_peak_memory() - before < 10 * MB
        await run_in_db_thread(
            publish_now,
            Delta(
                topic=topic,
                message_id=team.chat.id,
                row_id=team.chat.id,
                run_id=team.chat.id,
                agent_id=team.robin.id,
                attempt=1,
                part="text",
                offset=0,
                text="after all that",
            ),
        )
        assert (await receive_type(bob, "delta"))["text"] == "after all that"


def test_SEC20_the_process_survives_connections_that_send_random_bytes(team, web):
    """The bytes are not HTTP."""
    rng = random.Random(20)
    starts = [
        b"",
        b"GET / HTTP/1.1\r\n",
        b"POST /api/v1/me HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /ws/ HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
    ]
    for _ in range(300):
        with contextlib.suppress(OSError), create_connection(("127.0.0.1", web.port)) as line:
            line.settimeout(0.02)
            line.sendall(rng.choice(starts) + rng.randbytes(rng.choice([1, 10, 1000])))
            line.recv(1000)
    assert web.is_healthy()


BAD_COOKIES = [r'"\000aaaaaaaa"', r'"\377aaaaaaaa"', "x" * 3000, "a" * 32]
ATTACKERS, TRIES, VISITORS = 16, 20, 13


async def test_FAIR7_handshakes_with_bad_cookies_do_not_block_people_or_fill_the_log(team, web):
    key = await run_in_db_thread(web.sign_in, team.alice)
    logged, before = web.log.stat().st_size, web.get_memory()
    url, origin = web.url.replace("http", "ws") + "/ws/", Origin(web.url)
    statuses: set[int] = set()

    async def attack(client: httpx.AsyncClient, number: int) -> None:
        for read_handshake in range(TRIES):
            cookie = {"Cookie": f"sessionid={BAD_COOKIES[(number + read_handshake) % len(BAD_COOKIES)]}"}
            with contextlib.suppress(ConnectionClosed, InvalidStatus):
                async with connect(url, additional_headers=cookie, origin=origin, compression=None) as socket:
                    await socket.recv()
            for path in ("/api/v1/me", "/_allauth/browser/v1/auth/session", "/admin/"):
                statuses.add((await client.get(path, headers=cookie)).status_code)

    async def come() -> int:
        cookie = {"Cookie": f"sessionid={key}"}
        async with connect(url, additional_headers=cookie, origin=origin, compression=None) as socket:
            await socket.send(json.dumps({"type": "subscribe", "topic": f"chat:{team.chat.id}"}))
            await receive_type(socket, "subscribed")
        async with httpx.AsyncClient(base_url=web.url, timeout=60) as client:
            return (await client.get("/api/v1/me", headers=cookie)).status_code

    async with httpx.AsyncClient(base_url=web.url, timeout=60) as client:
        attacks = [asyncio.create_task(attack(client, number)) for number in range(ATTACKERS)]
        came = [await come() for _ in range(VISITORS)]
        await asyncio.gather(*attacks)
    assert came == [200] * VISITORS
    assert statuses <= {401, 404, 302, 429}
    assert web.log.stat().st_size - logged < 3_000
    assert web.get_peak_memory() - before < 20 * MB


HANDSHAKE = (
    b"Host: 127.0.0.1",
    b"Connection: Upgrade",
    b"Upgrade: websocket",
    b"Sec-WebSocket-Version: 13",
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)
ODD_HANDSHAKES = {
    "a header of 20 kB": (b"/ws/", b"Authorization: Bearer atl_" + b"x" * 20_000),
    "300 headers": (b"/ws/", *(b"X-%d: x" % number for number in range(300))),
    "a path of 20 kB": (b"/ws/?" + b"x" * 20_000,),
    "a path that is no ASCII": (b"/ws/\xff\xfe",),
    "a query that is no ASCII": (b"/ws/?\xe4",),
    "a header that is no ASCII": (b"/ws/", b"Origin: http://\xff\xfe"),
    "a header without a name": (b"/ws/", b": x"),
    "a header with a line end in it": (b"/ws/", b"X-Odd: a\rb"),
    "another version": (b"/ws/", b"Sec-WebSocket-Version: 99"),
    "a second key": (b"/ws/", b"Sec-WebSocket-Key: x"),
    "an odd extension": (b"/ws/", b"Sec-WebSocket-Extensions: ;;=,"),
    "an odd protocol": (b"/ws/", b"Sec-WebSocket-Protocol: \x7f,,"),
}


@pytest.mark.parametrize("kind", ODD_HANDSHAKES)
def test_FAIR7_a_malformed_handshake_is_answered_and_its_connection_closed(web: Web, kind: str) -> None:
    """Otherwise an outsider could keep a connection, and its file descriptor, open for ever."""
    path, *headers = ODD_HANDSHAKES[kind]
    with create_connection(("127.0.0.1", web.port), timeout=60) as line:
        line.sendall(b"\r\n".join([b"GET %s HTTP/1.1" % path, *HANDSHAKE, *headers]) + b"\r\n\r\n")
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := line.recv(4096):
                answer += piece
                if answer.startswith(b"HTTP/1.1 101"):
                    line.sendall(b"\x88\x80\x00\x00\x00\x00")  # a closing frame: nobody is signed in
    assert answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 101")), answer
    assert not any(sign in web.log.read_text() for sign in ("Traceback", "Fatal error"))
