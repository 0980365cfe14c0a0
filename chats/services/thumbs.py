"""Thumbs: whether people find an answer of an agent good or bad, and what was wrong with it. They wake nobody."""

from uuid import UUID

from django.db import transaction

from actors.models import Actor
from chats.models import MAX_THUMB_TEXT, Chat, Message, Thumb
from chats.permissions import ChatVerb, get_chat_for
from chats.services.changes import save_changes
from chats.services.messages import get_message_in
from chats.services.pins import is_pinnable
from common.clock import now
from common.errors import Forbidden, Invalid
from common.writing import RowUpdate
from events.rows import ThumbReason, ThumbValue


@transaction.atomic
def give_thumb(
    actor: Actor,
    chat_id: UUID,
    message_id: UUID,
    *,
    value: ThumbValue,
    reason: ThumbReason | None = None,
    text: str = "",
) -> Message:
    """Say that an answer of an agent is good or bad, and why. It replaces the earlier thumb of the person on this answer.

    Raises `NotFound`, `Forbidden` for agents, and `Invalid` for a message that is no answer of an agent, for a reason of a good
    answer, and for a text that is too long.
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.POST, lock=True)
    message = _get_message(actor, chat, message_id)
    text = text.replace("\x00", "").strip()
    if message.author is None or not is_answer(message):
        raise Invalid("Only an answer of an agent can be called good or bad.")
    if reason is not None and value == ThumbValue.UP:
        raise Invalid("Only a bad answer has a reason.")
    if len(text) > MAX_THUMB_TEXT:
        raise Invalid(f"The text of a thumb has at most {MAX_THUMB_TEXT} characters.")
    stamp = message.payload.get("stamp") or {}
    Thumb.objects.update_or_create(
        message=message,
        person=actor,
        defaults={
            "chat": chat,
            "agent": message.author,
            "value": value,
            "reason": reason or "",
            "text": text,
            "spec_id": stamp.get("spec_id"),
            "agent_version": stamp.get("version"),
            "draft_apply": stamp.get("draft_apply"),
            "created_at": now(),
        },
    )
    _publish_thumbs(message)
    return message


@transaction.atomic
def take_back_thumb(actor: Actor, chat_id: UUID, message_id: UUID) -> Message:
    """Delete the thumb of a person on an answer, with its text. Without a thumb, nothing changes.

    Raises `NotFound`, `Forbidden`.
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.POST, lock=True)
    message = _get_message(actor, chat, message_id)
    if Thumb.objects.filter(message=message, person=actor).delete()[0]:
        _publish_thumbs(message)
    return message


def is_answer(message: Message) -> bool:
    """Return whether a message is an answer of an agent in the conversation: no greeting, nothing that was deleted, and no answer
    of a sub-agent or in a comparison. The author must be loaded."""
    is_text = message.type == "TEXT_MESSAGE" and not message.payload.get("greeting", False)
    return is_text and is_pinnable(message) and message.author is not None and message.author.is_agent


def _get_message(actor: Actor, chat: Chat, message_id: UUID) -> Message:
    if actor.is_agent:
        raise Forbidden("Only people give thumbs.")
    return get_message_in(chat, message_id)


def _publish_thumbs(message: Message) -> None:
    """Copy the thumbs on a message to its row, and publish the row, if they have changed there. The chat is locked."""
    people: dict[str, list[str]] = {value: [] for value in ThumbValue.values}
    rows = Thumb.objects.filter(message=message).order_by("pk")
    for value, person_id in rows.values_list("value", "person_id"):
        people[value].append(str(person_id))
    thumbs = people if any(people.values()) else None
    if thumbs != message.thumbs:
        save_changes(message.chat_id, [RowUpdate(message).set(thumbs=thumbs)])
