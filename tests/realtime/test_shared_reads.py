"""FAIR3: there is one read of a chat at a time, for any number of subscriptions from any versions."""

import asyncio
import json

from common.ids import new_id
from events.frames import Subscribed
from realtime.topic_buffer import TopicBuffer
from realtime.topics import Topic
from server import limits


class Chat:
    """A chat whose reads are slow. It records the versions and the number of concurrent reads."""

    def __init__(self):
        self.version = 1000
        self.reads = []
        self.at_once = self.most_at_once = 0

    async def catch_up(self, topic, since):
        self.reads.append(since)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        for _ in range(5):
            await asyncio.sleep(0)
        self.at_once -= 1
        known = since is not None and since <= self.version
        return Subscribed(topic=str(topic), version=self.version, snapshot=not known, rows=[])


class Subscriber:
    def send(self, text, *, transient):
        pass

    def send_transient(self, texts):
        pass


async def come(buffer, since):
    """Subscribe. Return the version of the read, and whether the answer is a snapshot."""
    reader = Subscriber()
    answer = await buffer.get_reply(buffer.subscribe(reader), since)
    return json.loads(answer.text)


async def test_subscriptions_from_different_versions_share_a_read_from_the_lowest():
    chat = Chat()
    buffer = TopicBuffer(Topic("chat", new_id()), chat.catch_up)
    answers = await asyncio.gather(*(come(buffer, since) for since in range(100, 0, -1)))
    assert {(answer["version"], answer["snapshot"]) for answer in answers} == {(1000, False)}
    assert chat.reads == [1]


async def test_subscriptions_during_a_read_share_the_next_read():
    chat = Chat()
    buffer = TopicBuffer(Topic("chat", new_id()), chat.catch_up)
    first = [asyncio.create_task(come(buffer, since)) for since in (900, 800)]
    while not chat.reads:
        await asyncio.sleep(0)
    chat.version += 1
    later = [asyncio.create_task(come(buffer, since)) for since in range(500, 0, -1)]
    await asyncio.gather(*first, *later)
    assert chat.reads == [800, 1]
    assert chat.most_at_once == 1


async def test_subscribing_repeatedly_does_not_start_concurrent_reads():
    chat = Chat()
    buffer = TopicBuffer(Topic("chat", new_id()), chat.catch_up)
    tasks = []
    for since in range(50):
        reader = Subscriber()
        tasks.append(asyncio.create_task(buffer.get_reply(buffer.subscribe(reader), since)))
        await asyncio.sleep(0)
        buffer.unsubscribe(reader)
    await asyncio.gather(*tasks)
    assert chat.most_at_once == 1
    assert len(chat.reads) <= 12


async def test_an_unknown_version_gets_a_snapshot_among_other_subscriptions():
    chat = Chat()
    buffer = TopicBuffer(Topic("chat", new_id()), chat.catch_up)
    known, unknown = await asyncio.gather(come(buffer, 10), come(buffer, 5000))
    assert (known["snapshot"], unknown["snapshot"]) == (False, True)


async def test_a_failed_read_fails_for_waiting_subscriptions_and_the_next_one_reads_again():
    chat, broken = Chat(), [True]

    async def catch_up(topic, since):
        if broken.pop():
            raise ValueError("away")
        return await chat.catch_up(topic, since)

    broken[:0] = [False]
    buffer = TopicBuffer(Topic("chat", new_id()), catch_up)
    failed = await asyncio.gather(come(buffer, 1), come(buffer, 2), return_exceptions=True)
    assert [type(error) for error in failed] == [ValueError, ValueError]
    assert (await come(buffer, 1))["version"] == 1000


async def test_all_sockets_of_a_person_share_a_token_bucket(team, tabs, monkeypatch):
    monkeypatch.setattr(limits, "PERSON_FRAMES_PER_SECOND", 0.01)
    monkeypatch.setattr(limits, "PERSON_BURST_FRAMES", 6)
    alices = [await tabs.open_tab(team.alice) for _ in range(3)]
    bob = await tabs.open_tab(team.bob)
    topic = f"chat:{team.chat.pk}"

    async def subscribe(tab, since):
        await tab.send(type="subscribe", topic=topic, since=since)
        return await tab.receive_until(lambda frame: frame["type"] in ("subscribed", "error"))

    answers = [await subscribe(tab, since) for since in range(3) for tab in alices]
    assert [answer["type"] for answer in answers] == ["subscribed"] * 6 + ["error"] * 3
    assert {answer["code"] for answer in answers[6:]} == {"limit_reached"}
    assert (await bob.subscribe(topic))["type"] == "subscribed"
    await alices[0].close()
    again = await tabs.open_tab(team.alice)
    assert (await subscribe(again, None))["type"] == "error"  # a new socket is no new allowance
