"""MSG6, MSG7, MSG8, SEC20 on real connections: stalled clients, large and random messages, concurrent reconnections."""

import asyncio
import contextlib
import json
import random
from collections import Counter
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from events.frames import Changes
from events.publish import publish_now
from events.rows import ChatRow
from realtime import handshake, hub, subscribing
from realtime.db_executor import run_in_db_thread
from realtime.hub import get_hub
from realtime.routing import application
from server import limits
from tests.realtime.story import get_version
from tests.realtime.tab import create_session_key
from tests.realtime.test_socket import post
from tests.serving import serve


@pytest.fixture
async def server():
    """A web server for sockets on the event loop of the test."""
    async with serve(application) as server:
        yield server


def get_socket_url(server):
    return f"ws://127.0.0.1:{server.config.port}/ws/"


async def test_MSG7_a_stalled_client_gets_the_close_code_if_it_reads_again_in_time(team, server):
    """The outbox is bounded. `test_attacks.py` tests a client that never reads again."""
    topic = f"chat:{team.chat.id}"
    head = await run_in_db_thread(get_version, team.chat.id)
    row = ChatRow(
        id=team.chat.id,
        workspace_id=team.workspace.id,
        title="x" * 100_000,
        version=head,
        created_by=None,
        created_at="2026-01-01T00:00:00Z",
    )
    headers = {"X-Session-Token": await run_in_db_thread(create_session_key, team.alice)}
    async with connect(get_socket_url(server), additional_headers=headers, max_queue=1) as alice:
        await alice.send(json.dumps({"type": "subscribe", "topic": topic}))
        while json.loads(await alice.recv())["type"] != "subscribed":
            pass
        (socket,) = get_hub().sockets
        number = most = 0
        while get_hub().sockets:
            number += 1
            await run_in_db_thread(
                publish_now, Changes(topic=topic, after=head + number - 1, version=head + number, rows=[row])
            )
            most = max(most, socket.outbox._size)
        assert most <= limits.MAX_WAITING_CHARACTERS
        with contextlib.suppress(ConnectionClosed):
            async for _ in alice:
                pass
        assert alice.close_code == 4008


async def test_MSG8_a_too_large_frame_closes_only_its_socket(team, server):
    key, other = (
        await run_in_db_thread(create_session_key, team.alice),
        await run_in_db_thread(create_session_key, team.bob),
    )
    async with connect(get_socket_url(server), additional_headers={"X-Session-Token": other}) as neighbour:
        async with connect(get_socket_url(server), additional_headers={"X-Session-Token": key}) as socket:
            await socket.send("x" * 100_000)
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009
        await neighbour.send(json.dumps({"type": "subscribe", "topic": f"chat:{team.chat.id}"}))
        assert json.loads(await neighbour.recv())["type"] == "subscribed"


async def test_SEC6_the_handshake_is_answered_with_403(team, server):
    key = await run_in_db_thread(create_session_key, team.alice)
    for origin in ("https://evil.example", "null"):
        with pytest.raises(InvalidStatus) as refused:
            await connect(
                get_socket_url(server), additional_headers={"Cookie": f"sessionid={key}"}, origin=Origin(origin)
            )
        assert refused.value.response.status_code == 403


TABS = 100


async def open_socket(server, key, topics, since):
    """Open a socket and subscribe to all topics. Return the socket and the last answer."""
    socket = await connect(get_socket_url(server), additional_headers={"X-Session-Token": key})
    for topic in topics:
        await socket.send(json.dumps({"type": "subscribe", "topic": topic, "since": since}))
    answer: dict[str, Any] = {}
    missing = set(topics)
    while missing:
        frame = json.loads(await socket.recv())
        assert frame["type"] != "error", frame
        if frame["type"] == "subscribed":
            missing.discard(frame["topic"])
            answer = frame if frame["topic"] == topics[-1] else answer
    return socket, answer


