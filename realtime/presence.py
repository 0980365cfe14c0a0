"""Who has a chat open now, in all processes: entries in Redis that each hub renews, so that entries of a dead process expire.

The functions are synchronous, for a thread. Without Redis nobody is present.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from common.redis_client import redis_client
from events.frames import Presence
from events.publish import publish_now
from realtime.topics import Topic

ENTRY_TTL_SECONDS = 25.0
"""Seconds until an entry expires; hubs renew theirs with every heartbeat (10 s)."""


def add_present(newcomers: Mapping[Topic, Collection[UUID]], hub_id: str) -> None:
    """Add people who opened chats in this process, and publish the changed presence. One round trip for all chats."""

    def step(pipe: Any, topic: Topic) -> None:
        pipe.zadd(_key(topic), {_entry(hub_id, actor_id): _expiry() for actor_id in newcomers[topic]})

    _change(list(newcomers), step)


def remove_present(leaving: Mapping[Topic, Collection[UUID]], hub_id: str) -> None:
    """Remove people whose last socket of this process left the chats."""

    def step(pipe: Any, topic: Topic) -> None:
        pipe.zrem(_key(topic), *(_entry(hub_id, actor_id) for actor_id in leaving[topic]))

    _change(list(leaving), step)


def list_present(topic: Topic) -> list[UUID]:
    """Return who has the chat open, ordered by id."""
    none: Any = []
    entries: Any = redis_client.call(lambda client: client.zrangebyscore(_key(topic), time.time(), "+inf"), none)
    return _people(entries)


def renew(mine: Mapping[Topic, Collection[UUID]], hub_id: str) -> dict[Topic, list[UUID]]:
    """Renew the entries of these people, remove expired ones, and return who is present. One round trip for all chats."""
    nothing: list[Any] = []
    answers = redis_client.call(lambda client: _renewed(client, mine, hub_id), nothing)
    return {topic: _people(people) for topic, people in zip(mine, answers[3::4], strict=False)}


def _renewed(client: Any, mine: Mapping[Topic, Collection[UUID]], hub_id: str) -> list[Any]:
    with client.pipeline(transaction=False) as pipe:
        for topic, people in mine.items():
            pipe.zadd(_key(topic), {_entry(hub_id, actor_id): _expiry() for actor_id in people})
            pipe.zremrangebyscore(_key(topic), "-inf", time.time())
            pipe.expire(_key(topic), int(ENTRY_TTL_SECONDS) + 5)
            pipe.zrange(_key(topic), 0, -1)
        answers: list[Any] = pipe.execute()
    return answers


def _change(topics: Sequence[Topic], step: Callable[[Any, Topic], None]) -> None:
    nothing: list[Any] = []
    answers = redis_client.call(lambda client: _before_and_after(client, topics, step), nothing)
    changes = zip(topics, map(_people, answers[::4]), map(_people, answers[2::4]), strict=False)
    publish_now(*(Presence(topic=str(topic), present=after) for topic, before, after in changes if before != after))


def _before_and_after(client: Any, topics: Sequence[Topic], step: Callable[[Any, Topic], None]) -> list[Any]:
    # In one transaction: when two people arrive at the same time, the later list has both.
    with client.pipeline(transaction=True) as pipe:
        for topic in topics:
            pipe.zrangebyscore(_key(topic), time.time(), "+inf")
            step(pipe, topic)
            pipe.zrangebyscore(_key(topic), time.time(), "+inf")
            pipe.expire(_key(topic), int(ENTRY_TTL_SECONDS) + 5)
        answers: list[Any] = pipe.execute() if topics else []
    return answers


def _people(entries: Collection[bytes]) -> list[UUID]:
    return sorted({UUID(entry.decode().partition("/")[2]) for entry in entries})


def _entry(hub_id: str, actor_id: UUID) -> str:
    return f"{hub_id}/{actor_id}"


def _key(topic: Topic) -> str:
    return f"present:{topic}"


def _expiry() -> float:
    return time.time() + ENTRY_TTL_SECONDS
