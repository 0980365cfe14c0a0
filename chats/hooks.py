"""What a chat tells the apps above it; who listens, and in which order, is in `config/hooks.py`."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from actors.models import Actor
from chats.models import Chat, InChat, Message
from common.hooks import CollectingHook, Hook


class ReadMark(NamedTuple):
    """How far somebody has read a chat."""

    actor_id: UUID
    chat_id: UUID
    seq: int


# A message is about to be written: listeners return rows to be written with it (the runs of the agents it wakes).
message_posted: CollectingHook[[Chat, Message], InChat] = CollectingHook("message_posted")
# People have read on in chats, each up to a number of the chat's log.
chats_read: Hook[[Sequence[ReadMark]]] = Hook("chats_read")
# Somebody leaves a chat, by whose doing: listeners return rows that change with it (their drafts' holds, an agent's runs).
actor_left: CollectingHook[[Chat, Actor, Actor], InChat] = CollectingHook("actor_left")
