"""Posting messages, and building the system messages of the log."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q

from actors.models import Actor, Kind
from chats.hooks import message_posted
from chats.mentions import list_mentions
from chats.models import Chat, Message
from chats.permissions import ChatVerb, get_chat_for
from chats.prepared_queries import MENTIONED, MENTIONED_AND_PEOPLE, query_mentioned
from chats.services.changes import save_changes
from common.clock import now
from common.errors import Invalid, NotFound, TooLarge, build_duplicate_id_error
from common.ids import new_id
from common.writing import WriteBatch
from events.payloads import MAX_TEXT, MessageWake, SystemMessageType, SystemPayload, TextPayload, dump_payload

ALL_PEOPLE = "all"
"""The handle that mentions all people of a chat. No actor can have it."""
MAX_HANDLES_IN_QUERY = 50
"""With more handles in a text, all participants are read instead of those with these handles."""


def post_message(
    actor: Actor,
    chat_id: UUID,
    *,
    text: str,
    id: UUID | None = None,
    reply_to: UUID | None = None,
    wake: MessageWake = "auto",
    sent_by_run_id: UUID | None = None,
) -> tuple[Message, bool]:
    """Post a message in a chat and start the runs of the agents that it addresses. `sent_by_run_id`: the run of another chat in
    which an agent sends it by a tool.

    Return the message, and whether it was created: posting the same `id`, text and `reply_to` again returns the first message, also
    if it was edited or deleted since.
    Raises `NotFound`, `Forbidden`, `TooLarge`, `Invalid`, and `Conflict` (`id_taken`) when the id belongs to something else.
    """
    id = id or new_id()
    try:
        with transaction.atomic():
            chat = get_chat_for(actor, chat_id, ChatVerb.POST)
            replied_message = get_replied_message(chat, reply_to)
            text_to_store = clean_text(text)
            payload = TextPayload(
                text=text_to_store,
                mentions=find_mentions(chat, text_to_store),
                wake=wake,
                sent_by_run_id=sent_by_run_id,
            )
            message = Message(
                id=id,
                chat=chat,
                author=actor,
                type="TEXT_MESSAGE",
                reply_to=replied_message,
                payload=dump_payload("TEXT_MESSAGE", payload),
                created_at=now(),
            )
            save_changes(chat.id, [message, *message_posted.call(chat, message)], batch=WriteBatch())
            if message.seq != chat.version + 1:
                # The chat changed after the rights were read and before `save_changes` locked it: the author may have been removed.
                get_chat_for(actor, chat_id, ChatVerb.POST)
            return message, True
    except IntegrityError:
        chat = get_chat_for(actor, chat_id, ChatVerb.POST)
        stored = Message.objects.filter(pk=id, chat=chat, author=actor, type="TEXT_MESSAGE").first()
        if stored is None or _get_first_text(stored) != clean_text(text) or stored.reply_to_id != reply_to:
            raise build_duplicate_id_error("message") from None
        return stored, False


def _get_first_text(message: Message) -> str:
    """Return the text with which a message was posted: it may have been edited or deleted since."""
    texts = message.revisions.order_by("replaced_at", "pk").values_list("text", flat=True)
    first = texts.first()
    return message.text if first is None else first


def clean_text(text: str) -> str:
    """Return the text of a message as it can be stored. Raises `Invalid` for a blank text, and `TooLarge`."""
    text = text.replace("\x00", "")  # PostgreSQL stores no NUL
    if not text.strip():
        raise Invalid("The message is empty.")
    if len(text) > MAX_TEXT:
        raise TooLarge(f"A message has at most {MAX_TEXT:,} characters.", hints=["Send it in parts."])
    return text


def get_replied_message(chat: Chat, reply_to: UUID | None) -> Message | None:
    """Return the message that is replied to. Raises `NotFound` if the chat has no such message (SEC2)."""
    if reply_to is None:
        return None
    message = Message.objects.filter(pk=reply_to, chat=chat).first()
    if message is None:
        raise NotFound("The message you answer is not in this chat.")
    return message


def find_mentions(chat: Chat, text: str) -> list[UUID]:
    """Return the ids of the participants whose handles the text mentions, in the order of the text and each once.

    An agent and a person may have the same handle; both are mentioned then. `@all` mentions all people who are in the chat
    now, and no agent.
    """
    handles = dict.fromkeys(mention.handle for mention in list_mentions(text))
    if not handles:
        return []
    mentions_all = ALL_PEOPLE in handles
    if len(handles) > MAX_HANDLES_IN_QUERY:
        mentioned: Iterable[Any] = query_mentioned(chat.id, Q())
    else:
        mentioned = (MENTIONED_AND_PEOPLE if mentions_all else MENTIONED).rows(chat.id, list(handles))
    ids_by_handle: dict[str, list[UUID]] = {}
    people: list[UUID] = []
    for handle, actor_id, kind in mentioned:
        ids_by_handle.setdefault(handle, []).append(actor_id)
        if kind == Kind.HUMAN:
            people.append(actor_id)
    ids = [actor_id for handle in handles for actor_id in ids_by_handle.get(handle, ())]
    if mentions_all:
        ids += people
    return list(dict.fromkeys(ids))


def build_system_message(
    chat_id: UUID, type_: SystemMessageType, *, actor: Actor | None = None, target: Actor | None = None, **facts: object
) -> Message:
    """Return an unsaved message without an author, for `save_changes`. `facts` are further fields of `SystemPayload`."""
    payload = SystemPayload(
        actor_id=actor.id if actor else None,
        actor_name=actor.name if actor else "",
        target_id=target.id if target else None,
        target_name=target.name if target else "",
        **facts,
    )
    return Message(chat_id=chat_id, author=None, type=type_, payload=dump_payload(type_, payload), created_at=now())


def get_message_in(chat: Chat, message_id: UUID) -> Message:
    """Return a message of this chat, with its author. Raises `NotFound`."""
    message = Message.objects.filter(pk=message_id, chat=chat).select_related("author").first()
    if message is None:
        raise NotFound("There is no such message in this chat.")
    message.chat = chat
    return message
