"""Reads of chats that join or count."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Exists, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from actors.models import Actor
from chats.models import Chat, ChatActor, Message
from chats.permissions import chats_visible_to
from events.rows import ActorRow, ChatSummaryRow

PAGE = 50
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
    chats = chats.annotate(last_read_seq=Coalesce(Subquery(read), 0))
    new = said.filter(seq__gt=OuterRef("last_read_seq")).exclude(author=actor)
    late = new.filter(seq__gt=OuterRef("version") - MOST_SEARCHED)
    newest = said.order_by("-seq")
    return chats.annotate(
        unread=_Counted(new.order_by().values("pk")[:MOST_UNREAD]),
        mentioned=Exists(late.filter(payload__mentions__contains=[str(actor.id)])),
        last_id=Subquery(newest.values("pk")[:1]),
        spoken_at=Coalesce(Subquery(newest.values("created_at")[:1]), "created_at"),
    )


def chat_summaries(chats: Iterable[Any]) -> list[ChatSummaryRow]:
    """Lines of the sidebar for chats that came from here: three queries more, however many there are."""
    found = list(chats)
    members = _members(found)
    last = Message.objects.in_bulk([chat.last_id for chat in found if chat.last_id])
    return [
        ChatSummaryRow(
            chat=chat.row(),
            members=members.get(chat.pk, []),
            unread=chat.unread,
            mentioned=chat.mentioned,
            last_read_seq=chat.last_read_seq,
            last_message=last[chat.last_id].row() if chat.last_id in last else None,
        )  # fmt: skip
        for chat in found
    ]


def _members(chats: Iterable[Chat]) -> dict[UUID, list[ActorRow]]:
    """Who is in these chats, in the order they came. Most are in many: each is read once."""
    seated = ChatActor.objects.filter(chat__in=[chat.pk for chat in chats], ended_at=None).order_by("joined_at", "pk")
    places = list(seated.values_list("chat_id", "actor_id"))
    rows = {id: actor.row() for id, actor in Actor.objects.in_bulk({actor_id for _, actor_id in places}).items()}
    members: dict[UUID, list[ActorRow]] = {}
    for chat_id, actor_id in places:
        members.setdefault(chat_id, []).append(rows[actor_id])
    return members


def messages_before(*, chat: Chat, before: int | None, limit: int = PAGE) -> tuple[list[Message], int | None]:
    """A page of the log, oldest first, that ends before `before` (null: at the end); and the cursor of the older page."""
    rows = Message.objects.filter(chat=chat)
    if before is not None:
        rows = rows.filter(seq__lt=before)
    newest_first = list(rows.order_by("-seq")[: limit + 1])
    page = newest_first[:limit][::-1]
    return page, page[0].seq if len(newest_first) > limit else None
