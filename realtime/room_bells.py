"""Rings for those who are in a chat but do not have it open: something was said there. Their sidebar counts what is
unread; without this it would learn of it only when it is read again."""

import asyncio
from typing import TYPE_CHECKING
from uuid import UUID

from chats.models import ChatActor
from events.frames import Bell
from realtime.sections import section
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
        members = await section(_members, chat_id, [s.actor.id for s in self._elsewhere(workspace, chat_id)])
        bell = Bell(topic=str(workspace), what="chats", chat_id=chat_id).model_dump_json()
        for socket in self._elsewhere(workspace, chat_id):
            if socket.actor.id in members:
                socket.give(bell, passing=True)


def _members(chat_id: UUID, among: list[UUID]) -> set[UUID]:
    places = ChatActor.objects.filter(chat_id=chat_id, actor_id__in=among, ended_at=None, actor__is_active=True)
    return set(places.values_list("actor_id", flat=True))
