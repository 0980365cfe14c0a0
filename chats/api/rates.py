"""What a message takes from: its author's bucket and its workspace's (D21)."""

import time
from collections import OrderedDict
from threading import Lock
from uuid import UUID

from actors.rates import Bucket

KEPT = 60.0
"""Seconds, after which it is asked anew in which workspace somebody posts."""

MOST = 10_000


class Rooms:
    """Where people have posted lately. A chat's workspace never changes; but only who has just been let in is charged
    to it by the chat's id alone, so that strangers cannot use up a workspace's bucket, and without asking the database.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[UUID, UUID], tuple[UUID, float]] = OrderedDict()
        self._lock = Lock()

    def learn(self, actor_id: UUID, chat_id: UUID, workspace_id: UUID) -> None:
        """They have posted there."""
        with self._lock:
            if (actor_id, chat_id) in self._known:
                return
            self._known[actor_id, chat_id] = (workspace_id, time.monotonic() + KEPT)
            if len(self._known) > MOST:
                self._known.popitem(last=False)

    def workspace(self, actor_id: UUID, chat_id: UUID) -> UUID | None:
        """The workspace of the chat in which they have posted within the last minute."""
        with self._lock:
            workspace_id, until = self._known.get((actor_id, chat_id), (None, 0.0))
            if workspace_id and until < time.monotonic():
                del self._known[actor_id, chat_id]
                return None
        return workspace_id


rooms = Rooms()


def buckets_of_a_post(actor_id: UUID, chat_id: UUID) -> list[Bucket]:
    """What posting takes from, beside the person's requests."""
    workspace_id = rooms.workspace(actor_id, chat_id)
    return [("posts", actor_id), *([("workspace_posts", workspace_id)] if workspace_id else [])]
