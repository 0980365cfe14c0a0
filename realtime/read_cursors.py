"""Read cursors that sockets move. They are gathered for `PAUSE` seconds and written together: a chat whose members all read an
answer at the same time costs one transaction."""

import asyncio
from typing import TYPE_CHECKING
from uuid import UUID

from chats import services as chats
from chats.hooks import ReadMark
from realtime.db_executor import run_in_db_thread

if TYPE_CHECKING:
    from realtime.hub import Hub

PAUSE = 0.5
"""Seconds in which what people have read is gathered."""


class ReadCursors:
    """What the people of this process have read since it was last written."""

    def __init__(self, hub: "Hub") -> None:
        self._hub = hub
        self._waiting: dict[tuple[UUID, UUID], int] = {}

    def move(self, actor_id: UUID, chat_id: UUID, seq: int) -> None:
        """Remember that somebody who follows this chat has read it up to `seq`; it is written within `PAUSE` seconds."""
        if not self._waiting:
            self._hub.spawn(self._write())
        key = (actor_id, chat_id)
        self._waiting[key] = max(seq, self._waiting.get(key, 0))

    async def _write(self) -> None:
        await asyncio.sleep(PAUSE)
        waiting, self._waiting = self._waiting, {}
        await run_in_db_thread(chats.mark_many_read, [ReadMark(*key, seq) for key, seq in waiting.items()])