async def test_MSG6_a_hundred_concurrent_reconnections_cost_a_few_queries(team, monkeypatch):
    """Each client gets its missed rows once. They are read for all clients together, on few connections."""
    monkeypatch.setattr(limits, "MAX_SOCKETS_PER_PERSON", TABS)
    asked: Counter[str] = Counter()

    def counted(module, name):
        ask = getattr(module, name)

        def record_statements(*args, **kwargs):
            asked[name] += 1
            return ask(*args, **kwargs)

        monkeypatch.setattr(module, name, record_statements)

    counted(subscribing, "filter_allowed")
    counted(handshake, "_find_by_session")
    counted(hub, "catch_up")
    topics = [f"workspace:{team.workspace.id}", "actor:{}", f"chat:{team.chat.id}"]
    people = [team.alice, team.bob]
    keys = [await run_in_db_thread(create_session_key, person) for person in people]
    theirs = [[topic.format(person.id) for topic in topics] for person in people]

    async def connect_all(server, since):
        came = [open_socket(server, keys[n % 2], theirs[n % 2], since) for n in range(TABS)]
        return await asyncio.gather(*came)

    async with serve(application) as server:
        first = await connect_all(server, None)
        assert len(get_hub().sockets) == TABS
        version = first[0][1]["version"]
    for socket, _ in first:
        await socket.wait_closed()
        assert socket.close_code == 1012
    await run_in_db_thread(post, team.chat, team.bob, "while you were away")
    asked.clear()
    async with serve(application) as server:
        again = await connect_all(server, version)
        missed = [[row for row in answer["rows"] if row["kind"] == "message"] for _, answer in again]
        assert {len(rows) for rows in missed} == {1}
        assert {rows[0]["payload"]["text"] for rows in missed} == {"while you were away"}
        assert asked["_find_by_session"] <= TABS / 4
        assert asked["filter_allowed"] <= TABS / 4
        assert asked["catch_up"] <= TABS / 10
        stats = connection.pool.get_stats()  # type: ignore[attr-defined]  # PostgreSQL's have one
        assert stats["pool_max"] == settings.MAX_CONNECTIONS
        assert not stats.get("requests_errors")
        for socket, _ in again:
            await socket.close()


# --- random messages ------------------------------------------------------------------------------------------------

ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    2**70,
    1e308,
    "",
    "\x00",
    "\ud800",
    "x" * 5000,
    [],
    {},
    [[]],
    {"": None},
    "chat:",
    "chat:x",
    "actor:00000000-0000-0000-0000-000000000000",
    "__class__",
]


def build_random_message(rng, topics):
    """Return a random message: a frame with unexpected fields, damaged JSON, or bytes."""
    frame = {"type": rng.choices(["subscribe", "unsubscribe", "typing"], [1, 5, 5])[0], "topic": rng.choice(topics)}
    for _ in range(rng.choice([0, 1, 1, 2])):
        frame[rng.choice(["type", "topic", "since", "unknown"])] = rng.choice(ODD)
    text = json.dumps(frame)
    match rng.randrange(10):
        case 0:
            place = rng.randrange(len(text))
            return text[:place] + rng.choice(['"', "{", "\x00", "\\u", "9" * 400, ""]) + text[place + 1 :]
        case 1:
            return rng.choice(["", "null", "[]", "[" * 9000, '{"a":' * 9000, "9" * 9000, "\ufeff{}", "NaN"])
        case 2:
            return rng.randbytes(rng.choice([1, 20, 2000]))
    return text


async def test_SEC20_a_socket_survives_ten_thousand_random_messages(team, server, monkeypatch, caplog):
    monkeypatch.setattr(limits, "SOCKET_BURST_FRAMES", 1e6)
    monkeypatch.setattr(limits, "PERSON_BURST_FRAMES", 1e6)
    topics = [f"chat:{team.chat.id}", f"actor:{team.bob.id}", f"workspace:{team.workspace.id}", f"chat:{team.bob.id}"]
    rng, headers = random.Random(20), {"X-Session-Token": await run_in_db_thread(create_session_key, team.bob)}
    async with connect(get_socket_url(server), additional_headers=headers) as bob:

        async def speak():
            for _ in range(10_000):
                await bob.send(build_random_message(rng, topics))
            await bob.send('{"type": "subscribe", "topic": "the end"}')

        speaking = asyncio.create_task(speak())
        codes: Counter[str] = Counter()
        while (frame := json.loads(await bob.recv())).get("topic") != "the end":
            codes[frame.get("code", frame["type"])] += 1
        await speaking
    assert set(codes) <= {"invalid", "not_found", "subscribed", "presence", "typing", "heartbeat"}
    assert codes["invalid"] > 1000
    assert codes["subscribed"] > 100
    assert not [record for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")]
