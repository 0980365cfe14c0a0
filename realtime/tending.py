"""What a hub does by the clock, in questions shared by all its sockets: heartbeats with the chats' versions, rights,
presence. A question that fails is asked again next time; sockets stay (RUN7)."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING
from uuid import UUID

from events.frames import Access, Heartbeat
from events.publish import group_of
from realtime import presence
from realtime.catchup import heads
from realtime.db_executor import run_in_db_thread
from realtime.rights import still_allowed, still_signed_in
from realtime.socket import SIGNED_OUT, Socket
from realtime.topics import Topic

if TYPE_CHECKING:
    from realtime.hub import Hub

logger = logging.getLogger(__name__)

HEARTBEAT = 10.0
"""Seconds between heartbeats (MSG9)."""

RIGHTS = 4.0
"""Seconds between two looks at everybody's rights: with the time for the answer, at most five (SEC5)."""

PULSE = 1.0
"""Seconds between two signs of life that go through Redis and back."""

REPAIR = 2.0
"""Seconds that a heartbeat waits for repairs, so that it does not overtake the rows it speaks of."""


async def every(seconds: float, job: Callable[[], Awaitable[object]]) -> None:
    """Do `job` again and again; one that fails is logged and tried again."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await job()
        except Exception:
            logger.exception("The hub will try again")


async def beat(hub: "Hub") -> None:
    """Repair what is behind, then tell every socket that we are here, and what there is."""
    await tend_subscriptions(hub)
    known = await look_at_heads(hub)
    texts: dict[frozenset[Topic], str] = {}
    for socket in list(hub.sockets):
        chats = frozenset(topic for topic in socket.subscriptions if topic in known)
        if chats not in texts:
            texts[chats] = Heartbeat(versions={str(topic): known[topic] for topic in chats}).model_dump_json()
        socket.give(texts[chats])
    await renew_presence(hub)


async def tend_subscriptions(hub: "Hub") -> None:
    """Stop hearing what nobody follows any more; try again to hear what could not be subscribed to."""
    await hub.hear_ours()
    for topic, feed in list(hub.feeds.items()):
        group = group_of(str(topic))
        if not feed.is_empty and not feed.is_heard:
            feed.is_heard = await hub.hear(group)
        elif feed.is_empty and feed.is_heard:
            # Whoever follows from now on subscribes anew, behind this in the line.
            feed.is_heard = False
            hub.spawn(hub.layer.group_discard(group, hub.channel))
        elif feed.is_empty:
            del hub.feeds[topic]


async def look_at_heads(hub: "Hub") -> dict[Topic, int]:
    """The heads of all chats followed here, in one query; feeds that are behind are repaired."""
    feeds = {topic.id: feed for topic, feed in hub.feeds.items() if topic.kind == "chat" and not feed.is_empty}
    if not feeds:
        return {}
    try:
        found = await run_in_db_thread(heads, list(feeds))
    except Exception:
        logger.exception("The chats' versions could not be read")
        return {}
    for chat_id, head in found.items():
        feeds[chat_id].behind(head)
    if repairs := [feed.repair for feed in feeds.values() if feed.repair is not None]:
        await asyncio.wait(repairs, timeout=REPAIR)
    return {feeds[chat_id].topic: head for chat_id, head in found.items()}


async def renew_presence(hub: "Hub") -> None:
    """Say who is still here, and pass on who is there."""
    mine: dict[Topic, set[UUID]] = defaultdict(set)
    for socket in hub.sockets:
        for topic in socket.subscriptions:
            if topic.kind == "chat":
                mine[topic].add(socket.actor.id)
    if not mine:
        return
    for topic, people in (await run_in_db_thread(presence.renew, mine, hub.id)).items():
        if feed := hub.feeds.get(topic):
            feed.tell_presence(people)


async def check_rights(hub: "Hub", sockets: Collection[Socket] | None = None) -> None:
    """Ask for all sockets at once, or for those of somebody whose rights have just changed (SEC5)."""
    asked = list(hub.sockets if sockets is None else sockets)
    if not asked:
        return
    tickets = {socket.ticket for socket in asked}
    pairs = {(socket.actor.id, topic) for socket in asked for topic in socket.subscriptions}
    signed_in, allowed = await run_in_db_thread(lambda: (still_signed_in(tickets), still_allowed(pairs)))
    for socket in asked:
        if socket.ticket not in signed_in:
            hub.part(socket)
            socket.end(SIGNED_OUT)
        else:
            _withdraw(hub, socket, pairs - allowed)


def _withdraw(hub: "Hub", socket: Socket, refused: Collection[tuple[UUID, Topic]]) -> None:
    # Topics that were subscribed to while we asked are not among the refused: they have just been checked themselves.
    for topic in [topic for topic in socket.subscriptions if (socket.actor.id, topic) in refused]:
        hub.unfollow(socket, topic)
        socket.give(Access(topic=str(topic), allowed=False).model_dump_json())
