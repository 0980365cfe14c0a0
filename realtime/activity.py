"""Unread counts for members of a chat who do not have it open, when a message is posted in it.

The list of chats shows the counts, and does not have to be read again.
"""

import asyncio
from typing import TYPE_CHECKING
from uuid import UUID

from chats.selectors import list_activity
from events.frames import ChatActivity
from realtime.db_executor import run_in_db_thread
from realtime.hot_queries import PARTICIPANT_IDS
from realtime.socket import Socket
from realtime.topics import Topic

if TYPE_CHECKING:
    from realtime.hub import Hub

PAUSE_BETWEEN_FRAMES_SECONDS = 0.5
"""Seconds in which the messages of one chat lead to one notification."""


class ActivityNotifier:
    """Notifies the sockets of a hub. Every hub of the workspace receives the message, so membership of the chat is checked here,
    once for all sockets."""

    def __init__(self, hub: "Hub") -> None:
        self._hub = hub
        self._pending: set[UUID] = set()

    def notify(self, workspace: Topic, chat_id: UUID) -> None:
        """Notify of a message in a chat of this workspace."""
        if chat_id not in self._pending and self._elsewhere(workspace, chat_id):
            self._pending.add(chat_id)
            self._hub.spawn(self._notify(workspace, chat_id))

    def _elsewhere(self, workspace: Topic, chat_id: UUID) -> list[Socket]:
        """Return the sockets that follow the workspace, but not this chat."""
        chat = Topic("chat", chat_id)
        return [s for s in self._hub.sockets if workspace in s.subscriptions and chat not in s.subscriptions]

    async def _notify(self, workspace: Topic, chat_id: UUID) -> None:
        await asyncio.sleep(PAUSE_BETWEEN_FRAMES_SECONDS)
        self._pending.discard(chat_id)
        readers = [socket.actor.id for socket in self._elsewhere(workspace, chat_id)]
        frames = await run_in_db_thread(_build_frames, str(workspace), chat_id, readers)
        for socket in self._elsewhere(workspace, chat_id):
            if socket.actor.id in frames:
                socket.send(frames[socket.actor.id], transient=True)


def _build_frames(topic: str, chat_id: UUID, readers: list[UUID]) -> dict[UUID, str]:
    """Return a frame for each of these people who is in the chat."""
    participants = [participant_id for (participant_id,) in PARTICIPANT_IDS.rows(chat_id, readers)]
    activity = list_activity(participants)
    return {reader: ChatActivity(topic=topic, **dict(row)).model_dump_json() for reader, row in activity}
