"""MSG2, MSG3: connections of clients that break repeatedly, and a burst of messages while the connection to Redis breaks."""

import asyncio
import json
import random
from contextlib import suppress

import redis.asyncio as redis
from django.conf import settings
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidMessage

from chats.models import Message
from events.rows.messages import TextMessageRow
from realtime import hub
from realtime.catchup import catch_up
from realtime.db_executor import run_in_db_thread
from realtime.routing import application
from tests import chaos
from tests.cut_connection import CutConnection
from tests.realtime.store import Store
from tests.realtime.tab import create_session_key
from tests.realtime.test_continuity import cut_lines, numbers
from tests.realtime.test_socket import post
from tests.serving import serve

MESSAGES, BURST = 200, 2000
# How often the line is reset, in the long form as many seconds apart as people move between networks.
RESETS = min(MESSAGES, 2 * chaos.N) if chaos.IS_CHAOS else 20


def list_texts(frame):
    return [row["seq"] for row in frame.get("rows", []) if row["kind"] == "message" and row["type"] == "TEXT_MESSAGE"]


class Client:
    """Subscribes to a chat until it has every message, and connects again with its version whenever the connection breaks."""

    def __init__(self, topic, key):
        self._topic = topic
        self._headers = {"X-Session-Token": key}
        self.store = Store()
        self.received = []
        self.answers = []

    async def listen(self, url):
        while len(self.received) < MESSAGES:
            with suppress(ConnectionClosed, OSError, EOFError, InvalidMessage):
                async with connect(url, additional_headers=self._headers) as socket:
                    await self._follow(socket)

    async def _follow(self, socket):
        since = None if self.store.version < 0 else self.store.version
        await socket.send(json.dumps({"type": "subscribe", "topic": self._topic, "since": since}))
        while len(self.received) < MESSAGES:
            frame = json.loads(await socket.recv())
            self.store.apply(frame)
            self.received.extend(list_texts(frame))
            if frame["type"] == "subscribed":
                self.answers.append(frame["snapshot"])


async def test_MSG2_all_messages_arrive_once_over_a_connection_that_breaks_repeatedly(team):
    """The client connects again with its version, and gets every message once."""
    client = Client(f"chat:{team.chat.id}", await run_in_db_thread(create_session_key, team.alice))
    async with serve(application) as server:
        connection = CutConnection(f"ws://127.0.0.1:{server.config.port}/ws/")
        listener = asyncio.create_task(client.listen(connection.url.replace("@", "")))
        while not client.answers:
            await asyncio.sleep(0.01)
        per_reset = MESSAGES // RESETS
        for number, text in enumerate(numbers(MESSAGES)):
            await run_in_db_thread(post, team.chat, team.bob, text)
            if number % per_reset == per_reset - 1:
                known = len(client.answers)
                connection.reset()
                if chaos.REAL:
                    await asyncio.sleep(random.uniform(2, 5))
                # Every second time another message is posted before they are back.
                while number % (2 * per_reset) < per_reset and len(client.answers) == known:
                    await asyncio.sleep(0.01)
        async with asyncio.timeout(60):
            await listener
        connection.close()
    assert client.answers[0] is True
    assert not any(client.answers[1:])
    assert len(client.answers) > RESETS / 2
    assert client.received == sorted(set(client.received))
    assert len(client.received) == MESSAGES
    rows = [row for row in client.store.rows.values() if row.get("type") == "TEXT_MESSAGE"]
    assert [row["payload"]["text"] for row in sorted(rows, key=lambda row: row["seq"])] == numbers(MESSAGES)


async def test_MSG3_a_burst_of_two_thousand_messages_arrives_within_one_heartbeat(team, tabs, monkeypatch):
    """A frame may wait for an earlier one, and the connection to Redis breaks. The heartbeat has the default interval."""
    monkeypatch.setattr("realtime.topic_buffer.MAX_BUFFERED_FRAMES", 1)
    reads = []

    def counted(chat_id, since):
        reads.append(since)
        return catch_up(chat_id, since)

    monkeypatch.setattr(hub, "catch_up", counted)
    topic = f"chat:{team.chat.id}"
    alice = await tabs.open_tab(team.alice)
    await alice.subscribe(topic)
    reads.clear()

    def burst(part):
        for number in range(part * 100, part * 100 + 100):
            post(team.chat, team.bob, f"number {number}")

    async with redis.from_url(settings.REDIS_URL) as valkey:
        for part in range(0, BURST // 100, 4):
            writing = asyncio.gather(*(run_in_db_thread(burst, part + beside) for beside in range(4)))
            await cut_lines(valkey)
            await writing
    found = await run_in_db_thread(catch_up, team.chat.id, None)
    beats = 0
    while alice.store.version < found.version:
        frame = await alice.receive(30)
        beats += frame["type"] == "heartbeat" and frame["versions"].get(topic) == found.version
        assert beats <= 1
    assert reads, "nothing was lost"
    newest = {str(row.id): row.payload["text"] for row in found.rows if isinstance(row, TextMessageRow)}
    here = {id: row["payload"].get("text") for (kind, id), row in alice.store.rows.items() if kind == "message"}
    assert {id: here.get(id) for id in newest} == newest
    assert await run_in_db_thread(Message.objects.filter(chat=team.chat, type="TEXT_MESSAGE").count) == BURST
