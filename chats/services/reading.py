"""Read cursors: how far people and agents have read in a chat."""

import json
from collections.abc import Collection
from copy import copy
from uuid import UUID

from django.db import connection, transaction

from actors.models import Actor
from chats.hooks import ReadCursor, chats_read
from chats.models import ChatActor
from chats.permissions import ChatVerb, get_chat_for
from chats.selectors import END, list_activity
from chats.services.changes import save_changes
from common.writing import RowUpdate, WriteBatch
from events.frames import ChatActivity
from events.publish import publish_batch

_ADVANCE_CURSORS = """
WITH new_cursor AS (
    SELECT * FROM unnest(%s::uuid[], %s::uuid[], %s::bigint[]) AS new_cursor(actor_id, chat_id, seq)
), behind AS (
    SELECT participant.id, least(new_cursor.seq, chat.version) AS seq
    FROM new_cursor JOIN chats_chat chat ON chat.id = new_cursor.chat_id
    JOIN chats_chatactor participant ON participant.chat_id = new_cursor.chat_id AND participant.actor_id = new_cursor.actor_id
    WHERE participant.ended_at IS NULL AND participant.last_read_seq < least(new_cursor.seq, chat.version)
    ORDER BY participant.id FOR NO KEY UPDATE OF participant
)
UPDATE chats_chatactor participant SET last_read_seq = behind.seq FROM behind WHERE participant.id = behind.id
RETURNING participant.actor_id, participant.chat_id, participant.last_read_seq, participant.id
"""
"""Rows are locked in the order of their ids, because two processes may move the same cursors."""

_SAVE_CURSOR = """
UPDATE chats_chatactor participant SET last_read_seq = greatest(participant.last_read_seq, %s), version = %s
FROM actors_actor agent WHERE participant.chat_id = %s AND participant.actor_id = %s AND agent.id = participant.actor_id
RETURNING participant.id, participant.last_read_seq, participant.response, participant.joined_at, participant.ended_at,
agent.name, agent.handle, agent.description, agent.taken_down_at, agent.avatar
"""


@transaction.atomic
def mark_read(actor: Actor, chat_id: UUID, *, seq: int) -> int:
    """Move the actor's read cursor forward to `seq`, at most to the version of the chat, and publish it to the actor's tabs. The
    cursor of an agent is also published to the chat.

    A cursor never moves back. Return the cursor. Raises `NotFound`.
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE, lock=actor.is_agent)
    has_moved = advance_read_cursors([ReadCursor(actor.id, chat.id, seq)])
    if actor.is_agent and has_moved:
        save_changes(chat.id, [ReadCursorUpdate(chat.id, actor, 0)])  # 0 moves nothing: the moved cursor is published
    # An editor who reads a chat between agents has no cursor.
    return ChatActor.objects.filter(chat=chat, actor=actor).values_list("last_read_seq", flat=True).first() or 0


@transaction.atomic
def advance_read_cursors(cursors: Collection[ReadCursor]) -> bool:
    """Move the read cursors of many actors forward. Actors who are not in the chat are left out. Return whether any moved.

    The number of queries does not depend on the number of cursors.
    """
    bounded = [cursor._replace(seq=min(cursor.seq, END)) for cursor in cursors]
    columns = [[getattr(cursor, name) for cursor in bounded] for name in ReadCursor._fields]
    with connection.cursor() as db_cursor:
        db_cursor.execute(_ADVANCE_CURSORS, columns)
        rows = db_cursor.fetchall()
    if not rows:
        return False
    moved = [ReadCursor(actor_id, chat_id, seq) for actor_id, chat_id, seq, _ in rows]
    activity = list_activity([participant_id for *_, participant_id in rows])
    publish_batch(ChatActivity(topic=f"actor:{actor_id}", **dict(row)) for actor_id, row in activity)
    chats_read.call(moved)
    return True


class ReadCursorUpdate(RowUpdate[ChatActor]):
    """The read cursor of an agent, which `save` moves forward to `seq`, in one statement. Everybody in the chat sees it."""

    def __init__(self, chat_id: UUID, agent: Actor, seq: int) -> None:
        super().__init__(ChatActor(chat_id=chat_id, actor=agent, last_read_seq=seq))

    def add_to(self, batch: WriteBatch) -> None:
        self.save()  # it also reads

    def save(self) -> None:
        """Write the cursor and the version, and read the other columns of the row and the profile of the agent, which somebody may
        have changed during its run. Raises `StaleRow`."""
        row = self.row
        with connection.cursor() as cursor:
            cursor.execute(_SAVE_CURSOR, [row.last_read_seq, row.version, row.chat_id, row.actor_id])
            found = cursor.fetchone()
        if found is None:
            raise self.error(f"Agent {row.actor_id} is not in chat {row.chat_id}.")
        row.actor = agent = copy(row.actor)
        row.id, row.last_read_seq, row.response, row.joined_at, row.ended_at, *profile = found
        agent.name, agent.handle, agent.description, agent.taken_down_at, avatar = profile
        agent.avatar = json.loads(avatar) if avatar else None
