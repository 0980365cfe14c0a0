"""Reads of chats that join or count."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db.models import Exists, F, Func, IntegerField, JSONField, OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, Left

from actors.models import Actor
from chats.models import Chat, ChatActor, Message
from chats.permissions import chats_visible_to
from common.errors import NotFound
from common.prepared_query import PreparedQuery, is_any_of
from events.rows import ActorRow, ChatActivityRow, ChatSummaryRow

PAGE = 50
PAGE_BYTES = 512 * 1024
"""Payloads of one page of messages, in bytes, beyond the first message."""
END = 2**63 - 1
"""No seq is greater."""
PREVIEW = 300
"""Characters of the last message in a summary of its chat."""
MOST_UNREAD = 100
"""Unread lines are counted so far and no further: nobody reads the difference, and a long absence costs no more."""
MOST_SEARCHED = 500
"""How far back in a chat's log a mention is looked for, in numbers of the log."""


class _Counted(Subquery):
    """How many rows a query has, its limit included."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()


def chats_with_reading(actor: Actor, workspace_id: UUID) -> Any:
    """The person's chats in a workspace, for `chat_summaries`; `spoken_at` is when something was said there last."""
    return _noted(chats_visible_to(actor).filter(workspace_id=workspace_id), actor)


def chat_summary(*, actor: Actor, chat_id: UUID) -> ChatSummaryRow | None:
    """One line of the sidebar; null when `actor` is not in that chat."""
    return next(iter(chat_summaries(_noted(chats_visible_to(actor).filter(pk=chat_id), actor))), None)


def _noted(chats: QuerySet[Chat], actor: Actor) -> Any:
    """Each chat with the reader's cursor, what they have not read, and the newest thing said."""
    said = Message.objects.filter(chat=OuterRef("pk"), type="TEXT_MESSAGE")
    read = ChatActor.objects.filter(chat=OuterRef("pk"), actor=actor).values("last_read_seq")[:1]
    return chats.annotate(last_read_seq=Coalesce(Subquery(read), 0)).annotate(
        **_news(said, actor, [str(actor.id)], version="version"),
        spoken_at=Coalesce(Subquery(said.order_by("-seq").values("created_at")[:1]), "created_at"),
    )


def _news(said: QuerySet[Message], reader: Any, reader_as_json: Any, *, version: str) -> dict[str, Any]:
    """Return the annotations `unread`, `mentioned` and `last_id` of rows with a `last_read_seq`, by what was `said` in their
    chat. `version` is the column of the chat's version."""
    new = said.filter(seq__gt=OuterRef("last_read_seq")).exclude(author=reader)
    late = new.filter(seq__gt=OuterRef(version) - MOST_SEARCHED)
    return {
        "unread": _Counted(new.order_by().values("pk")[:MOST_UNREAD]),
        "mentioned": Exists(late.filter(payload__mentions__contains=reader_as_json)),
        "last_id": Subquery(said.order_by("-seq").values("pk")[:1]),
    }


def activity_of(place_ids: Collection[UUID]) -> list[tuple[UUID, ChatActivityRow]]:
    """Return each reader with what is new for them, for these participants of chats. Two queries, however many; none for
    nobody."""
    found: list[Any] = _WITH_ACTIVITY.all(list(place_ids)) if place_ids else []
    last = {id: message.to_row() for id, message in _previews({place.last_id for place in found if place.last_id}).items()}
    return [
        (
            place.actor_id,
            ChatActivityRow(
                chat_id=place.chat_id, unread=place.unread, mentioned=place.mentioned,
                last_read_seq=place.last_read_seq, last_message=last.get(place.last_id),
            ),
        )
        for place in found
    ]  # fmt: skip


def _with_activity(place_ids: list[UUID]) -> QuerySet[ChatActor]:
    said = Message.objects.filter(chat=OuterRef("chat_id"), type="TEXT_MESSAGE")
    reader = Func(Cast(OuterRef("actor_id"), TextField()), function="to_jsonb", output_field=JSONField())
    places = ChatActor.objects.filter(is_any_of("pk", place_ids))
    return places.annotate(**_news(said, OuterRef("actor_id"), reader, version="chat__version"))


_WITH_ACTIVITY = PreparedQuery(_with_activity, list[UUID])


def chat_summaries(chats: Iterable[Any]) -> list[ChatSummaryRow]:
    """Lines of the sidebar for chats that came from here: three queries more, however many there are."""
    found = list(chats)
    members = _members(found)
    last = _previews([chat.last_id for chat in found if chat.last_id])
    return [
        ChatSummaryRow(
            chat=chat.to_row(),
            members=members.get(chat.pk, []),
            unread=chat.unread,
            mentioned=chat.mentioned,
            last_read_seq=chat.last_read_seq,
            last_message=last[chat.last_id].to_row() if chat.last_id in last else None,
        )  # fmt: skip
        for chat in found
    ]


def _previews(ids: Collection[UUID]) -> dict[UUID, Message]:
    """The messages, each with only the beginning of its text."""
    found: list[Any] = _PREVIEWS.all(list(ids)) if ids else []
    for message in found:
        message.payload = message.preview
    return {message.pk: message for message in found}


