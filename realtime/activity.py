"""Sending unread counts to participants who do not have a chat open, after a message was posted in it.

Clients show the counts in the list of chats without reading the list again.
"""

import asyncio
from typing import TYPE_CHECKING
from uuid import UUID

from chats.selectors import list_activity
from events.frames import ChatActivity
from realtime.db_executor import run_in_db_thread
from realtime.prepared_queries import PARTICIPANT_IDS
from realtime.socket import Socket
from realtime.topics import Topic

if TYPE_CHECKING:
    from realtime.hub import Hub

PAUSE_BETWEEN_FRAMES_SECONDS = 0.5
"""Seconds in which all messages of a chat lead to one frame for each participant."""


class ActivityNotifier:
    """Sends unread counts to the sockets of a hub.

    When a message is posted in a chat, each hub with sockets on the workspace is notified. It checks, in one query for all of its
    sockets, which people are in the chat.
    """

    def __init__(self, hub: "Hub") -> None:
        self._hub = hub
        self._pending: set[UUID] = set()

    def notify(self, workspace: Topic, chat_id: UUID) -> None:
        """Send the unread counts of a chat after `PAUSE_BETWEEN_FRAMES_SECONDS`, once for all messages in it until then."""
        if chat_id not in self._pending and self._list_sockets_outside_chat(workspace, chat_id):
            self._pending.add(chat_id)
            self._hub.spawn(self._send_counts(workspace, chat_id))

    def _list_sockets_outside_chat(self, workspace: Topic, chat_id: UUID) -> list[Socket]:
        """Return the sockets that are subscribed to the workspace, but not to this chat."""
        chat = Topic("chat", chat_id)
        return [s for s in self._hub.sockets if workspace in s.subscriptions and chat not in s.subscriptions]

    async def _send_counts(self, workspace: Topic, chat_id: UUID) -> None:
        await asyncio.sleep(PAUSE_BETWEEN_FRAMES_SECONDS)
        self._pending.discard(chat_id)
        readers = [socket.actor.id for socket in self._list_sockets_outside_chat(workspace, chat_id)]
        frames = await run_in_db_thread(_build_frames, str(workspace), chat_id, readers)
        for socket in self._list_sockets_outside_chat(workspace, chat_id):
            if socket.actor.id in frames:
                socket.send(frames[socket.actor.id], transient=True)


def _build_frames(topic: str, chat_id: UUID, readers: list[UUID]) -> dict[UUID, str]:
    """Return a frame for each of these people who is in the chat, by actor id."""
    participants = [participant_id for (participant_id,) in PARTICIPANT_IDS.rows(chat_id, readers)]
    activity = list_activity(participants)
    return {reader: ChatActivity(topic=topic, **dict(row)).model_dump_json() for reader, row in activity}
