"""The one way to change something in a chat: a number, the stamped rows, one frame (architecture §3)."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from chats.models import InChat, Message
from common.errors import NotFound
from common.writing import insert
from events.frames import Changes
from events.publish import publish


def changed(chat_id: UUID, rows: Sequence[InChat]) -> int:
    """Write rows of a chat, stamped with its next version, and tell everybody on commit. Returns the new version.

    Call it last in a transaction. Taking the number locks the chat's counter until commit: numbers are in the order of
    commits (A4), and every writer of the chat's rows is in line from here on, so that nobody may hold a lock on one of
    them before. New messages get one number each, in the order given; the other rows share the last one.
    """
    messages = [row for row in rows if isinstance(row, Message) and row._state.adding]
    others = [row for row in rows if row not in messages]
    count = max(1, len(messages))
    version, workspace_id = _take_numbers(chat_id, count)
    for number, message in enumerate(messages, version - count + 1):
        message.seq = message.version = number
    insert(messages)
    for row in others:
        row.version = version
    written = [*messages, *(row for row in others if row.write())]
    frame = Changes(
        topic=f"chat:{chat_id}", after=version - count, version=version, rows=[row.row() for row in written]
    )
    was_said = any(message.type == "TEXT_MESSAGE" for message in messages)
    publish(frame, said_in=workspace_id if was_said else None)
    return version


def _take_numbers(chat_id: UUID, count: int) -> tuple[int, UUID]:
    """Raise the chat's counter by `count`. The last number taken, and the workspace. Raises `NotFound`."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE chats_chat SET version = version + %s WHERE id = %s RETURNING version, workspace_id",
            [count, chat_id],
        )
        taken = cursor.fetchone()
    if taken is None:
        raise NotFound("There is no such chat.")
    return int(taken[0]), taken[1]
