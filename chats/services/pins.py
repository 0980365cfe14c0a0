"""Pinning messages. The pinned messages of a chat are listed above its log, and models read them of a long chat."""

from uuid import UUID

from django.db import transaction

from actors.models import Actor
from chats.models import PINNABLE_TYPES, Message
from chats.permissions import ChatVerb, get_chat_for
from chats.services.changes import RowChange, save_changes
from chats.services.messages import build_system_message, get_message_in
from common.clock import now
from common.errors import Code, Invalid, LimitReached
from common.writing import RowUpdate
from events import audit

MAX_PINS = 50
"""The most pinned messages of a chat. They fit into one page of the list, and into what a model reads of a long chat."""


@transaction.atomic
def pin_message(actor: Actor, chat_id: UUID, message_id: UUID) -> Message:
    """Pin a text or a file of a chat, and say so in its log. A message that is pinned already stays as it is.

    Raises `NotFound`, `Forbidden`, `Invalid` for a message that cannot be pinned, `LimitReached` (`too_many_pins`).
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.POST, lock=True)
    message = get_message_in(chat, message_id)
    if message.pinned_at is not None:
        return message
    if not is_pinnable(message):
        raise Invalid("Only texts and files of the conversation can be pinned, and no deleted ones.")
    if chat.pin_count >= MAX_PINS:
        raise LimitReached(
            f"A chat has at most {MAX_PINS} pinned messages.",
            code=Code.TOO_MANY_PINS,
            hints=["Unpin a message that is no longer needed."],
        )
    system_message = build_system_message(chat.id, "MESSAGE_PINNED", actor=actor, message_id=message.id)
    pin = RowUpdate(message).set(pinned_at=now(), pinned_by=actor)
    save_changes(chat.id, [pin, RowUpdate(chat).set(pin_count=chat.pin_count + 1), system_message])
    audit.record(actor, "message.pinned", workspace_id=chat.workspace_id, object_id=message.id, chat=str(chat.id))
    return message


@transaction.atomic
def unpin_message(actor: Actor, chat_id: UUID, message_id: UUID) -> Message:
    """Unpin a message. One that is not pinned stays as it is. Raises `NotFound`, `Forbidden`."""
    chat = get_chat_for(actor, chat_id, ChatVerb.POST, lock=True)
    message = get_message_in(chat, message_id)
    if message.pinned_at is None:
        return message
    save_changes(chat.id, add_unpinning(RowUpdate(message)))
    audit.record(actor, "message.unpinned", workspace_id=chat.workspace_id, object_id=message.id, chat=str(chat.id))
    return message


def is_pinnable(message: Message) -> bool:
    """Return whether a message can be pinned: a text or a file of the conversation that is not deleted.

    What sub-agents write and the answers of a comparison are no part of the conversation.
    """
    is_compared = (message.payload.get("stamp") or {}).get("compared") is not None
    is_left_out = message.metadata is not None or is_compared or message.payload.get("is_deleted", False)
    return message.type in PINNABLE_TYPES and not is_left_out


def add_unpinning(update: RowUpdate[Message]) -> list[RowChange]:
    """Add to the update of a message that it is not pinned any more, as when it is deleted. The caller has locked the chat.

    Return the changes for `save_changes`: this update and, if the message was pinned, that of its chat.
    """
    message = update.row
    if message.pinned_at is None:
        return [update]
    chat = message.chat
    return [update.set(pinned_at=None, pinned_by=None), RowUpdate(chat).set(pin_count=chat.pin_count - 1)]
