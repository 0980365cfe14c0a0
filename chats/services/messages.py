"""Saying something."""

import re
from typing import Literal
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q

from actors.models import Actor, Kind
from chats.hooks import message_posted
from chats.models import Chat, ChatActor, Message
from chats.permissions import ChatVerb, get_chat_for
from chats.services.changes import save_changes
from common.clock import now
from common.errors import Invalid, NotFound, TooLarge, build_id_taken_error
from common.ids import new_id
from events.payloads import MAX_TEXT, SystemMessageType, SystemPayload, TextPayload, dump_payload

MENTION = re.compile(r"(?<![a-zA-Z0-9_@/.-])@([a-zA-Z0-9][a-zA-Z0-9_-]{0,39})")
EVERYBODY = "all"
MAX_LOOKED_UP = 50
"""Handles of a text that the database is asked for by name."""


def post_message(
    actor: Actor,
    chat_id: UUID,
    *,
    text: str,
    id: UUID | None = None,
    reply_to: UUID | None = None,
    wake: Literal["auto", "nobody"] = "auto",
) -> tuple[Message, bool]:
    """Post a message in a chat and start the runs of the agents that it addresses.

    Return the message, and whether it was created: posting the same `id` with the same text again returns the first message.
    Raises `NotFound`, `Forbidden`, `TooLarge`, `Invalid`, and `Conflict` (`id_taken`) when the id belongs to something else.
    """
    id = id or new_id()
    try:
        with transaction.atomic():
            chat = get_chat_for(actor, chat_id, ChatVerb.POST)
            message = Message(
                id=id,
                chat=chat,
                author=actor,
                type="TEXT_MESSAGE",
                reply_to=_answered(chat, reply_to),
                payload=_text_payload(chat, text, wake),
                created_at=now(),
            )
            save_changes(chat.id, [message, *message_posted(chat, message)])
            if message.seq != chat.version + 1:
                # The chat changed before its number was taken, which locks it: the author may have been removed.
                get_chat_for(actor, chat_id, ChatVerb.POST)
            return message, True
    except IntegrityError:
        chat = get_chat_for(actor, chat_id, ChatVerb.POST)
        known = Message.objects.filter(pk=id, chat=chat, author=actor, type="TEXT_MESSAGE").first()
        if known is None or known.text != text or known.reply_to_id != reply_to:
            raise build_id_taken_error("message") from None
        return known, False


def _text_payload(chat: Chat, text: str, wake: Literal["auto", "nobody"]) -> dict[str, object]:
    text = clean_text(text)
    payload = TextPayload(text=text, mentions=find_mentions(chat, text), wake=wake)
    return dump_payload("TEXT_MESSAGE", payload)


def clean_text(text: str) -> str:
    """What somebody wants to say, as it can be stored. Raises `Invalid` (nothing is said), `TooLarge`."""
    text = text.replace("\x00", "")  # PostgreSQL stores no NUL
    if not text.strip():
        raise Invalid("The message is empty.")
    if len(text) > MAX_TEXT:
        raise TooLarge(f"A message has at most {MAX_TEXT:,} characters.", hints=["Send it in parts."])
    return text


def _answered(chat: Chat, reply_to: UUID | None) -> Message | None:
    """The message that is answered: of this chat, or it does not exist (SEC2)."""
    if reply_to is None:
        return None
    message = Message.objects.filter(pk=reply_to, chat=chat).first()
    if message is None:
        raise NotFound("The message you answer is not in this chat.")
    return message


def find_mentions(chat: Chat, text: str) -> list[UUID]:
    """Who of the room is mentioned by handle, in the order of the text, each once; everybody who has that handle.

    An agent and a person may have the same one, and nobody takes another's mentions away by choosing theirs. `@all`, which is
    nobody's handle, mentions all people who are in the room now, and no agent.
    """
    handles = dict.fromkeys(handle.lower() for handle in MENTION.findall(text))
    if not handles:
        return []
    participants = ChatActor.objects.filter(chat=chat, ended_at=None).order_by("joined_at", "pk")
    # A text may hold any number of handles: of very many, those are looked for who are here.
    if len(handles) <= MAX_LOOKED_UP:
        named = Q(actor__handle__in=handles)
        participants = participants.filter(named | Q(actor__kind=Kind.HUMAN) if EVERYBODY in handles else named)
    here = list(participants.values_list("actor__handle", "actor_id", "actor__kind"))
    ids: dict[str, list[UUID]] = {}
    for handle, actor_id, _ in here:
        ids.setdefault(handle, []).append(actor_id)
    mentioned = [actor_id for handle in handles for actor_id in ids.get(handle, ())]
    everybody = [actor_id for _, actor_id, kind in here if kind == Kind.HUMAN] if EVERYBODY in handles else []
    return list(dict.fromkeys([*mentioned, *everybody]))


def build_system_message(
    chat_id: UUID, type_: SystemMessageType, *, actor: Actor | None = None, target: Actor | None = None, **facts: object
) -> Message:
    """A line of the log that nobody said, not yet written: pass it to `save_changes`. Facts are the fields of `SystemPayload`."""
    payload = SystemPayload(
        actor_id=actor.id if actor else None, actor_name=actor.name if actor else "",
        target_id=target.id if target else None, target_name=target.name if target else "",
        **facts,
    )  # fmt: skip
    return Message(chat_id=chat_id, author=None, type=type_, payload=dump_payload(type_, payload), created_at=now())
