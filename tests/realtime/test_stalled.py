"""A7, A8 on a real server: a reader who stalls costs little and is cut off; a frame too large ends its socket."""

import asyncio
import base64
import json
import os

import pytest
import uvicorn
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from common.embedded.processes import free_port
from config.serve import configuration
from events.frames import Changes
from events.publish import publish_now
from events.rows import ChatRow
from realtime import limits
from realtime.hub import this_hub
from realtime.sections import section
from tests.realtime.story import newest
from tests.realtime.tab import signed_in


@pytest.fixture
async def server():
    """The sockets, served as the web process serves them, on this loop."""
    config = configuration()
    config.app, config.port, config.lifespan, config.loop = "realtime.routing:application", free_port(), "off", "none"
    server = uvicorn.Server(config)
    task = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.02)
    yield server
    server.should_exit = True
    await task


def address(server):
    return f"ws://127.0.0.1:{server.config.port}/ws/"


async def stalled(server, key, topic):
    """A socket that subscribes and never reads."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.config.port, limit=1024)
    writer.write(
        f"GET /ws/ HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Session-Token: {key}\r\n"
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    await reader.readuntil(b"\r\n\r\n")
    frame = json.dumps({"type": "subscribe", "topic": topic}).encode()
    writer.write(bytes([0x81, 0x80 | len(frame)]) + bytes(4) + frame)
    return writer


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.05)


async def test_A7_a_reader_who_stalls_is_cut_off_and_costs_little(team, server, monkeypatch):
    monkeypatch.setattr(limits, "CLOSING", 0.5)
    topic = f"chat:{team.chat.id}"
    writer = await stalled(server, await section(signed_in, team.alice), topic)
    await until(lambda: any(socket.subscriptions for socket in this_hub().sockets))
    await asyncio.sleep(0.5)
    socket = next(iter(this_hub().sockets))
    head = await section(newest, team.chat.id)
    row = ChatRow(id=team.chat.id, workspace_id=team.workspace.id, title="x" * 100_000, version=head, created_by=None,
                  created_at="2026-01-01T00:00:00Z")  # fmt: skip
    most = 0
    for number in range(300):
        await section(publish_now, Changes(topic=topic, after=head + number, version=head + number + 1, rows=[row]))
        most = max(most, socket.outbox._size)
    await until(lambda: not this_hub().sockets)
    assert most <= 1024 * 1024
    await until(lambda: not server.server_state.connections)
    writer.transport.abort()
    await asyncio.sleep(0)


async def test_A8_a_frame_too_large_ends_its_socket_and_no_other(team, server):
    key, other = await section(signed_in, team.alice), await section(signed_in, team.bob)
    async with connect(address(server), additional_headers={"X-Session-Token": other}) as neighbour:
        async with connect(address(server), additional_headers={"X-Session-Token": key}) as socket:
            await socket.send("x" * 100_000)
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009
        await neighbour.send(json.dumps({"type": "subscribe", "topic": f"chat:{team.chat.id}"}))
        assert json.loads(await neighbour.recv())["type"] == "subscribed"


async def test_D6_the_handshake_is_answered_with_403(team, server):
    key = await section(signed_in, team.alice)
    for origin in ("https://evil.example", "null"):
        with pytest.raises(InvalidStatus) as refused:
            await connect(address(server), additional_headers={"Cookie": f"sessionid={key}"}, origin=Origin(origin))
        assert refused.value.response.status_code == 403
