"""Saying something, and having read it."""

import re
from typing import Literal
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Q

from actors.models import Actor, Kind
from chats.models import Chat, ChatActor, Message
from chats.permissions import ChatVerb, get_chat_for
from chats.seams import chat_read, message_posted
from chats.services.changes import changed
from common.clock import now
from common.errors import Invalid, NotFound, TooLarge, id_taken
from common.ids import new_id
from events.bells import ring
from events.payloads import MAX_TEXT, About, Text, checked_payload

MENTION = re.compile(r"(?<![a-zA-Z0-9_@/.-])@([a-zA-Z0-9][a-zA-Z0-9_-]{0,39})")
EVERYBODY = "all"


def post_message_once(
    *, actor: Actor, chat_id: UUID, id: UUID, text: str, reply_to: UUID | None = None,
    wake: Literal["auto", "nobody"] = "auto",
) -> tuple[Message, bool]:  # fmt: skip
    """Say something under an id that the caller made; saying it again changes nothing (A1, S2.4).

    Returns the message, and whether it is new. Opens its own transactions. Raises `NotFound`, `Forbidden`, `TooLarge`,
    `Invalid`, and `Conflict` (`id_taken`) when the id stands for something else.
    """
    try:
        with transaction.atomic():
            chat = get_chat_for(actor, chat_id, ChatVerb.POST)
            return post_message(chat=chat, author=actor, text=text, id=id, reply_to=reply_to, wake=wake), True
    except IntegrityError:
        chat = get_chat_for(actor, chat_id, ChatVerb.POST)
        return _posted_before(chat, actor, id, text, reply_to), False


def _posted_before(chat: Chat, author: Actor, id: UUID, text: str, reply_to: UUID | None) -> Message:
    known = Message.objects.filter(pk=id, chat=chat, author=author, type="TEXT_MESSAGE").first()
    if known is None or known.text != text or known.reply_to_id != reply_to:
        raise id_taken("message")
    return known


def post_message(
    *, chat: Chat, author: Actor, text: str, id: UUID | None = None, reply_to: UUID | None = None,
    wake: Literal["auto", "nobody"] = "auto",
) -> Message:  # fmt: skip
    """Say something in a chat. The caller got `chat` from `get_chat_for`, so it may; it opened the transaction, too."""
    message = Message(
        id=id or new_id(), chat=chat, author=author, type="TEXT_MESSAGE", reply_to=_answered(chat, reply_to),
        payload=_text_payload(chat, text, wake), created_at=now(),
    )  # fmt: skip
    woken = message_posted(chat, message)
    changed(chat.id, rows=[message, *woken])
    return message


def _text_payload(chat: Chat, text: str, wake: Literal["auto", "nobody"]) -> dict[str, object]:
    text = checked_text(text)
    payload = Text(text=text, mentions=mentions_in(chat, text), wake=wake)
    return checked_payload("TEXT_MESSAGE", payload.model_dump())


def checked_text(text: str) -> str:
    """What somebody wants to say, as it can be stored. Raises `Invalid` (nothing is said), `TooLarge`."""
    text = text.replace("\x00", "")  # PostgreSQL stores no NUL
    if not text.strip():
        raise Invalid("The message is empty.")
    if len(text) > MAX_TEXT:
        raise TooLarge(f"A message has at most {MAX_TEXT:,} characters.", hints=["Send it in parts."])
    return text


def _answered(chat: Chat, reply_to: UUID | None) -> Message | None:
    """The message that is answered: of this chat, or it does not exist (D2)."""
    if reply_to is None:
        return None
    message = Message.objects.filter(pk=reply_to, chat=chat).first()
    if message is None:
        raise NotFound("The message you answer is not in this chat.")
    return message


def mentions_in(chat: Chat, text: str) -> list[UUID]:
    """Who of the room is mentioned by handle, in the order of the text, each once.

    `@all`, which is nobody's handle, mentions all people who are in the room now, and no agent.
    """
    handles = list(dict.fromkeys(handle.lower() for handle in MENTION.findall(text)))
    if not handles:
        return []
    meant = Q(actor__handle__in=handles)
    if EVERYBODY in handles:
        meant |= Q(actor__kind=Kind.HUMAN)
    places = ChatActor.objects.filter(meant, chat=chat, ended_at=None).order_by("joined_at", "pk")
    found = list(places.values_list("actor__handle", "actor_id"))
    named = [actor_id for handle in handles for known, actor_id in found if known == handle]
    return list(dict.fromkeys([*named, *(actor_id for _, actor_id in found)]))


def system_line(
    chat_id: UUID, type_: str, *, actor: Actor | None = None, target: Actor | None = None, **facts: object
) -> Message:
    """A line of the log that nobody said, not yet written: pass it to `changed`. Facts are the fields of `About`."""
    about = About(
        actor_id=actor.id if actor else None, actor_name=actor.name if actor else "",
        target_id=target.id if target else None, target_name=target.name if target else "",
        **facts,
    )  # fmt: skip
    payload = checked_payload(type_, about.model_dump())
    return Message(chat_id=chat_id, author=None, type=type_, payload=payload, created_at=now())


def mark_read(*, chat: Chat, actor: Actor, seq: int) -> int:
    """Move somebody's read cursor forward, never back and never past the end; their other tabs are told.

    Returns where it stands now.
    """
    seq = min(seq, chat.version)
    if read_up_to(chat.id, actor.id, seq):
        ring([actor.id], "chats")
        chat_read(chat, actor, seq)
    return ChatActor.objects.values_list("last_read_seq", flat=True).get(chat=chat, actor=actor)


def read_up_to(chat_id: UUID, actor_id: UUID, seq: int) -> bool:
    """Move a read cursor forward; false when it stood there already."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE chats_chatactor SET last_read_seq = %s WHERE chat_id = %s AND actor_id = %s AND last_read_seq < %s",
            [seq, chat_id, actor_id, seq],
        )
        return bool(cursor.rowcount)
