"""Who has a chat open right now, over all processes: entries in Redis that each hub renews, so that those of a process
that died run out by themselves. Synchronous, for a thread; without Redis nobody is present."""

import time
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from events.frames import Presence
from events.publish import publish_now
from events.wire import wire
from realtime.topics import Topic

LASTS = 25.0
"""Seconds that an entry holds; hubs renew theirs with every heartbeat (10 s)."""


def arrive(topic: Topic, hub_id: str, actor_id: UUID) -> list[UUID]:
    """Somebody opened the chat in this process: tell the others, if it is news. Returns who is there."""
    return _change(topic, actor_id, lambda pipe: pipe.zadd(_key(topic), {_entry(hub_id, actor_id): _until()}))


def depart(topic: Topic, hub_id: str, actor_id: UUID) -> list[UUID]:
    """Their last socket of this process is gone from the chat."""
    return _change(topic, actor_id, lambda pipe: pipe.zrem(_key(topic), _entry(hub_id, actor_id)))


def present_in(topic: Topic) -> list[UUID]:
    """Who has the chat open, in the order of ids."""
    nobody: list[Any] = []
    return _people(wire.ask(lambda client: _entries(client, topic), nobody))


def _entries(client: Any, topic: Topic) -> Any:
    return client.zrangebyscore(_key(topic), time.time(), "+inf")


def renew(mine: Mapping[Topic, Collection[UUID]], hub_id: str) -> dict[Topic, list[UUID]]:
    """Say that these are still there, and learn who is, with the dead ones forgotten. One round trip for all chats."""
    nothing: list[Any] = []
    answers = wire.ask(lambda client: _renewed(client, mine, hub_id), nothing)
    return {topic: _people(people) for topic, people in zip(mine, answers[3::4], strict=False)}


def _renewed(client: Any, mine: Mapping[Topic, Collection[UUID]], hub_id: str) -> list[Any]:
    with client.pipeline(transaction=False) as pipe:
        for topic, people in mine.items():
            pipe.zadd(_key(topic), {_entry(hub_id, actor_id): _until() for actor_id in people})
            pipe.zremrangebyscore(_key(topic), "-inf", time.time())
            pipe.expire(_key(topic), int(LASTS) + 5)
            pipe.zrange(_key(topic), 0, -1)
        answers: list[Any] = pipe.execute()
    return answers


def _change(topic: Topic, actor_id: UUID, step: Any) -> list[UUID]:
    nothing: list[Any] = []
    answers = wire.ask(lambda client: _before_and_after(client, topic, step), nothing)
    if not answers:
        return []
    before, after = _people(answers[0]), _people(answers[2])
    if before != after:
        publish_now(Presence(topic=str(topic), present=after))
    return after


def _before_and_after(client: Any, topic: Topic, step: Any) -> list[Any]:
    # In one transaction: of two who arrive at once, the later one's list has both.
    with client.pipeline(transaction=True) as pipe:
        pipe.zrangebyscore(_key(topic), time.time(), "+inf")
        step(pipe)
        pipe.zrangebyscore(_key(topic), time.time(), "+inf")
        pipe.expire(_key(topic), int(LASTS) + 5)
        answers: list[Any] = pipe.execute()
    return answers


def _people(entries: Collection[bytes]) -> list[UUID]:
    return sorted({UUID(entry.decode().partition("/")[2]) for entry in entries})


def _entry(hub_id: str, actor_id: UUID) -> str:
    return f"{hub_id}/{actor_id}"


def _key(topic: Topic) -> str:
    return f"present:{topic}"


def _until() -> float:
    return time.time() + LASTS
