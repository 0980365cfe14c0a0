"""Editing and deleting messages. The earlier texts of a message are kept (`MessageRevision`), and no later message is removed."""

from collections.abc import Set as AbstractSet
from datetime import datetime
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from chats.hooks import MessageChange, message_changed
from chats.models import SPOKEN_TYPES, Message, MessageRevision
from chats.permissions import ChatVerb, get_chat_for, get_message_for
from chats.services.changes import save_changes
from chats.services.messages import clean_text, find_mentions
from chats.services.pins import add_unpinning
from common.clock import now
from common.errors import Conflict, Forbidden, Invalid, LimitReached
from common.writing import RowUpdate, insert
from events import audit
from events.payloads import FilePayload, TextPayload, dump_payload
from llm.tokens import estimate_tokens

MAX_REVISIONS = 100
"""The most earlier texts of a message."""


@transaction.atomic
def edit_message(
    actor: Actor, message_id: UUID, *, text: str, edited_at: datetime | None, wake_ids: AbstractSet[UUID] = frozenset()
) -> Message:
    """Replace the text of one of the actor's own messages, and keep the earlier text. A message that has this text already
    stays as it is.

    `edited_at`: that of the message when the actor read it. `wake_ids`: the agents to wake, of those whom the new text mentions
    and the earlier one did not. Raises `NotFound`, `Forbidden`, `TooLarge`, `Invalid`, `LimitReached`, and `Conflict`
    (`stale_revision`) if the message was edited or deleted since.
    """
    message = _lock_message(actor, message_id)
    chat = message.chat
    if actor.is_agent or message.author_id != actor.pk:
        raise Forbidden("You may edit your own messages only.")
    if message.type != "TEXT_MESSAGE":
        raise Invalid("Only texts can be edited.")
    text = clean_text(text)
    if message.deleted_at is not None:
        raise Conflict("The message was deleted.", hints=["Post a new message."])
    if text == message.text:
        return message
    if edited_at != message.edited_at:
        raise Conflict("The message was edited meanwhile.", hints=["Read it again, and edit its present text."])
    if message.revisions.count() >= MAX_REVISIONS:
        raise LimitReached(f"A message is edited at most {MAX_REVISIONS} times.", hints=["Post a new message."])
    mentions = find_mentions(chat, text)
    added = tuple(id for id in mentions if str(id) not in message.payload.get("mentions", ()))
    if not wake_ids <= set(added):
        raise Invalid("An edit wakes only agents that the earlier text did not mention.")

    revision = _build_revision(message, actor)
    payload = TextPayload.model_validate(message.payload | {"text": text, "mentions": mentions})
    update = RowUpdate(message).set(
        payload=dump_payload("TEXT_MESSAGE", payload), tokens=estimate_tokens(text), edited_at=revision.replaced_at
    )
    change = MessageChange(chat, message, actor, is_deleted=False, added_mentions=added, wake_ids=frozenset(wake_ids))
    insert([revision])
    save_changes(chat.id, [update, *message_changed.call(change)], changes_activity=True)
    audit.record(actor, "message.edited", workspace_id=chat.workspace_id, object_id=message.id, chat=str(chat.id))
    return message


@transaction.atomic
def delete_message(actor: Actor, message_id: UUID, *, stop_runs: bool = False) -> Message:
    """Delete a text or a file for everybody: one of the actor's own, or any if the actor is an editor. Its row stays in the
    log, without its content. A message that is deleted already stays as it is.

    A queued run that would answer it ends, unless another message addresses its agent. `stop_runs`: runs that have begun to answer
    it are stopped, too, if the actor may stop them. Raises `NotFound`, `Forbidden`, `Invalid`.
    """
    message = _lock_message(actor, message_id)
    chat = message.chat
    is_compared = (message.payload.get("stamp") or {}).get("compared") is not None
    if message.type not in SPOKEN_TYPES or message.metadata is not None or is_compared:
        raise Invalid("Only texts and files of the conversation can be deleted.")
    if message.deleted_at is not None:
        return message

    revision = _build_revision(message, actor)
    update = RowUpdate(message).set(deleted_at=revision.replaced_at, reactions=None)
    if message.type == "TEXT_MESSAGE":
        insert([revision])
        emptied = {"text": "", "mentions": [], "is_deleted": True, "deleted_by": actor.pk}
        payload = TextPayload.model_validate(message.payload | emptied)
        update.set(payload=dump_payload("TEXT_MESSAGE", payload), tokens=0)
    else:
        emptied = {"is_deleted": True, "deleted_by": actor.pk, "has_thumbnail": False}
        update.set(payload=dump_payload("FILE_MESSAGE", FilePayload.model_validate(message.payload | emptied)))
    change = MessageChange(chat, message, actor, is_deleted=True, stop_runs=stop_runs)
    save_changes(chat.id, [*add_unpinning(update), *message_changed.call(change)], changes_activity=True)
    audit.record(actor, "message.deleted", workspace_id=chat.workspace_id, object_id=message.id, chat=str(chat.id))
    return message


def _lock_message(actor: Actor, message_id: UUID) -> Message:
    """Return the message with its locked chat, if it is the actor's own, or the actor may delete any message."""
    message = get_message_for(actor, message_id)
    is_own = message.author_id == actor.pk and actor.is_human
    verb = ChatVerb.POST if is_own else ChatVerb.DELETE_ANY_MESSAGE
    chat = get_chat_for(actor, message.chat_id, verb, lock=True)
    # Another transaction may have changed it before the chat was locked.
    message.refresh_from_db()
    message.chat = chat
    return message


def _build_revision(message: Message, actor: Actor) -> MessageRevision:
    written_at = message.edited_at or message.created_at
    return MessageRevision(
        message=message, text=message.text, written_at=written_at, replaced_at=now(), replaced_by=actor
    )
