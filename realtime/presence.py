"""The people who have a chat open. Each hub stores its people in Redis and renews the entries, which expire after a crash.

The functions block the thread. While Redis is down, the lists are empty.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from redis import Redis
from redis.client import Pipeline

from common.redis_client import redis_client
from events.frames import Presence
from events.publish import publish_now
from realtime.topics import Topic

ENTRY_TTL_SECONDS = 25.0
"""Seconds until an entry expires; hubs renew theirs with every heartbeat (10 s)."""


def add_present(newcomers: Mapping[Topic, Collection[UUID]], hub_id: str) -> None:
    """Add people who opened chats in this process, and publish the changed presence. One round trip to Redis."""

    def step(pipe: Pipeline, topic: Topic) -> None:
        pipe.zadd(_build_key(topic), {_build_entry(hub_id, actor_id): _get_expiry() for actor_id in newcomers[topic]})

    _update_and_publish(list(newcomers), step)


def remove_present(leaving: Mapping[Topic, Collection[UUID]], hub_id: str) -> None:
    """Remove people who have no socket of this process on the chats any more, and publish the changed presence."""

    def step(pipe: Pipeline, topic: Topic) -> None:
        pipe.zrem(_build_key(topic), *(_build_entry(hub_id, actor_id) for actor_id in leaving[topic]))

    _update_and_publish(list(leaving), step)


def list_present(topic: Topic) -> list[UUID]:
    """Return the people who have the chat open, ordered by id."""
    nothing: Any = []
    entries: Any = redis_client.call(
        lambda client: client.zrangebyscore(_build_key(topic), time.time(), "+inf"), nothing
    )
    return _parse_entries(entries)


def renew(mine: Mapping[Topic, Collection[UUID]], hub_id: str) -> dict[Topic, list[UUID]]:
    """Renew the entries of these people, remove expired ones, and return the people in each chat. One round trip to Redis."""
    nothing: list[Any] = []
    answers = redis_client.call(lambda client: _send_renewal(client, mine, hub_id), nothing)
    return {topic: _parse_entries(people) for topic, people in zip(mine, answers[3::4], strict=False)}


def _send_renewal(client: Redis, mine: Mapping[Topic, Collection[UUID]], hub_id: str) -> list[Any]:
    with client.pipeline(transaction=False) as pipe:
        for topic, people in mine.items():
            pipe.zadd(_build_key(topic), {_build_entry(hub_id, actor_id): _get_expiry() for actor_id in people})
            pipe.zremrangebyscore(_build_key(topic), "-inf", time.time())
            pipe.expire(_build_key(topic), int(ENTRY_TTL_SECONDS) + 5)
            pipe.zrange(_build_key(topic), 0, -1)
        answers: list[Any] = pipe.execute()
    return answers


def _update_and_publish(topics: Sequence[Topic], step: Callable[[Pipeline, Topic], None]) -> None:
    nothing: list[Any] = []
    answers = redis_client.call(lambda client: _send_update(client, topics, step), nothing)
    changes = zip(topics, map(_parse_entries, answers[::4]), map(_parse_entries, answers[2::4]), strict=False)
    publish_now(*(Presence(topic=str(topic), present=after) for topic, before, after in changes if before != after))


def _send_update(client: Redis, topics: Sequence[Topic], step: Callable[[Pipeline, Topic], None]) -> list[Any]:
    """Return four answers for each topic: the people before, the step's answer, the people after, and that of EXPIRE."""
    # In a transaction, so that if two people arrive at the same time, the later of the two lists has both.
    with client.pipeline(transaction=True) as pipe:
        for topic in topics:
            pipe.zrangebyscore(_build_key(topic), time.time(), "+inf")
            step(pipe, topic)
            pipe.zrangebyscore(_build_key(topic), time.time(), "+inf")
            pipe.expire(_build_key(topic), int(ENTRY_TTL_SECONDS) + 5)
        answers: list[Any] = pipe.execute() if topics else []
    return answers


def _parse_entries(entries: Collection[bytes]) -> list[UUID]:
    return sorted({UUID(entry.decode().partition("/")[2]) for entry in entries})


def _build_entry(hub_id: str, actor_id: UUID) -> str:
    return f"{hub_id}/{actor_id}"


def _build_key(topic: Topic) -> str:
    return f"present:{topic}"


def _get_expiry() -> float:
    return time.time() + ENTRY_TTL_SECONDS
