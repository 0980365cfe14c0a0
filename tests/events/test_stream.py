"""Streams: the first chunk is sent at once, then at most ten frames a second, and Redis stores the text so far (MSG10)."""

import asyncio
import json
import time
from uuid import uuid4

import pytest
import redis.asyncio as redis
from channels.layers import get_channel_layer

from common.db_executor import DatabaseExecutor
from events import stream as streaming
from events.publish import get_group_name
from events.stream import Streams, get_partials

in_thread = DatabaseExecutor(2, "test")


@pytest.fixture
async def streams():
    streams = Streams()
    yield streams
    await streams.aclose()


@pytest.fixture
async def receiver():
    """Receives the deltas of a topic, in order."""
    return await Receiver().open()


class Receiver:
    def __init__(self):
        self.topic = f"chat:{uuid4()}"
        self.deltas = []

    async def open(self):
        self.layer = get_channel_layer()
        self.channel = await self.layer.new_channel()
        await self.layer.group_add(get_group_name(self.topic), self.channel)
        return self

    async def receive_until_text(self, until: str):
        """Receive deltas until they have the whole text."""
        async with asyncio.timeout(60):
            while "".join(d["text"] for d in self.deltas if d["part"] == "text") != until:
                message = await self.layer.receive(self.channel)
                self.deltas.append(json.loads(message["text"]))


def opened(streams, receiver, **fields):
    ids = {"run_id": uuid4(), "agent_id": uuid4(), "message_id": uuid4(), "attempt": 1}
    return streams.open(topic=receiver.topic, **(ids | fields))


async def test_MSG10_at_most_ten_frames_a_second_and_every_character_once(streams, receiver):
    stream = opened(streams, receiver)
    expected = ""
    began = time.monotonic()
    for number in range(100):
        stream.add_chunk("text", f"w{number}界🌍 ")
        expected += f"w{number}界🌍 "
        await asyncio.sleep(0.012)
    spoken = time.monotonic() - began
    await stream.flush()
    await receiver.receive_until_text(expected)
    offset = 0
    for delta in receiver.deltas:
        assert delta["offset"] == offset  # in code points
        offset += len(delta["text"])
    # The first chunk, and what was left at the end, come beside the ten a second.
    assert 3 <= len(receiver.deltas) <= 10 * spoken + 2


async def test_the_first_chunk_does_not_wait_for_the_tick(streams, receiver, monkeypatch):
    monkeypatch.setattr(streaming, "FLUSH_INTERVAL_SECONDS", 3600.0)
    stream = opened(streams, receiver)
    stream.add_chunk("text", "Hello")
    await receiver.receive_until_text("Hello")


async def test_a_new_subscriber_gets_the_text_so_far(streams, receiver):
    stream = opened(streams, receiver, attempt=2)
    stream.add_chunk("thinking", "Let me see")
    stream.add_chunk("text", "It is ")
    await stream.flush()
    stream.add_chunk("text", "noon 🌞")
    stream.add_chunk("arguments", '{"a":', index=1, call_id="c1", name="web_fetch")
    await stream.flush()
    found = await in_thread(get_partials, [stream.run_id, uuid4()])
    assert [(p.part, p.index, p.call_id, p.name, p.text) for p in found] == [
        ("thinking", 0, None, None, "Let me see"),
        ("text", 0, None, None, "It is noon 🌞"),
        ("arguments", 1, "c1", "web_fetch", '{"a":'),
    ]
    assert {(p.message_id, p.attempt) for p in found} == {(stream.message_id, 2)}


async def test_a_message_that_is_stored_leaves_no_partial(streams, receiver):
    stream = opened(streams, receiver)
    stream.add_chunk("text", "done")
    await stream.flush()
    await stream.close()
    assert await in_thread(get_partials, [stream.run_id]) == []


