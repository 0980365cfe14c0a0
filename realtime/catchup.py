"""What somebody needs who comes to a chat, or comes back: one read, the same for socket, hub and REST (MSG2, MSG5)."""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q, QuerySet

from agents.models import Draft, with_tools
from chats.models import Chat, ChatActor, VersionedRow
from chats.selectors import PAGE_BYTES, list_messages
from common.errors import NotFound
from events.frames import Partial, Subscribed
from events.rows import AnyRow, MessageRow, RunRow
from events.stream import partials_of
from realtime.presence import present_in
from realtime.topics import Topic
from runs.models import ACTIVE, Run

PAGE = 50
"""Messages in a snapshot, at most; and at most `PAGE_BYTES` of them."""

FAR = 500
"""Rows behind, from which reading what was missed costs more than starting anew."""

MISSED_BYTES = 4 * PAGE_BYTES
"""The same in bytes of messages."""


def catch_up(chat_id: UUID, since: int | None) -> Subscribed:
    """The chat as it is now: what changed after version `since`; a snapshot when that is null, unknown or too far back.

    The version is read first, and messages up to it: each comes once (MSG4). Of the small state a row may be newer than the
    version; it comes again in a frame, which changes nothing. The number of queries is constant. Raises `NotFound` when
    the chat is gone.
    """
    chat = Chat.objects.filter(pk=chat_id).first()
    if chat is None:
        raise NotFound("There is no such chat.")
    topic = Topic("chat", chat_id)
    missed = _missed(chat, since)
    messages, has_older = (missed, False) if missed is not None else _newest(chat)
    state = _small_state(chat, None if missed is None else since)
    return Subscribed(
        topic=str(topic), version=chat.version, snapshot=missed is None, has_older=has_older,
        rows=[*state, *messages], partials=_partials([row for row in state if isinstance(row, RunRow)], messages),
        present=present_in(topic),
    )  # fmt: skip


def heads(chat_ids: Collection[UUID]) -> dict[UUID, int]:
    """The newest version of each chat: one query."""
    return dict(Chat.objects.filter(pk__in=chat_ids).values_list("pk", "version"))


def _missed(chat: Chat, since: int | None) -> list[MessageRow] | None:
    """The messages changed after `since`; null when a snapshot is better."""
    if since is None or since > chat.version:
        return None
    rows = chat.messages.filter(version__gt=since, version__lte=chat.version).order_by("seq")
    sizes = list(rows.values_list("payload_bytes", flat=True)[: FAR + 1])
    if len(sizes) > FAR or sum(sizes) > MISSED_BYTES:
        return None
    return [message.to_row() for message in rows] if sizes else []


def _newest(chat: Chat) -> tuple[list[MessageRow], bool]:
    """The newest page, oldest first, and whether there is more before it."""
    page = list_messages(chat=chat, before=chat.version + 1, limit=PAGE)
    return [message.to_row() for message in page.messages], page.before is not None


def _small_state(chat: Chat, since: int | None) -> list[AnyRow]:
    """All that is not messages: the chat, its places (also of those who left: they wrote what is read here), what is
    alive of drafts and runs, and what of them changed or ended after `since`."""
    newer = Q(version__gt=since) if since is not None else Q()
    drafts = Draft.objects.select_related("applied").prefetch_related(with_tools("applied__"))
    alive: list[QuerySet[ChatActor] | QuerySet[Draft] | QuerySet[Run]] = [
        chat.participants.select_related("actor").order_by("joined_at", "pk"),
        drafts.filter(Q(ended_at=None) | newer if newer else Q(ended_at=None), chat=chat).order_by("pk"),
        Run.objects.filter(Q(state__in=ACTIVE) | newer if newer else Q(state__in=ACTIVE), chat=chat).order_by("pk"),
    ]
    rows: list[VersionedRow] = [chat, *(row for query in alive for row in query)]
    return [row.to_row() for row in rows]


def _partials(runs: Collection[RunRow], messages: Collection[MessageRow]) -> list[Partial]:
    """What streams now. What a run that ended, or an earlier attempt, left behind is not shown; nor what is stored."""
    attempts = {run.id: run.attempt for run in runs if run.state == "running"}
    stored = {message.id for message in messages}
    found = partials_of(list(attempts))
    return [p for p in found if p.attempt >= attempts[p.run_id] and p.message_id not in stored]
