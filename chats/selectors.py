"""Reads of chats that join or count."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from actors.models import Actor
from chats.hot_queries import (
    MESSAGE_PREVIEWS,
    MESSAGES_BETWEEN,
    PARTICIPANTS_WITH_ACTIVITY,
    build_unread_annotations,
    get_sizes_after_query,
    get_sizes_before_query,
)
from chats.models import Chat, ChatActor, Message
from chats.permissions import chats_visible_to
from common.errors import NotFound
from events.rows import ActorRow, ChatActivityRow, ChatSummaryRow

MESSAGES_PER_PAGE = 50
PAGE_BYTES = 512 * 1024
"""Payloads of one page of messages, in bytes, beyond the first message."""
END = 2**63 - 1
"""No seq is greater."""


def list_chats_with_activity(actor: Actor, workspace_id: UUID) -> Any:
    """The person's chats in a workspace, for `build_chat_summaries`; `spoken_at` is when something was said there last."""
    return _noted(chats_visible_to(actor).filter(workspace_id=workspace_id), actor)


def get_chat_summary(*, actor: Actor, chat_id: UUID) -> ChatSummaryRow | None:
    """One line of the sidebar; null when `actor` is not in that chat."""
    return next(iter(build_chat_summaries(_noted(chats_visible_to(actor).filter(pk=chat_id), actor))), None)


def _noted(chats: QuerySet[Chat], actor: Actor) -> Any:
    """Each chat with the reader's cursor, what they have not read, and the newest thing said."""
    said = Message.objects.filter(chat=OuterRef("pk"), type="TEXT_MESSAGE")
    read = ChatActor.objects.filter(chat=OuterRef("pk"), actor=actor).values("last_read_seq")[:1]
    return chats.annotate(last_read_seq=Coalesce(Subquery(read), 0)).annotate(
        **build_unread_annotations(said, actor, [str(actor.id)], version="version"),
        spoken_at=Coalesce(Subquery(said.order_by("-seq").values("created_at")[:1]), "created_at"),
    )


def list_activity(participant_ids: Collection[UUID]) -> list[tuple[UUID, ChatActivityRow]]:
    """Return each reader with what is new for them, for these participants of chats. Two queries, however many; none for
    nobody."""
    found: list[Any] = PARTICIPANTS_WITH_ACTIVITY.all(list(participant_ids)) if participant_ids else []
    last = {
        id: message.to_row()
        for id, message in _previews({participant.last_id for participant in found if participant.last_id}).items()
    }
    return [
        (
            participant.actor_id,
            ChatActivityRow(
                chat_id=participant.chat_id, unread=participant.unread, mentioned=participant.mentioned,
                last_read_seq=participant.last_read_seq, last_message=last.get(participant.last_id),
            ),
        )
        for participant in found
    ]  # fmt: skip


def build_chat_summaries(chats: Iterable[Any]) -> list[ChatSummaryRow]:
    """Lines of the sidebar for chats that came from here: three queries more, however many there are."""
    found = list(chats)
    participants = _list_participants(found)
    last = _previews([chat.last_id for chat in found if chat.last_id])
    return [
        ChatSummaryRow(
            chat=chat.to_row(),
            participants=participants.get(chat.pk, []),
            unread=chat.unread,
            mentioned=chat.mentioned,
            last_read_seq=chat.last_read_seq,
            last_message=last[chat.last_id].to_row() if chat.last_id in last else None,
        )  # fmt: skip
        for chat in found
    ]


def _previews(ids: Collection[UUID]) -> dict[UUID, Message]:
    """The messages, each with only the beginning of its text."""
    found: list[Any] = MESSAGE_PREVIEWS.all(list(ids)) if ids else []
    for message in found:
        message.payload = message.preview
    return {message.pk: message for message in found}


def _list_participants(chats: Iterable[Chat]) -> dict[UUID, list[ActorRow]]:
    """Return the participants of each chat, in the order in which they joined.

    An actor may be in many of the chats; their row is read once. Two queries.
    """
    participants = ChatActor.objects.filter(chat__in=[chat.pk for chat in chats], ended_at=None)
    pairs = list(participants.order_by("joined_at", "pk").values_list("chat_id", "actor_id"))
    actors = Actor.objects.in_bulk({actor_id for _, actor_id in pairs})
    rows = {id: actor.to_row() for id, actor in actors.items()}
    rows_by_chat: dict[UUID, list[ActorRow]] = {}
    for chat_id, actor_id in pairs:
        rows_by_chat.setdefault(chat_id, []).append(rows[actor_id])
    return rows_by_chat


@dataclass(frozen=True, slots=True)
class MessagePage:
    """Messages next to each other, oldest first. `before`: the cursor of the older page; `after`: of the newer one. Both are
    null where the log ends."""

    messages: list[Message]
    before: int | None
    after: int | None


def list_messages(
    *,
    chat: Chat,
    before: int | None = None,
    after: int | None = None,
    around: UUID | None = None,
    limit: int = MESSAGES_PER_PAGE,
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
        MESSAGES_BETWEEN.all(chat.pk, seqs[0], seqs[-1]),
        seqs[0] if has_older else None,
        seqs[-1] if has_newer else None,
    )


def _seqs_before(chat: Chat, seq: int, limit: int, max_bytes: int, free: int = 1) -> tuple[list[int], bool]:
    return _fitting(get_sizes_before_query(limit).rows(chat.pk, seq), limit, max_bytes, free)


def _seqs_after(chat: Chat, seq: int, limit: int, max_bytes: int, free: int = 1) -> tuple[list[int], bool]:
    return _fitting(get_sizes_after_query(limit).rows(chat.pk, seq), limit, max_bytes, free)


def _fitting(rows: Sequence[Sequence[int]], limit: int, max_bytes: int, free: int) -> tuple[list[int], bool]:
    """Return the seqs of the first rows `(seq, bytes)` that fit, and whether these are all. The first `free` rows always fit."""
    sums = accumulate(size for _, size in rows[free:limit])
    count = min(limit, free + sum(total <= max_bytes for total in sums))
    return [seq for seq, _ in rows[:count]], len(rows) <= count
