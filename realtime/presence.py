"""Who has a chat open right now, over all processes: entries in Redis that each hub renews, so that those of a process
that died run out by themselves. Synchronous, for a thread; without Redis nobody is present."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from common.redis_client import redis_client
from events.frames import Presence
from events.publish import publish_now
from realtime.topics import Topic

LASTS = 25.0
"""Seconds that an entry holds; hubs renew theirs with every heartbeat (10 s)."""


def arrive(newcomers: Mapping[Topic, Collection[UUID]], hub_id: str) -> None:
    """These opened the chats in this process: tell the others, where it is news. One round trip for all chats."""

    def step(pipe: Any, topic: Topic) -> None:
        pipe.zadd(_key(topic), {_entry(hub_id, actor_id): _until() for actor_id in newcomers[topic]})

    _change(list(newcomers), step)


def depart(leaving: Mapping[Topic, Collection[UUID]], hub_id: str) -> None:
    """Their last sockets of this process are gone from the chats."""

    def step(pipe: Any, topic: Topic) -> None:
        pipe.zrem(_key(topic), *(_entry(hub_id, actor_id) for actor_id in leaving[topic]))

    _change(list(leaving), step)


def present_in(topic: Topic) -> list[UUID]:
    """Who has the chat open, in the order of ids."""
    nobody: list[Any] = []
    return _people(redis_client.call(lambda client: _entries(client, topic), nobody))


def _entries(client: Any, topic: Topic) -> Any:
    return client.zrangebyscore(_key(topic), time.time(), "+inf")


def renew(mine: Mapping[Topic, Collection[UUID]], hub_id: str) -> dict[Topic, list[UUID]]:
    """Say that these are still there, and learn who is, with the dead ones forgotten. One round trip for all chats."""
    nothing: list[Any] = []
    answers = redis_client.call(lambda client: _renewed(client, mine, hub_id), nothing)
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


def _change(topics: Sequence[Topic], step: Callable[[Any, Topic], None]) -> None:
    nothing: list[Any] = []
    answers = redis_client.call(lambda client: _before_and_after(client, topics, step), nothing)
    told = zip(topics, map(_people, answers[::4]), map(_people, answers[2::4]), strict=False)
    publish_now(*(Presence(topic=str(topic), present=after) for topic, before, after in told if before != after))


def _before_and_after(client: Any, topics: Sequence[Topic], step: Callable[[Any, Topic], None]) -> list[Any]:
    # In one transaction: of two who arrive at once, the later one's list has both.
    with client.pipeline(transaction=True) as pipe:
        for topic in topics:
            pipe.zrangebyscore(_key(topic), time.time(), "+inf")
            step(pipe, topic)
            pipe.zrangebyscore(_key(topic), time.time(), "+inf")
            pipe.expire(_key(topic), int(LASTS) + 5)
        answers: list[Any] = pipe.execute() if topics else []
    return answers


def _people(entries: Collection[bytes]) -> list[UUID]:
    return sorted({UUID(entry.decode().partition("/")[2]) for entry in entries})


def _entry(hub_id: str, actor_id: UUID) -> str:
    return f"{hub_id}/{actor_id}"


def _key(topic: Topic) -> str:
    return f"present:{topic}"


def _until() -> float:
    return time.time() + LASTS
