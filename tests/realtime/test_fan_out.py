"""The cost of a frame for many sockets, counted in encodings, ASGI messages and Redis messages."""

import asyncio
import contextlib
import json

from django.db import transaction
from websockets.asyncio.client import connect

from chats import services as chats
from common.ids import new_id
from common.redis_client import redis_client
from events import publish
from events.frames import Delta, Heartbeat, ListChanged, Typing
from events.publish import publish_batch, publish_now
from realtime import maintenance, topic_buffer
from realtime.db_executor import run_in_db_thread
from realtime.hub import get_hub
from realtime.outbox import encode_frame
from realtime.routing import application
from realtime.topic_buffer import CROWD_SIZE, SubscriptionReply, TopicBuffer
from realtime.topics import Topic
from server.protocols import BoundedSocket
from tests.realtime.story import get_version
from tests.realtime.tab import create_session_key
from tests.serving import serve

SOCKETS = 12


@contextlib.asynccontextmanager
async def readers(people, *topics, number=SOCKETS):
    """Open sockets of these people on a real server, each subscribed to all topics."""
    async with contextlib.AsyncExitStack() as stack:
        server = await stack.enter_async_context(serve(application))
        keys = [await run_in_db_thread(create_session_key, person) for person in people]
        opened = []
        for which in range(number):
            headers = {"X-Session-Token": keys[which % len(keys)]}
            url = f"ws://127.0.0.1:{server.config.port}/ws/"
            opened.append(await stack.enter_async_context(connect(url, additional_headers=headers)))
            for topic in topics:
                await opened[-1].send(json.dumps({"type": "subscribe", "topic": topic}))
                await receive_type(opened[-1], "subscribed")
        followed = get_hub().buffers[Topic.parse(topics[0])]
        while not all(str(person.id) in (followed._sent_presence or "") for person in people):
            await asyncio.sleep(0.02)  # presence is sent as a separate frame
        yield opened


async def receive_type(socket, type_):
    """Return the next frame of this type."""
    async with asyncio.timeout(60):
        while (frame := json.loads(await socket.recv()))["type"] != type_:
            pass
    return frame


def delta(chat, text, offset=0):
    ids = {"message_id": new_id(), "row_id": new_id(), "run_id": new_id(), "agent_id": new_id()}
    return Delta(topic=f"chat:{chat.id}", attempt=1, part="text", offset=offset, text=text, **ids)


def count_calls(monkeypatch, owner, name):
    """Count the calls of a method without changing it."""
    calls = []
    original = getattr(owner, name)

    def counted(*args, **kwargs):
        calls.append(args)
        return original(*args, **kwargs)

    monkeypatch.setattr(owner, name, counted)
    return calls


async def test_a_frame_is_encoded_once_and_written_without_an_asgi_message_for_each_socket(team, monkeypatch):
    async with readers([team.alice, team.bob], f"chat:{team.chat.id}") as sockets:
        sent = count_calls(monkeypatch, BoundedSocket, "send")
        encoded = encode_frame.cache_info().misses
        text = "one 🦜 " + "x" * 70_000  # a length of three bytes, of eight, and characters of four
        for text_to_send in ("short", "x" * 200, text):
            await run_in_db_thread(publish_now, delta(team.chat, text_to_send))
            assert {(await receive_type(socket, "delta"))["text"] for socket in sockets} == {text_to_send}
        assert encode_frame.cache_info().misses - encoded == 3
        assert sent == []


class Subscriber:
    """Records the frames that it gets, in order."""

    def __init__(self):
        self.received = []

    def send(self, text, *, transient):
        self.received.append(text)

    def send_transient(self, texts):
        self.received += texts


def build_crowded_buffer(count):
    async def never(topic, since):
        raise AssertionError("nothing is missing")

    crowded = TopicBuffer(Topic("chat", new_id()), never)
    readers = [Subscriber() for _ in range(count)]
    for reader in readers:
        crowded.subscribe(reader).release(SubscriptionReply("snapshot", 7, is_shareable=True))
    crowded.set_first_version(7)
    return crowded, readers


def build_delta(number):
    return {"kind": "delta", "text": f"delta {number}"}


async def test_deltas_for_many_sockets_are_gathered_and_stay_in_order():
    crowded, crowd = build_crowded_buffer(CROWD_SIZE)
    for number in range(3):
        crowded.add(build_delta(number))
    assert [reader.received for reader in crowd] == [["snapshot", "delta 0"]] * CROWD_SIZE, (
        "the first word does not wait"
    )
    crowded.add({"kind": "changes", "after": 7, "version": 8, "text": "the row"})
    everything = ["snapshot", "delta 0", "delta 1", "delta 2", "the row"]
    assert [reader.received for reader in crowd] == [everything] * CROWD_SIZE
    crowded.add(build_delta(3))
    crowded.add(build_delta(4))
    while len(crowd[0].received) < 7:
        await asyncio.sleep(0.01)
    assert [reader.received for reader in crowd] == [[*everything, "delta 3", "delta 4"]] * CROWD_SIZE
    while crowded._gather_timer is not None:
        await asyncio.sleep(0.01)
    crowded.add(build_delta(5))
    assert crowd[0].received[-1] == "delta 5", "after a silence the first word does not wait again"


async def test_gathered_deltas_are_one_write_for_each_socket_and_arrive_as_single_frames(team, monkeypatch):
    monkeypatch.setattr(topic_buffer, "CROWD_SIZE", SOCKETS)
    async with readers([team.alice, team.bob], f"chat:{team.chat.id}") as sockets:
        written = count_calls(monkeypatch, BoundedSocket, "write_frame")
        await run_in_db_thread(publish_now, *(delta(team.chat, f"chunk {number}") for number in range(5)))
        for socket in sockets:
            assert [(await receive_type(socket, "delta"))["text"] for _ in range(5)] == [
                f"chunk {number}" for number in range(5)
            ]
        assert len(written) == 2 * SOCKETS


