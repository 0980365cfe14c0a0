"""Rings for those who are in a chat but do not have it open: something was said there. Their sidebar counts what is
unread; this tells each of them how much that is, so that nobody reads the list again."""

import asyncio
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import QuerySet

from chats.models import ChatActor
from chats.selectors import activity_of
from common.prepared_query import PreparedQuery, is_any_of
from events.frames import ChatActivity
from realtime.db_executor import run_in_db_thread
from realtime.socket import Socket
from realtime.topics import Topic

if TYPE_CHECKING:
    from realtime.hub import Hub

PAUSE = 0.5
"""Seconds in which what is said in one chat rings once."""


class RoomBells:
    """One message a chat reaches every hub on its workspace's doorbell; who may hear of it is asked here, once for all
    sockets: nobody learns of a chat that they are not in."""

    def __init__(self, hub: "Hub") -> None:
        self._hub = hub
        self._ringing: set[UUID] = set()

    def said(self, workspace: Topic, chat_id: UUID) -> None:
        """Something was said in a chat of this workspace."""
        if chat_id not in self._ringing and self._elsewhere(workspace, chat_id):
            self._ringing.add(chat_id)
            self._hub.spawn(self._ring(workspace, chat_id))

    def _elsewhere(self, workspace: Topic, chat_id: UUID) -> list[Socket]:
        """The sockets that look at the workspace, but not at this chat."""
        chat = Topic("chat", chat_id)
        return [s for s in self._hub.sockets if workspace in s.subscriptions and chat not in s.subscriptions]

    async def _ring(self, workspace: Topic, chat_id: UUID) -> None:
        await asyncio.sleep(PAUSE)
        self._ringing.discard(chat_id)
        readers = [socket.actor.id for socket in self._elsewhere(workspace, chat_id)]
        frames = await run_in_db_thread(_activity, str(workspace), chat_id, readers)
        for socket in self._elsewhere(workspace, chat_id):
            if socket.actor.id in frames:
                socket.give(frames[socket.actor.id], passing=True)


def _activity(topic: str, chat_id: UUID, among: list[UUID]) -> dict[UUID, str]:
    """For those of these people who are in the chat: what is new for them, as a frame."""
    participants = [participant_id for (participant_id,) in _PARTICIPANTS.rows(chat_id, among)]
    return {
        reader: ChatActivity(topic=topic, **dict(row)).model_dump_json() for reader, row in activity_of(participants)
    }


def _list_participants(chat_id: UUID, among: list[UUID]) -> QuerySet[ChatActor, tuple[UUID]]:
    there = ChatActor.objects.filter(
        is_any_of("actor_id", among), chat_id=chat_id, ended_at=None, actor__is_active=True
    )
    return there.values_list("pk")


_PARTICIPANTS = PreparedQuery(_list_participants, UUID, list[UUID])
