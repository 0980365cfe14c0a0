"""Gathering read cursors from sockets, and writing them together: many people read a message at the same time."""

import asyncio
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import Error

from chats import services as chats
from chats.hooks import ReadCursor
from common.database import is_database_unavailable
from realtime.db_executor import run_in_db_thread

if TYPE_CHECKING:
    from realtime.hub import Hub

WRITE_DELAY_SECONDS = 0.5
"""Seconds between the first gathered cursor and the write."""


class ReadCursors:
    """The read cursors from sockets of this process that are not written yet."""

    def __init__(self, hub: "Hub") -> None:
        self._hub = hub
        self._waiting: dict[tuple[UUID, UUID], int] = {}

    def move(self, actor_id: UUID, chat_id: UUID, seq: int) -> None:
        """Move the cursor of a person in a chat to `seq`. It is written after `WRITE_DELAY_SECONDS`."""
        if not self._waiting:
            self._hub.spawn(self._write())
        key = (actor_id, chat_id)
        self._waiting[key] = max(seq, self._waiting.get(key, 0))

    async def _write(self) -> None:
        await asyncio.sleep(WRITE_DELAY_SECONDS)
        waiting, self._waiting = self._waiting, {}
        try:
            await run_in_db_thread(chats.advance_read_cursors, [ReadCursor(*key, seq) for key, seq in waiting.items()])
        except Error as error:
            if is_database_unavailable(error):
                # No client repeats them, because the frame `mark_read` has no answer.
                for key, seq in waiting.items():
                    self.move(*key, seq)
            raise
