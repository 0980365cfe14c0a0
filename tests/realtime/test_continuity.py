"""No rows are lost by broken connections, lost frames or concurrent writes."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
import redis.asyncio as redis
from django.conf import settings
from django.db import connections

from chats.models import Chat
from events.rows.messages import BaseMessageRow
from realtime.catchup import catch_up
from realtime.db_executor import run_in_db_thread
from realtime.hub import get_hub
from tests.chaos import IS_CHAOS
from tests.realtime.test_socket import post, texts


@pytest.fixture
async def valkey():
    async with redis.from_url(settings.REDIS_URL) as client:
        yield client


def numbers(count, start=0):
    return [f"number {number}" for number in range(start, start + count)]


async def wait_for_text(tab, text):
    return await tab.receive_until(lambda frame: text in json.dumps(frame))


async def test_MSG2_a_client_that_reconnects_gets_exactly_the_missed_rows(team, tabs):
    topic = f"chat:{team.chat.id}"
    alice = await tabs.open_tab(team.alice)
    since = (await alice.subscribe(topic))["version"]
    for round_ in range(5):
        await alice.close()
        for text in numbers(4, round_ * 4):
            await run_in_db_thread(post, team.chat, team.bob, text)
        store = alice.store
        alice = await tabs.open_tab(team.alice)
        alice.store = store
        answer = await alice.subscribe(topic, since)
        assert answer["snapshot"] is False
        assert texts(alice) == numbers(4, round_ * 4)
        since = answer["version"]
    messages = [row for row in alice.store.rows.values() if row.get("type") == "TEXT_MESSAGE"]
    assert [row["payload"]["text"] for row in sorted(messages, key=lambda row: row["seq"])] == numbers(20)


async def test_MSG2_a_client_that_missed_too_much_gets_a_snapshot(team, tabs, monkeypatch):
    monkeypatch.setattr("realtime.catchup.MAX_MISSED", 3)
    alice = await tabs.open_tab(team.alice)
    since = (await alice.subscribe(f"chat:{team.chat.id}"))["version"]
    for text in numbers(4):
        await run_in_db_thread(post, team.chat, team.bob, text)
    answer = await alice.subscribe(f"chat:{team.chat.id}", since)
    assert answer["snapshot"] is True


def test_MSG2_changes_have_no_row_that_is_newer_than_their_version(team):
    since = Chat.objects.get(pk=team.chat.pk).version
    newer = since + 1  # as if the row had changed after the version of the chat was read
    participant = team.chat.participants.get(actor=team.alice)
    team.chat.participants.filter(pk=participant.pk).update(version=newer)
    assert participant.pk not in {row.id for row in catch_up(team.chat.pk, since).rows}
    Chat.objects.filter(pk=team.chat.pk).update(version=newer)
    assert participant.pk in {row.id for row in catch_up(team.chat.pk, since).rows}


async def test_MSG3_a_lost_frame_is_read_once_for_all_sockets(team, tabs, monkeypatch, quick):
    """The frames are not received; the version in the heartbeat is higher."""
    topic = f"chat:{team.chat.id}"
    tabs_here = [await tabs.open_tab(person) for person in (team.alice, team.bob, team.bob)]
    for tab in tabs_here:
        await tab.subscribe(topic)
    reads = []

    def counted(chat_id, since):
        reads.append(since)
        return catch_up(chat_id, since)

    monkeypatch.setattr("realtime.hub.catch_up", counted)
    hub = get_hub()
    monkeypatch.setattr(hub, "_distribute", lambda message: None)
    for text in numbers(3):
        await run_in_db_thread(post, team.chat, team.alice, text)
    for tab in tabs_here:
        await wait_for_text(tab, "number 2")
        assert texts(tab) == numbers(3)
    assert len(reads) == 1


async def test_MSG3_a_gap_is_repaired_after_the_next_frame(team, tabs, monkeypatch):
    topic = f"chat:{team.chat.id}"
    alice = await tabs.open_tab(team.alice)
    await alice.subscribe(topic)
    hub = get_hub()
    distribute = hub._distribute
    lost: list[dict] = []

    def lose_the_first(message):
        if not lost and message.get("kind") == "changes":
            lost.append(message)
        else:
            distribute(message)

    monkeypatch.setattr(hub, "_distribute", lose_the_first)
    for text in numbers(3):
        await run_in_db_thread(post, team.chat, team.bob, text)
    await wait_for_text(alice, "number 2")
    assert lost
    assert texts(alice) == numbers(3)


async def test_MSG3_frames_in_the_wrong_order_are_reordered_without_a_read(team, tabs, monkeypatch):
    alice = await tabs.open_tab(team.alice)
    await alice.subscribe(f"chat:{team.chat.id}")
    monkeypatch.setattr("realtime.hub.catch_up", lambda *args: pytest.fail("nothing was missing"))
    monkeypatch.setattr("realtime.topic_buffer.OUT_OF_ORDER_WAIT_SECONDS", 60)  # the second frame may be late
    hub = get_hub()
    distribute = hub._distribute
    delayed: list[dict] = []

    def swap(message):
        if message.get("kind") != "changes":
            distribute(message)
        elif delayed:
            distribute(message)
            distribute(delayed.pop())
        else:
            delayed.append(message)

    monkeypatch.setattr(hub, "_distribute", swap)
    for text in numbers(2):
        await run_in_db_thread(post, team.chat, team.bob, text)
    await wait_for_text(alice, "number 1")
    assert texts(alice) == numbers(2)


async def cut_lines(valkey) -> None:
    """Close the connections of this test only: concurrent tests use another database of the same server."""
    ours = str(valkey.connection_pool.connection_kwargs["db"])
    for one in await valkey.client_list(_type="pubsub"):
        if one["db"] == ours:
            await valkey.client_kill_filter(_id=one["id"])


async def test_MSG3_no_frame_is_missing_after_the_connection_to_redis_breaks(team, tabs, valkey, quick):
    alice = await tabs.open_tab(team.alice)
    await alice.subscribe(f"chat:{team.chat.id}")
    for round_ in range(3):
        await cut_lines(valkey)
        for text in numbers(5, round_ * 5):
            await run_in_db_thread(post, team.chat, team.bob, text)
        await wait_for_text(alice, f"number {round_ * 5 + 4}")
    assert texts(alice) == numbers(15)


async def test_a_too_large_frame_is_read_from_the_database(team, tabs, monkeypatch):
    monkeypatch.setattr("events.publish.MAX_PUBLISHED_BYTES", 1000)
    alice = await tabs.open_tab(team.alice)
    await alice.subscribe(f"chat:{team.chat.id}")
    await run_in_db_thread(post, team.chat, team.bob, "x" * 5000)
    frame = await alice.receive_type("changes")
    assert frame["rows"][-1]["payload"]["text"] == "x" * 5000


async def test_P8_concurrent_subscriptions_share_one_read(team, tabs, monkeypatch):
    topic, reads = f"chat:{team.chat.id}", []

    def counted(chat_id, since):
        reads.append(since)
        return catch_up(chat_id, since)

    monkeypatch.setattr("realtime.hub.catch_up", counted)
    many = [await tabs.open_tab(team.alice) for _ in range(10)]
    answers = await asyncio.gather(*(tab.subscribe(topic) for tab in many))
    assert len(reads) == 1
    assert {answer["version"] for answer in answers} == {answers[0]["version"]}
    for number in range(5):
        # Whoever subscribes after a message was posted reads it, and does not get an answer from before.
        await run_in_db_thread(post, team.chat, team.bob, f"number {number}")
        await wait_for_text(many[0], f"number {number}")
        late = await tabs.open_tab(team.bob)
        assert f"number {number}" in json.dumps(await late.subscribe(topic))


async def test_MSG9_the_heartbeat_has_the_versions_of_subscribed_chats(team, tabs, quick):
    alice, bob = await tabs.open_tab(team.alice), await tabs.open_tab(team.bob)
    await alice.subscribe(f"chat:{team.chat.id}")
    await bob.subscribe(f"actor:{team.bob.id}")
    version = await run_in_db_thread(lambda: Chat.objects.get(pk=team.chat.id).version)
    assert (await alice.receive_type("heartbeat"))["versions"] == {f"chat:{team.chat.id}": version}
    assert (await bob.receive_type("heartbeat"))["versions"] == {}


async def test_RUN7_sockets_stay_open_while_the_database_does_not_answer(team, tabs, monkeypatch, quick, caplog):
    alice = await tabs.open_tab(team.alice)
    await alice.subscribe(f"chat:{team.chat.id}")

    def fail(*args):
        raise ConnectionError("no database")

    with monkeypatch.context() as broken:
        broken.setattr("realtime.maintenance.get_versions", fail)
        broken.setattr("realtime.maintenance.filter_signed_in", fail)
        await alice.receive_type("heartbeat")
        await asyncio.sleep(0.5)
    await run_in_db_thread(post, team.chat, team.bob, "still here")
    await wait_for_text(alice, "still here")


MESSAGES_OF_WRITER = 40 if IS_CHAOS else 16


def test_MSG4_no_row_appears_later_with_a_version_that_was_already_read(team):
    """50 writers post messages in a chat while a reader reads the changes since its version."""
    chat, done, turn = team.chat, threading.Event(), threading.Semaphore(6)
    seen: list[int] = []
    before_all = catch_up(chat.id, None).version

    def write(writer):
        for number in range(MESSAGES_OF_WRITER):
            # Fifty share eight connections: they stand in line for one, as requests do for a thread.
            with turn:
                post(chat, team.alice, f"{writer}.{number}")
                connections.close_all()

    def read():
        since = before_all
        try:
            while True:
                last = done.is_set()
                found = catch_up(chat.id, since)
                assert not found.snapshot
                seen.extend(row.seq for row in found.rows if isinstance(row, BaseMessageRow) and row.seq > since)
                assert all(row.version > since for row in found.rows if row.kind == "message")
                since = found.version
                if last:
                    return
        finally:
            connections.close_all()

    with ThreadPoolExecutor(51) as threads:
        reader = threads.submit(read)
        writers = [threads.submit(write, writer) for writer in range(50)]
        wait(writers)
        done.set()
    reader.result()
    assert [writer.exception() for writer in writers] == [None] * 50
    assert len(seen) == len(set(seen)) == 50 * MESSAGES_OF_WRITER
