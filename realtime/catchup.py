"""The state of a chat for a client that opens it or comes back: one read for sockets, the hub and REST (MSG2, MSG5)."""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q, QuerySet

from agents.models import Draft, tools_prefetch
from chats.models import Chat, ChatActor, VersionedRow
from chats.selectors import PAGE_BYTES, list_messages
from common.errors import NotFound
from events.frames import Partial, Subscribed
from events.rows import AnyRow, MessageRow, RunRow
from events.stream import get_partials
from realtime.presence import list_present
from realtime.topics import Topic
from runs.models import ACTIVE, Run

MESSAGES_PER_SNAPSHOT = 50
"""The most messages in a snapshot, and they have at most `PAGE_BYTES`."""

MAX_MISSED = 500
"""With more missed messages, a snapshot is cheaper."""

MISSED_BYTES = 4 * PAGE_BYTES
"""The same limit in bytes of messages."""


def catch_up(chat_id: UUID, since: int | None) -> Subscribed:
    """Return the changes of a chat after version `since`, or a snapshot if that is null, unknown or too old.

    The version is read first and messages up to it, so each message comes once (MSG4). Other rows may be newer than the version;
    they come again in a frame, which does no harm. The number of queries is constant. Raises `NotFound`.
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
        present=list_present(topic),
    )  # fmt: skip


def get_versions(chat_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return the version of each chat, in one query."""
    return dict(Chat.objects.filter(pk__in=chat_ids).values_list("pk", "version"))


def _missed(chat: Chat, since: int | None) -> list[MessageRow] | None:
    """Return the messages that changed after `since`; None if a snapshot is better."""
    if since is None or since > chat.version:
        return None
    rows = chat.messages.filter(version__gt=since, version__lte=chat.version).order_by("seq")
    sizes = list(rows.values_list("payload_bytes", flat=True)[: MAX_MISSED + 1])
    if len(sizes) > MAX_MISSED or sum(sizes) > MISSED_BYTES:
        return None
    return [message.to_row() for message in rows] if sizes else []


def _newest(chat: Chat) -> tuple[list[MessageRow], bool]:
    """Return the newest page, oldest message first, and whether there are older messages."""
    page = list_messages(chat=chat, before=chat.version + 1, limit=MESSAGES_PER_SNAPSHOT)
    return [message.to_row() for message in page.messages], page.before is not None


def _small_state(chat: Chat, since: int | None) -> list[AnyRow]:
    """Return everything but messages: the chat, its participants (also former ones, who wrote messages), live drafts and active
    runs, and those drafts and runs that changed after `since`."""
    newer = Q(version__gt=since) if since is not None else Q()
    drafts = Draft.objects.select_related("applied").prefetch_related(tools_prefetch("applied__"))
    queries: list[QuerySet[ChatActor] | QuerySet[Draft] | QuerySet[Run]] = [
        chat.participants.select_related("actor").order_by("joined_at", "pk"),
        drafts.filter(Q(ended_at=None) | newer if newer else Q(ended_at=None), chat=chat).order_by("pk"),
        Run.objects.filter(Q(state__in=ACTIVE) | newer if newer else Q(state__in=ACTIVE), chat=chat).order_by("pk"),
    ]
    rows: list[VersionedRow] = [chat, *(row for query in queries for row in query)]
    return [row.to_row() for row in rows]


def _partials(runs: Collection[RunRow], messages: Collection[MessageRow]) -> list[Partial]:
    """Return what active runs stream now, without rests of earlier attempts, and without messages that are stored."""
    attempts = {run.id: run.attempt for run in runs if run.state == "running"}
    stored = {message.id for message in messages}
    found = get_partials(list(attempts))
    return [p for p in found if p.attempt >= attempts[p.run_id] and p.message_id not in stored]
