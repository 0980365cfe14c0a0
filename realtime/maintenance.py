"""The periodic work of a hub, for all of its sockets at once: heartbeats, checks of rights, and presence.

Work that fails is repeated after the next interval, and the sockets stay open (RUN7).
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING
from uuid import UUID

from events.frames import Access, Heartbeat
from events.publish import get_group_name
from realtime import presence
from realtime.catchup import get_versions
from realtime.db_executor import run_in_db_thread
from realtime.rights import filter_allowed, filter_signed_in
from realtime.socket import SIGNED_OUT, Socket
from realtime.topics import Topic

if TYPE_CHECKING:
    from realtime.hub import Hub

logger = logging.getLogger(__name__)

HEARTBEAT_INTERVAL_SECONDS = 10.0
"""Seconds between two heartbeats (MSG9)."""

RIGHTS_CHECK_INTERVAL_SECONDS = 4.0
"""Seconds between two checks of all rights, so that sockets lose a withdrawn right after at most five seconds (SEC5)."""

PROBE_INTERVAL_SECONDS = 1.0
"""Seconds between two liveness probes, which the hub sends to itself through Redis."""

REPAIR_TIMEOUT = 2.0
"""Seconds that a heartbeat waits for repairs, so that rows are sent before the heartbeat with their version."""


async def run_every(seconds: float, job: Callable[[], Awaitable[object]]) -> None:
    """Run `job` for ever, with a pause of `seconds`. An error is logged."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await job()
        except Exception:
            logger.exception("Periodic work of the hub failed; it is repeated")


async def send_heartbeats(hub: "Hub") -> None:
    """Join and leave groups, repair outdated buffers, send each socket the versions of its chats, and renew the presence."""
    await maintain_groups(hub)
    known = await repair_outdated_buffers(hub)
    texts: dict[frozenset[Topic], str] = {}
    for socket in list(hub.sockets):
        chats = frozenset(topic for topic in socket.subscriptions if topic in known)
        if chats not in texts:
            texts[chats] = Heartbeat(versions={str(topic): known[topic] for topic in chats}).model_dump_json()
        socket.send(texts[chats])
    await renew_presence(hub)


async def maintain_groups(hub: "Hub") -> None:
    """Retry to join groups that could not be joined. Leave the groups of topics without subscribers, then delete their buffers."""
    await hub.join_own_groups()
    for topic, buffer in list(hub.buffers.items()):
        group = get_group_name(str(topic))
        if not buffer.is_empty and not buffer.has_joined_group:
            buffer.has_joined_group = await hub.join_group(group)
        elif buffer.is_empty and buffer.has_joined_group:
            # If a subscriber comes now, the hub joins the group again. The channel layer keeps this order: it leaves first.
            buffer.has_joined_group = False
            hub.spawn(hub.layer.group_discard(group, hub.channel))
        elif buffer.is_empty:
            del hub.buffers[topic]


async def repair_outdated_buffers(hub: "Hub") -> dict[Topic, int]:
    """Read the versions of all chats with subscribers in one query, and repair the buffers that are behind.

    Return the versions by topic.
    """
    buffers = {
        topic.id: buffer for topic, buffer in hub.buffers.items() if topic.kind == "chat" and not buffer.is_empty
    }
    if not buffers:
        return {}
    try:
        found = await run_in_db_thread(get_versions, list(buffers))
    except Exception:
        logger.exception("The versions of the chats could not be read")
        return {}
    for chat_id, version in found.items():
        buffers[chat_id].repair_up_to(version)
    if repairs := [buffer.repair for buffer in buffers.values() if buffer.repair is not None]:
        await asyncio.wait(repairs, timeout=REPAIR_TIMEOUT)
    return {buffers[chat_id].topic: version for chat_id, version in found.items()}


async def renew_presence(hub: "Hub") -> None:
    """Renew the presence of the people of this process, and pass the people who are present to each buffer."""
    mine: dict[Topic, set[UUID]] = defaultdict(set)
    for socket in hub.sockets:
        for topic in () if socket.sign_in.viewing_id else socket.subscriptions:
            if topic.kind == "chat":
                mine[topic].add(socket.actor.id)
    if not mine:
        return
    for topic, people in (await run_in_db_thread(presence.renew, mine, hub.id)).items():
        if buffer := hub.buffers.get(topic):
            buffer.update_presence(people)


async def check_rights(hub: "Hub", sockets: Collection[Socket] | None = None) -> None:
    """Check the rights of all sockets, or of `sockets` only (those of a person whose rights changed), in a constant number of
    queries. Close sockets whose sign-in is invalid, and end subscriptions that are not allowed any more (SEC5)."""
    checked = list(hub.sockets if sockets is None else sockets)
    if not checked:
        return
    sign_ins = {socket.sign_in for socket in checked}
    pairs = {(socket.actor.id, topic) for socket in checked for topic in socket.subscriptions}
    signed_in, allowed = await run_in_db_thread(lambda: (filter_signed_in(sign_ins), filter_allowed(pairs)))
    for socket in checked:
        if socket.sign_in not in signed_in:
            hub.remove(socket)
            socket.end(SIGNED_OUT)
        else:
            # A topic that was subscribed to during the query is not in `pairs`. Its right was checked then.
            for topic in [topic for topic in socket.subscriptions if (socket.actor.id, topic) in pairs - allowed]:
                hub.unsubscribe(socket, topic)
                socket.send(Access(topic=str(topic), allowed=False).model_dump_json())
