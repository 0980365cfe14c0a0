"""Check rights to topics and record presence, for many people at once."""

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from realtime import presence
from realtime.rights import filter_allowed
from realtime.topics import Topic

Pair = tuple[UUID, Topic]


def admit(pairs: Collection[Pair], *, hub_id: str) -> dict[Pair, bool]:
    """Return the (person, topic) pairs that are allowed, and publish their presence in chats."""
    allowed = filter_allowed(pairs)
    presence.add_present(_in_chats(allowed), hub_id)
    return dict.fromkeys(allowed, True)


def depart(pairs: Collection[Pair], *, hub_id: str) -> dict[Pair, bool]:
    """Remove the presence of people whose last sockets of this process left the topics."""
    presence.remove_present(_in_chats(pairs), hub_id)
    return {}


def _in_chats(pairs: Collection[Pair]) -> dict[Topic, set[UUID]]:
    found: dict[Topic, set[UUID]] = defaultdict(set)
    for actor_id, topic in pairs:
        if topic.kind == "chat":
            found[topic].add(actor_id)
    return found
