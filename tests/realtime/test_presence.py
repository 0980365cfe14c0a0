"""Presence: frames about changes, in all processes, and expiry after a crash."""

import json
import time
from uuid import uuid4

import redis
from django.conf import settings

from realtime import presence
from realtime.db_executor import run_in_db_thread
from realtime.hub import get_hub
from realtime.topics import Topic


def people(frame):
    return set(frame["present"])


async def test_presence_is_sent_when_people_come_and_go(team, tabs):
    topic, alice_id, bob_id = f"chat:{team.chat.id}", str(team.alice.id), str(team.bob.id)
    alice = await tabs.open_tab(team.alice)
    assert people(await alice.subscribe(topic)) == {alice_id}
    bob = await tabs.open_tab(team.bob)
    await bob.subscribe(topic)
    for tab in (alice, bob):
        await tab.receive_until(lambda frame: frame["type"] == "presence" and people(frame) == {alice_id, bob_id})
    second = await tabs.open_tab(team.bob)
    await second.subscribe(topic)
    await bob.close()
    assert await alice.is_silent()
    assert people(await run_in_db_thread(lambda: {"present": map(str, presence.list_present(Topic.parse(topic)))})) == {
        alice_id,
        bob_id,
    }
    await second.send(type="unsubscribe", topic=topic)
    await alice.receive_until(lambda frame: frame["type"] == "presence" and people(frame) == {alice_id})


async def test_presence_of_a_crashed_process_expires(team, tabs, quick):
    topic = Topic("chat", team.chat.id)
    alice = await tabs.open_tab(team.alice)
    await run_in_db_thread(presence.add_present, {topic: [team.bob.id]}, "another process")
    assert people(await alice.subscribe(str(topic))) == {str(team.alice.id), str(team.bob.id)}
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.zadd(f"present:{topic}", {f"another process/{team.bob.id}": time.time() - 1})
    await alice.receive_until(lambda frame: frame["type"] == "presence" and people(frame) == {str(team.alice.id)})


async def test_a_person_who_leaves_and_returns_at_once_is_present(team, tabs):
    topic = Topic("chat", team.chat.id)
    alice = await tabs.open_tab(team.alice)
    for _ in range(5):
        await alice.subscribe(str(topic))
        await alice.send(type="unsubscribe", topic=str(topic))
    await alice.subscribe(str(topic))
    hub = get_hub()
    while hub._tasks:
        await next(iter(hub._tasks))
    assert await run_in_db_thread(presence.list_present, topic) == [team.alice.id]


def test_presence_of_all_chats_takes_one_round_trip():
    mine = {Topic("chat", uuid4()): {uuid4(), uuid4()} for _ in range(10)}
    assert {topic: set(found) for topic, found in presence.renew(mine, "hub").items()} == mine
    assert json.dumps(sorted(str(topic) for topic in mine))
