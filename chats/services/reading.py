"""How far people have read."""

from collections.abc import Collection
from uuid import UUID

from django.db import connection, transaction

from actors.models import Actor
from chats.hooks import ReadCursor, chats_read
from chats.models import ChatActor
from chats.permissions import ChatVerb, get_chat_for
from chats.selectors import END, list_activity
from events.frames import ChatActivity
from events.publish import publish_transient

_MOVE = """
WITH mark AS (
    SELECT * FROM unnest(%s::uuid[], %s::uuid[], %s::bigint[]) AS mark(actor_id, chat_id, seq)
), behind AS (
    SELECT participant.id, least(mark.seq, chat.version) AS seq
    FROM mark JOIN chats_chat chat ON chat.id = mark.chat_id
    JOIN chats_chatactor participant ON participant.chat_id = mark.chat_id AND participant.actor_id = mark.actor_id
    WHERE participant.ended_at IS NULL AND participant.last_read_seq < least(mark.seq, chat.version)
    ORDER BY participant.id FOR NO KEY UPDATE OF participant
)
UPDATE chats_chatactor participant SET last_read_seq = behind.seq FROM behind WHERE participant.id = behind.id
RETURNING participant.actor_id, participant.chat_id, participant.last_read_seq, participant.id
"""
"""Rows are locked in the order of their ids: two processes may move the same cursors."""


@transaction.atomic
def mark_read(actor: Actor, chat_id: UUID, *, seq: int) -> int:
    """Move the actor's read cursor forward, never back and never past the end, and tell their other tabs.

    Return the cursor. Raises `NotFound`.
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE)
    advance_read_cursors([ReadCursor(actor.id, chat.id, seq)])
    return ChatActor.objects.values_list("last_read_seq", flat=True).get(chat=chat, actor=actor)


@transaction.atomic
def advance_read_cursors(marks: Collection[ReadCursor]) -> None:
    """Move the read cursors of many people forward; whoever is not in the chat is left out. Five queries, however many."""
    known = [mark._replace(seq=min(mark.seq, END)) for mark in marks]
    with connection.cursor() as cursor:
        cursor.execute(_MOVE, [[getattr(mark, name) for mark in known] for name in ReadCursor._fields])
        rows = cursor.fetchall()
    if not rows:
        return
    moved = [ReadCursor(*row[:3]) for row in rows]
    activity = list_activity([row[3] for row in rows])
    publish_transient(ChatActivity(topic=f"actor:{actor_id}", **dict(row)) for actor_id, row in activity)
    chats_read(moved)


def advance_read_cursor(chat_id: UUID, actor_id: UUID, seq: int) -> bool:
    """Move a read cursor forward; false when it stood there already."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE chats_chatactor SET last_read_seq = %s WHERE chat_id = %s AND actor_id = %s AND last_read_seq < %s",
            [seq, chat_id, actor_id, seq],
        )
        return bool(cursor.rowcount)