async def test_a_message_that_has_come_whole_is_not_streamed(streams, receiver):
    whole, begun = opened(streams, receiver), opened(streams, receiver)
    begun.add_chunk("text", "first ")
    await begun.flush()
    begun.add_chunk("text", "rest")
    whole.add_chunk("text", "whole")
    await whole.stop()
    await begun.stop()
    await asyncio.sleep(2 * streaming.FLUSH_INTERVAL_SECONDS)
    await receiver.receive_until_text("first rest")
    assert [delta["text"] for delta in receiver.deltas] == ["first ", "rest"]
    assert await in_thread(get_partials, [whole.run_id]) == []


async def test_the_next_message_of_a_run_outlives_the_close_of_the_one_before(streams, receiver):
    first = opened(streams, receiver)
    first.add_chunk("text", "first")
    await first.flush()
    second = opened(streams, receiver, run_id=first.run_id)
    second.add_chunk("text", "second")
    await second.flush()
    await first.close()
    assert [p.text for p in await in_thread(get_partials, [first.run_id])] == ["second"]


async def test_chunks_of_many_runs_are_sent_in_one_pipeline(streams, receiver, monkeypatch):
    pipelines = []
    execute = redis.client.Pipeline.execute

    async def counted(self, *args, **kwargs):
        pipelines.append(self)
        return await execute(self, *args, **kwargs)

    monkeypatch.setattr(redis.client.Pipeline, "execute", counted)
    opened_streams = [opened(streams, receiver) for _ in range(20)]
    for stream in opened_streams:
        stream.add_chunk("text", "x")
    await receiver.receive_until_text("x" * 20)
    assert len(pipelines) == 1


async def test_chunks_are_sent_later_after_an_error_of_redis(streams, receiver, settings):
    right = settings.REDIS_URL
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    stream = opened(streams, receiver)
    stream.add_chunk("text", "while it was down, ")
    await stream.flush()
    assert streams.is_redis_down
    settings.REDIS_URL = right
    streams._client._client = None
    stream.add_chunk("text", "and after")
    await receiver.receive_until_text("while it was down, and after")
    assert [p.text for p in await in_thread(get_partials, [stream.run_id])] == ["while it was down, and after"]


async def test_a_chunk_that_is_stored_twice_counts_once(streams, receiver, settings):
    stream = opened(streams, receiver)
    stream.add_chunk("text", "abc")
    await stream.flush()
    async with redis.from_url(settings.REDIS_URL) as client:
        await client.rpush(
            f"partial:{stream.run_id}", json.dumps(["text", 0, str(stream.message_id), None, None, 0, "abcdef"])
        )
    assert [p.text for p in await in_thread(get_partials, [stream.run_id])] == ["abcdef"]


async def test_a_text_whose_beginning_redis_has_lost_is_not_returned(streams, receiver, settings):
    stream = opened(streams, receiver)
    stream.add_chunk("text", "the beginning, ")
    await stream.flush()
    key = f"partial:{stream.run_id}"
    async with redis.from_url(settings.REDIS_URL) as client:
        assert 0 < await client.ttl(key) <= streaming.PARTIAL_TTL_SECONDS
        await client.delete(key)
        stream.add_chunk("text", "the end")
        await stream.flush()
        await receiver.receive_until_text("the beginning, the end")
        assert not await client.exists(key)
    assert await in_thread(get_partials, [stream.run_id]) == []


async def test_the_time_to_live_is_renewed_only_sometimes(streams, receiver, settings):
    stream = opened(streams, receiver)
    key = f"partial:{stream.run_id}"
    async with redis.from_url(settings.REDIS_URL) as client:
        for seconds_later, is_sent in ((0, False), (streaming.PARTIAL_TTL_SECONDS / 3 + 1, True)):
            stream.add_chunk("text", "more")
            await stream.flush()
            await client.expire(key, 100)
            stream._ttl_set_at -= seconds_later
            stream.add_chunk("text", "more")
            await stream.flush()
            assert (await client.ttl(key) > 100) is is_sent