async def test_gathered_deltas_wait_for_a_slow_connection_as_transient_frames(team):
    async with readers([team.alice], f"chat:{team.chat.id}", number=1) as [reader]:
        (socket,) = get_hub().sockets
        connection = socket.outbox.writer
        assert isinstance(connection, BoundedSocket)
        connection.pause_writing()
        socket.send_transient(('{"type": "number", "number": 0}', '{"type": "number", "number": 1}'))
        assert [transient for _, transient in socket.outbox._waiting] == [True, True]
        connection.resume_writing()
        assert [(await receive_type(reader, "number"))["number"] for _ in range(2)] == [0, 1]


async def test_few_sockets_get_every_delta_at_once():
    crowded, crowd = build_crowded_buffer(CROWD_SIZE - 1)
    for number in range(3):
        crowded.add(build_delta(number))
    assert [reader.received for reader in crowd] == [["snapshot", "delta 0", "delta 1", "delta 2"]] * (CROWD_SIZE - 1)


async def test_a_heartbeat_is_encoded_once_for_all_sockets_with_the_same_chats(team, monkeypatch):
    async with readers([team.alice, team.bob], f"chat:{team.chat.id}") as sockets:
        beats = count_calls(monkeypatch, Heartbeat, "model_dump_json")
        await maintenance.send_heartbeats(get_hub())
        versions = [(await receive_type(socket, "heartbeat"))["versions"] for socket in sockets]
        head = await run_in_db_thread(get_version, team.chat.id)
        assert versions == [{f"chat:{team.chat.id}": head}] * SOCKETS
        assert len(beats) == 1


async def test_frames_that_wait_for_a_slow_connection_stay_in_order(team):
    async with readers([team.alice], f"chat:{team.chat.id}", number=1) as [reader]:
        (socket,) = get_hub().sockets
        connection = socket.outbox.writer
        assert isinstance(connection, BoundedSocket)
        socket.send('{"type": "number", "number": 0}')
        connection.pause_writing()
        for number in (1, 2, 3):
            socket.send(f'{{"type": "number", "number": {number}}}')
        assert len(socket.outbox._waiting) == 3
        connection.resume_writing()
        # Before the task that empties the outbox has run: this one must not overtake.
        socket.send('{"type": "number", "number": 4}')
        assert [(await receive_type(reader, "number"))["number"] for _ in range(5)] == [0, 1, 2, 3, 4]


async def test_no_frame_is_sent_after_a_close_frame(team):
    async with readers([team.alice], f"chat:{team.chat.id}", number=1) as [reader]:
        (socket,) = get_hub().sockets
        connection = socket.outbox.writer
        assert isinstance(connection, BoundedSocket)
        socket.end(4008)
        while not connection.close_sent:
            await asyncio.sleep(0)
        connection.write_frame(encode_frame('{"type": "late"}'))
        with contextlib.suppress(Exception):
            while True:
                assert json.loads(await reader.recv())["type"] != "late"
        assert reader.close_code == 4008


async def test_read_cursors_of_many_people_are_one_redis_message(team, monkeypatch):
    def post():
        with transaction.atomic():
            chats.post_message(team.alice, team.chat.id, text="hello", wake="nobody")

    topics = f"chat:{team.chat.id}"
    async with readers([team.alice, team.bob], topics, number=2) as sockets:
        for socket, person in zip(sockets, (team.alice, team.bob), strict=True):
            await socket.send(json.dumps({"type": "subscribe", "topic": f"actor:{person.id}"}))
            await receive_type(socket, "subscribed")
        await run_in_db_thread(post)
        head = await run_in_db_thread(get_version, team.chat.id)
        sent = count_calls(monkeypatch, redis_client, "publish")
        for socket in sockets:
            await socket.send(json.dumps({"type": "mark_read", "topic": topics, "seq": head}))
        for socket, person in zip(sockets, (team.alice, team.bob), strict=True):
            activity = await receive_type(socket, "chat_activity")
            assert (activity["topic"], activity["last_read_seq"]) == (f"actor:{person.id}", head)
        assert [len(args[-1]) for args in sent] == [1]


async def test_a_batch_is_sent_only_to_subscribers_of_its_topics(team, tabs):
    alice, bob, charlie = (
        await tabs.open_tab(team.alice),
        await tabs.open_tab(team.bob),
        await tabs.open_tab(team.charlie),
    )
    for tab, person in ((alice, team.alice), (bob, team.bob), (charlie, team.charlie)):
        await tab.subscribe(f"actor:{person.id}")
    frames = [ListChanged(topic=f"actor:{person.id}", list="me") for person in (team.alice, team.bob)]
    await run_in_db_thread(publish_batch, frames)
    for tab, person in ((alice, team.alice), (bob, team.bob)):
        assert (await tab.receive_type("list_changed"))["topic"] == f"actor:{person.id}"
    assert await charlie.is_silent()


def test_a_long_batch_is_split_into_messages_of_a_bounded_size(monkeypatch):
    sent = count_calls(monkeypatch, redis_client, "publish")
    monkeypatch.setattr(transaction, "on_commit", lambda send, robust: send())
    publish_batch(Typing(topic=f"chat:{new_id()}", actor_id=new_id()) for _ in range(3000))
    [(messages,)] = [args[-1:] for args in sent]
    assert len(messages) > 1
    assert max(len(body) for _, body in messages) <= publish.MAX_PUBLISHED_BYTES
    assert sum(body.count(b'"type":"typing"') for _, body in messages) == 3000
    publish_batch([])
    assert list(sent[-1][-1]) == []
