"""Letting people in to topics, and out, many at once."""

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from realtime import presence
from realtime.rights import still_allowed
from realtime.topics import Topic

Pair = tuple[UUID, Topic]


def admit(pairs: Collection[Pair], *, hub_id: str) -> dict[Pair, bool]:
    """Whom of these (person, topic) pairs we let in; the others in the chats are told of them."""
    allowed = still_allowed(pairs)
    presence.arrive(_in_chats(allowed), hub_id)
    return dict.fromkeys(allowed, True)


def depart(pairs: Collection[Pair], *, hub_id: str) -> dict[Pair, bool]:
    """These people's last sockets here have left the topics."""
    presence.depart(_in_chats(pairs), hub_id)
    return {}


def _in_chats(pairs: Collection[Pair]) -> dict[Topic, set[UUID]]:
    found: dict[Topic, set[UUID]] = defaultdict(set)
    for actor_id, topic in pairs:
        if topic.kind == "chat":
            found[topic].add(actor_id)
    return found
