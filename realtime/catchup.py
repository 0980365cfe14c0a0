"""Reading the state of a chat, or its changes since a version, for sockets, hubs and REST (MSG2, MSG5)."""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Exists, OuterRef

from chats.models import Chat
from chats.selectors import PAGE_BYTES, list_messages
from common.errors import NotFound
from events.frames import Subscribed
from events.rows import MessageRow, RowOfChat, RunRow
from events.rows.kinds import RowKind, list_row_kinds
from events.stream import get_partials
from realtime.presence import list_present
from realtime.topics import Topic

MESSAGES_PER_SNAPSHOT = 50
"""A snapshot has at most this many messages, and together at most `PAGE_BYTES`."""

MAX_MISSED = 500
"""With more changed messages than this, a client gets a snapshot."""

MAX_MISSED_BYTES = 4 * PAGE_BYTES
"""With more bytes of changed messages than this, a client gets a snapshot."""


def catch_up(chat_id: UUID, since: int | None) -> Subscribed:
    """Return the changes of a chat after version `since`, or a snapshot if that is null, unknown or too old.

    The version is read first, and then the changes up to it, so that each is sent once (MSG4), and whoever reads that a run has
    ended has its answer as well. In a snapshot, rows other than messages may be newer than the version, because none may be
    missing; a frame sends them again, without effect. The number of queries is constant, with two more for each kind of rare rows
    that the chat has. Raises `NotFound`.
    """
    rare = {
        _get_name_of_exists(kind): Exists(kind.list_rows_to_send(since).filter(chat=OuterRef("pk")))
        for kind in list_row_kinds()
        if kind.is_rare
    }
    chat = Chat.objects.filter(pk=chat_id).annotate(**rare).first()
    if chat is None:
        raise NotFound("There is no such chat.")
    topic = Topic("chat", chat_id)
    changed = _list_changed_messages(chat, since)
    is_snapshot = changed is None
    if changed is None:
        page = list_messages(chat=chat, before=chat.version + 1, limit=MESSAGES_PER_SNAPSHOT)
        messages, has_older = [message.to_row() for message in page.messages], page.before is not None
    else:
        messages, has_older = changed, False
    other_rows = _list_other_rows(chat, None if is_snapshot else since)
    attempts = {row.id: row.attempt for row in other_rows if isinstance(row, RunRow) and row.state == "running"}
    if not is_snapshot:
        other_rows = [row for row in other_rows if row.version <= chat.version]
    stored = {message.id for message in messages}
    # Without the texts of earlier attempts and of messages that are stored.
    partials = [
        partial
        for partial in get_partials(list(attempts))
        if partial.attempt >= attempts[partial.run_id] and partial.message_id not in stored
    ]
    return Subscribed(
        topic=str(topic),
        version=chat.version,
        snapshot=is_snapshot,
        has_older=has_older,
        rows=[*other_rows, *messages],
        partials=partials,
        present=list_present(topic),
    )


def get_versions(chat_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return the version of each chat, in one query."""
    return dict(Chat.objects.filter(pk__in=chat_ids).values_list("pk", "version"))


def _list_changed_messages(chat: Chat, since: int | None) -> list[MessageRow] | None:
    """Return the messages that changed after `since`, or null if the client gets a snapshot instead."""
    if since is None or since > chat.version:
        return None
    rows = chat.messages.filter(version__gt=since, version__lte=chat.version).order_by("seq")
    sizes = list(rows.values_list("payload_bytes", flat=True)[: MAX_MISSED + 1])
    if len(sizes) > MAX_MISSED or sum(sizes) > MAX_MISSED_BYTES:
        return None
    return [message.to_row() for message in rows] if sizes else []


def _list_other_rows(chat: Chat, since: int | None) -> list[RowOfChat]:
    """Return the rows of a chat that are not messages, by kind (`RowKind`).

    The chat was read with whether it has rows of the kinds that are rare. These are the chat, all present and former
    participants, current drafts, active runs and other current rows, and the rows that changed after `since`.
    """
    rows: list[RowOfChat] = [chat.to_row()]
    for kind in list_row_kinds():
        if kind.list_rows is not None and (not kind.is_rare or getattr(chat, _get_name_of_exists(kind))):
            rows += [row.to_row() for row in kind.list_rows_to_send(since).filter(chat=chat)]
    return rows


def _get_name_of_exists(kind: RowKind) -> str:
    return f"has_{kind.name}"
