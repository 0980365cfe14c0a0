"""The hooks of chats, which call functions of the apps above. `config/hooks.py` lists these functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from actors.models import Actor
from chats.models import Chat, Message, VersionedRow
from common.hooks import CollectingHook, Hook
from common.writing import RowUpdate


class ReadCursor(NamedTuple):
    """The `seq` up to which a person or an agent has read a chat."""

    actor_id: UUID
    chat_id: UUID
    seq: int


@dataclass(frozen=True)
class MessageChange:
    """An edit or the deletion of a message. `message` has its new text already, and the chat is locked.

    `added_mentions`: those whom an edit mentions and the earlier text did not; `wake_ids`: the agents among them that it wakes.
    `stop_runs`: whether a deletion also stops the runs that have begun to answer the message, and that the actor may stop.
    """

    chat: Chat
    message: Message
    actor: Actor
    is_deleted: bool
    added_mentions: tuple[UUID, ...] = ()
    wake_ids: frozenset[UUID] = frozenset()
    stop_runs: bool = False


# Called when a person or an agent posts a text or a file, and for the answer of a run, before it is written.
# Listeners return new rows to write with it, such as the queued runs of the agents that it wakes.
message_posted: CollectingHook[[Chat, Message], VersionedRow] = CollectingHook("message_posted")
# Called when a message was edited or deleted, before that is written. All apps that store something taken from the texts of
# messages listen to it. Listeners return rows and changes of the chat to write in the same transaction.
message_changed: CollectingHook[[MessageChange], VersionedRow | RowUpdate[Any]] = CollectingHook("message_changed")
# Called when rows of a chat were inserted, before the transaction commits. The chat is locked.
rows_inserted: Hook[[UUID, Sequence[VersionedRow]]] = Hook("rows_inserted")
# Called when an actor has added others to a chat, or created it with them.
participants_added: Hook[[Chat, Sequence[Actor], Actor]] = Hook("participants_added")
# Called for a chat without a file or a result of a tool that has texts from outside. Listeners return the ids of their rows that
# brought such texts into an answer in the chat; one is enough.
find_answers_from_outside: CollectingHook[[UUID], UUID] = CollectingHook("find_answers_from_outside")
# Called after read cursors have moved forward, but not for those that runs move.
chats_read: Hook[[Sequence[ReadCursor]]] = Hook("chats_read")
# Called when an actor leaves a chat, before that is written, with the chat, the actor, and the actor who removed them. Listeners
# return changes to write in the same transaction.
actor_left: CollectingHook[[Chat, Actor, Actor], VersionedRow | RowUpdate[Any]] = CollectingHook("actor_left")
