"""Reactions to messages: an emoji of a person or an agent. They wake nobody, and nothing counts as unread because of them."""

from typing import Any
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from chats.emojis import find_emoji
from chats.models import Message
from chats.permissions import ChatVerb, get_chat_for
from chats.services.changes import save_changes
from chats.services.messages import get_message_in
from chats.services.pins import is_pinnable
from common.errors import Code, Invalid, LimitReached
from common.writing import RowUpdate

MAX_REACTIONS = 20
"""The most different emojis at a message."""


@transaction.atomic
def add_reaction(
    actor: Actor, chat_id: UUID, message_id: UUID, emoji: str, *, on_behalf_of: Actor | None = None
) -> Message:
    """React to a text or a file of a chat with an emoji. A second time changes nothing.

    Raises `NotFound`, `Forbidden`, `Invalid` for what is no emoji and for other messages, `LimitReached` (`too_many_reactions`).
    """
    emoji = _check_emoji(emoji)
    message = _lock_message(actor, chat_id, message_id, on_behalf_of)
    reactions: list[dict[str, Any]] = message.reactions or []
    found = next((reaction for reaction in reactions if reaction["emoji"] == emoji), None)
    if found is not None and str(actor.pk) in found["actor_ids"]:
        return message
    if not is_pinnable(message):
        raise Invalid("Only texts and files of the conversation can have reactions, and no deleted ones.")
    if found is not None:
        found["actor_ids"].append(str(actor.pk))
    elif len(reactions) < MAX_REACTIONS:
        reactions.append({"emoji": emoji, "actor_ids": [str(actor.pk)]})
    else:
        raise LimitReached(
            f"A message has at most {MAX_REACTIONS} different reactions.",
            code=Code.TOO_MANY_REACTIONS,
            hints=["Use one that the message has already."],
        )
    save_changes(chat_id, [RowUpdate(message).set(reactions=reactions)])
    return message


@transaction.atomic
def remove_reaction(actor: Actor, chat_id: UUID, message_id: UUID, emoji: str) -> Message:
    """Remove one's own reaction. Without one, nothing changes. Raises `NotFound`, `Forbidden`, `Invalid`."""
    emoji = _check_emoji(emoji)
    message = _lock_message(actor, chat_id, message_id, None)
    reactions: list[dict[str, Any]] = message.reactions or []
    found = next((reaction for reaction in reactions if reaction["emoji"] == emoji), None)
    if found is None or str(actor.pk) not in found["actor_ids"]:
        return message
    found["actor_ids"].remove(str(actor.pk))
    left = [reaction for reaction in reactions if reaction["actor_ids"]]
    save_changes(chat_id, [RowUpdate(message).set(reactions=left or None)])
    return message


def _check_emoji(text: str) -> str:
    emoji = find_emoji(text)
    if emoji is None:
        raise Invalid("A reaction is exactly one emoji.", hints=["Send one emoji, such as 👍, encoded as UTF-8."])
    return emoji


def _lock_message(actor: Actor, chat_id: UUID, message_id: UUID, on_behalf_of: Actor | None) -> Message:
    """Return a message of a chat in which the actor may post. The chat is locked, so that no reaction is lost."""
    chat = get_chat_for(actor, chat_id, ChatVerb.POST, on_behalf_of=on_behalf_of, lock=True)
    return get_message_in(chat, message_id)