def _with_previews(ids: list[UUID]) -> QuerySet[Message]:
    beginning = Func(Left(KT("payload__text"), PREVIEW), function="to_jsonb")
    cut = Func(
        F("payload"),
        Value(["text"], ArrayField(TextField())),
        beginning,
        function="jsonb_set",
        output_field=JSONField(),
    )
    return Message.objects.filter(is_any_of("pk", ids)).defer("payload").annotate(preview=cut)


_PREVIEWS = PreparedQuery(_with_previews, list[UUID])


def _members(chats: Iterable[Chat]) -> dict[UUID, list[ActorRow]]:
    """Who is in these chats, in the order they came. Most are in many: each is read once."""
    seated = ChatActor.objects.filter(chat__in=[chat.pk for chat in chats], ended_at=None).order_by("joined_at", "pk")
    places = list(seated.values_list("chat_id", "actor_id"))
    rows = {id: actor.to_row() for id, actor in Actor.objects.in_bulk({actor_id for _, actor_id in places}).items()}
    members: dict[UUID, list[ActorRow]] = {}
    for chat_id, actor_id in places:
        members.setdefault(chat_id, []).append(rows[actor_id])
    return members


@dataclass(frozen=True, slots=True)
class MessagePage:
    """Messages next to each other, oldest first. `before`: the cursor of the older page; `after`: of the newer one. Both are
    null where the log ends."""

    messages: list[Message]
    before: int | None
    after: int | None


def list_messages(
    *, chat: Chat, before: int | None = None, after: int | None = None, around: UUID | None = None, limit: int = PAGE
) -> MessagePage:
    """Return a page of the chat's log that holds at most `limit` messages and `PAGE_BYTES` beyond the first one.

    The page ends before the seq `before`, begins after the seq `after`, or has the message `around` in its middle; without
    any of them it is the newest page. Raises `NotFound` when the chat has no such message.
    """
    if around is not None:
        return _list_messages_around(chat, around, limit)
    if after is not None:
        newer, is_last = _seqs_after(chat, after, limit, PAGE_BYTES)
        return _build_page(chat, newer, has_older=True, has_newer=not is_last)
    older, is_first = _seqs_before(chat, END if before is None else before, limit, PAGE_BYTES)
    return _build_page(chat, older[::-1], has_older=not is_first, has_newer=before is not None)


def _list_messages_around(chat: Chat, message_id: UUID, limit: int) -> MessagePage:
    seq = Message.objects.filter(chat=chat, pk=message_id).values_list("seq", flat=True).first()
    if seq is None:
        raise NotFound("There is no such message in this chat.")
    newer, is_last = _seqs_after(chat, seq, (limit - 1) // 2, PAGE_BYTES // 2, free=0)
    older, is_first = _seqs_before(chat, seq, limit - 1 - len(newer), PAGE_BYTES // 2, free=0)
    return _build_page(chat, [*older[::-1], seq, *newer], has_older=not is_first, has_newer=not is_last)


def _build_page(chat: Chat, seqs: list[int], *, has_older: bool, has_newer: bool) -> MessagePage:
    if not seqs:
        return MessagePage([], None, None)
    return MessagePage(
        _BETWEEN.all(chat.pk, seqs[0], seqs[-1]), seqs[0] if has_older else None, seqs[-1] if has_newer else None
    )


def _seqs_before(chat: Chat, seq: int, limit: int, max_bytes: int, free: int = 1) -> tuple[list[int], bool]:
    return _fitting(_sizes_before(limit).rows(chat.pk, seq), limit, max_bytes, free)


def _seqs_after(chat: Chat, seq: int, limit: int, max_bytes: int, free: int = 1) -> tuple[list[int], bool]:
    return _fitting(_sizes_after(limit).rows(chat.pk, seq), limit, max_bytes, free)


def _fitting(rows: Sequence[Sequence[int]], limit: int, max_bytes: int, free: int) -> tuple[list[int], bool]:
    """Return the seqs of the first rows `(seq, bytes)` that fit, and whether these are all. The first `free` rows always fit."""
    sums = accumulate(size for _, size in rows[free:limit])
    count = min(limit, free + sum(total <= max_bytes for total in sums))
    return [seq for seq, _ in rows[:count]], len(rows) <= count


_BETWEEN: PreparedQuery[Message] = PreparedQuery(
    lambda chat_id, first, last: Message.objects.filter(chat=chat_id, seq__gte=first, seq__lte=last).order_by("seq"),
    UUID, int, int,
)  # fmt: skip


@cache
def _sizes_before(limit: int) -> PreparedQuery[Message]:
    return PreparedQuery(
        lambda chat_id, seq: Message.objects.filter(chat=chat_id, seq__lt=seq)
        .order_by("-seq").values_list("seq", "payload_bytes")[: limit + 1],
        UUID, int,
    )  # fmt: skip


@cache
def _sizes_after(limit: int) -> PreparedQuery[Message]:
    return PreparedQuery(
        lambda chat_id, seq: Message.objects.filter(chat=chat_id, seq__gt=seq)
        .order_by("seq").values_list("seq", "payload_bytes")[: limit + 1],
        UUID, int,
    )  # fmt: skip
