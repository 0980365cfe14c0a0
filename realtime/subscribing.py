"""Check the rights of subscribers to topics, and record their presence, for many people at once."""

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from realtime import presence
from realtime.rights import filter_allowed
from realtime.topics import Topic

Pair = tuple[UUID, Topic]


def add_subscribers(pairs: Collection[Pair], *, hub_id: str) -> dict[Pair, bool]:
    """Return the pairs of a person and a topic that are allowed, and publish the presence of these people in chats."""
    allowed = filter_allowed(pairs)
    presence.add_present(_group_by_chat(allowed), hub_id)
    return dict.fromkeys(allowed, True)


def check_viewers(pairs: Collection[Pair]) -> dict[Pair, bool]:
    """Return the allowed pairs of a person and a topic, for operators who view as these people: they are not shown as present."""
    return dict.fromkeys(filter_allowed(pairs), True)


def remove_presence(pairs: Collection[Pair], *, hub_id: str) -> dict[Pair, bool]:
    """Remove the presence of people who have no socket of this process on the topics any more. The result is empty: `Batched`
    expects a dict."""
    presence.remove_present(_group_by_chat(pairs), hub_id)
    return {}


def _group_by_chat(pairs: Collection[Pair]) -> dict[Topic, set[UUID]]:
    people: dict[Topic, set[UUID]] = defaultdict(set)
    for actor_id, topic in pairs:
        if topic.kind == "chat":
            people[topic].add(actor_id)
    return people
