"""What a chat tells the apps above it; who listens, and in which order, is in `config/hooks.py`."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from actors.models import Actor
from chats.models import Chat, Message, VersionedRow
from common.hooks import CollectingHook, Hook
from common.writing import RowUpdate


class ReadCursor(NamedTuple):
    """How far somebody has read a chat."""

    actor_id: UUID
    chat_id: UUID
    seq: int


# A message is about to be written: listeners return new rows to be written with it (the runs of the agents it wakes).
message_posted: CollectingHook[[Chat, Message], VersionedRow] = CollectingHook("message_posted")
# People have read on in chats, each up to a number of the chat's log.
chats_read: Hook[[Sequence[ReadCursor]]] = Hook("chats_read")
# An actor leaves a chat. Arguments: the chat, the actor, who removed them. Listeners return changes to be written with it.
actor_left: CollectingHook[[Chat, Actor, Actor], VersionedRow | RowUpdate[Any]] = CollectingHook("actor_left")
