"""Writing the rows of a chat (`VersionedRow`). No other module makes changes that a durable frame publishes."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db import connection

from chats.hooks import rows_inserted
from chats.models import Chat, VersionedRow
from common.errors import NotFound
from common.writing import ImmediateWrites, RowUpdate, WriteBatch, insert
from events.frames import Changes
from events.publish import publish

RowChange = VersionedRow | RowUpdate[Any]
"""A new row of a chat, or the update of a stored one."""


def save_changes(
    chat_id: UUID,
    changes: Sequence[RowChange],
    *,
    batch: WriteBatch | None = None,
    locked: Chat | None = None,
    changes_activity: bool = False,
) -> int:
    """Insert new rows of a chat, apply updates, and publish them in one frame on commit. Return the chat's new version.

    Call it as late as possible in a transaction: raising the version locks the chat until commit, so that versions rise in the
    order of commits (MSG4). The caller must not have locked a row of the chat before the chat itself. Rows with `has_own_version`
    get one version each, in the order given; the other rows share the last one. `batch`: other rows, with which these are written
    in one statement, whose parts have no order (`WriteBatch`); null: one after the other, in the order given.
    `locked`: the chat, if this transaction has read it since it was locked, and has saved no changes since; this saves a statement.
    `changes_activity`: the last message or the unread count in the list of chats may change without a new message.

    Raises `NotFound`, `IntegrityError`, and the error of an update whose condition is not met.
    """
    new = [change for change in changes if isinstance(change, VersionedRow)]
    if any(not row._state.adding for row in new):
        raise ValueError("A stored row is changed by a RowUpdate.")
    numbered = [row for row in new if row.has_own_version]
    count = max(1, len(numbered))
    writes = batch or ImmediateWrites()
    has_updates = locked is not None or len(new) < len(changes)
    if locked is None:
        version, workspace_id = _raise_version(chat_id, count)
    else:
        version, workspace_id = locked.version + count, locked.workspace_id
        writes.update(RowUpdate(locked, only_if={"version": locked.version}).set(version=version))

    for number, row in enumerate(numbered, version - count + 1):
        row.assign_version(number)
    writes.insert(numbered)
    written = list(numbered)
    others: list[Any] = [change for change in changes if isinstance(change, RowUpdate) or not change.has_own_version]
    for kind, group in groupby(others, type):
        if issubclass(kind, RowUpdate):
            for update in group:
                update.set(version=version).add_to(writes)
                written.append(update.row)
        else:
            rows = list(group)
            for row in rows:
                row.assign_version(version)
            if rows[0].ignores_conflicts and has_updates:
                # In one statement it would not be defined whether a row conflicts with what the updates change.
                insert(rows, ignore_conflicts=True)
            else:
                writes.insert(rows, ignore_conflicts=rows[0].ignores_conflicts)
            written += rows
    writes.execute()
    left_out = [row for row in new if row._state.adding]
    written = [row for row in written if row not in left_out]
    rows_inserted.call(chat_id, [row for row in new if row not in left_out])

    frame = Changes(
        topic=f"chat:{chat_id}", after=version - count, version=version, rows=[row.to_row() for row in written]
    )
    changes_activity = changes_activity or any(row.counts_as_unread for row in new)
    publish(frame, activity_in=workspace_id if changes_activity else None)
    return version


def _raise_version(chat_id: UUID, count: int) -> tuple[int, UUID]:
    """Raise the chat's version by `count`, and return it with the id of the workspace. Raises `NotFound`."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE chats_chat SET version = version + %s WHERE id = %s RETURNING version, workspace_id",
            [count, chat_id],
        )
        row = cursor.fetchone()
    if row is None:
        raise NotFound("There is no such chat.")
    return int(row[0]), row[1]
