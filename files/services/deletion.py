"""Deleting files."""

import logging
import re
from datetime import timedelta
from functools import partial
from uuid import UUID

from django.core.files.storage import Storage
from django.db import transaction

from actors.models import Actor
from chats.hooks import MessageChange
from chats.services.locking import lock_chat
from common.clock import now
from events import audit
from events.publish import publish_workspace_list_changed
from files.models import File, get_file_storage
from files.permissions import FileVerb, get_file_for
from files.services.contents import update_message
from workspaces.models import Workspace

logger = logging.getLogger(__name__)

UNPOSTED_LIFETIME = timedelta(hours=24)
"""A file that was uploaded to a chat and not posted is deleted after this time."""
ORPHAN_AGE = timedelta(hours=24)
"""Content is written before its row, so younger content without a row may belong to an upload that is under way."""
WORKSPACES_PER_TURN = 50
BATCH_SIZE = 100
ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@transaction.atomic
def delete_file(actor: Actor, file_id: UUID) -> None:
    """Delete a file. Its message stays and says that the file is gone. Raises `NotFound`, `Forbidden`."""
    file = get_file_for(actor, file_id, FileVerb.DELETE)
    if file.chat_id is not None:  # the chat is locked before the file, as in all services
        lock_chat(file.chat_id)
    file = get_file_for(actor, file_id, FileVerb.DELETE, lock=True)
    _delete(file)
    if file.posted_at is not None:
        update_message(file, deleted_by=actor)
    _announce_deletion(file, actor)


def delete_file_of_message(change: MessageChange) -> None:
    """Delete the file whose message is deleted. A listener of `message_changed`."""
    if change.message.type != "FILE_MESSAGE":
        return
    file = (
        File.objects.select_for_update(of=("self",), no_key=True).filter(pk=change.message.pk, deleted_at=None).first()
    )
    if file is None:
        return
    _delete(file)
    _announce_deletion(file, change.actor)


def _announce_deletion(file: File, actor: Actor) -> None:
    audit.record(actor, "file.deleted", workspace_id=file.workspace_id, object_id=file.id, name=file.name)
    publish_workspace_list_changed(file.workspace_id, "files")


def delete_unposted_files() -> int:
    """Delete the files that were uploaded to a chat and not posted within `UNPOSTED_LIFETIME`. Return how many."""
    old = File.objects.filter(
        posted_at=None, deleted_at=None, chat__isnull=False, created_at__lt=now() - UNPOSTED_LIFETIME
    )
    with transaction.atomic():
        found = list(old.select_for_update(of=("self",), skip_locked=True)[:BATCH_SIZE])
        for file in found:
            _delete(file)
    return len(found)


def delete_orphaned_content(after: str = "") -> str | None:
    """Delete content in the storage whose file has no row any more, because of a deletion by cascade, or is marked as deleted.

    One call looks at the next `WORKSPACES_PER_TURN` workspaces whose ids follow `after`, and deletes the content of at most
    `BATCH_SIZE` files. Return the `after` of the next call, or null if the last workspace was reached.
    Nothing is deleted if no workspace in the storage is known: then it is the storage of another database.
    """
    storage = get_file_storage()
    workspace_ids = _list_folders(storage, "")
    if not Workspace.objects.filter(pk__in=workspace_ids).exists():
        return None
    following = [workspace_id for workspace_id in workspace_ids if workspace_id > after]
    count = 0
    for workspace_id in following[:WORKSPACES_PER_TURN]:
        file_ids = _list_folders(storage, workspace_id)
        kept = {str(pk) for pk in File.objects.filter(pk__in=file_ids, deleted_at=None).values_list("pk", flat=True)}
        for file_id in file_ids:
            if count == BATCH_SIZE:
                return after
            if file_id not in kept:
                count += _delete_old_content(storage, f"{workspace_id}/{file_id}")
        after = workspace_id
    return after if len(following) > WORKSPACES_PER_TURN else None


def _list_folders(storage: Storage, path: str) -> list[str]:
    """Return the names of the folders that are ids, in order."""
    try:
        folders, _ = storage.listdir(path)
    except FileNotFoundError:  # before the first upload
        return []
    return sorted(folder for folder in folders if ID.fullmatch(folder))


def _delete_old_content(storage: Storage, folder: str) -> bool:
    """Delete the content of a file that is gone, unless it is younger than `ORPHAN_AGE`. Return whether something was deleted."""
    names = [f"{folder}/{name}" for name in storage.listdir(folder)[1]]
    if not names or any(storage.get_modified_time(name) > now() - ORPHAN_AGE for name in names):
        return False
    for name in names:
        storage.delete(name)
    logger.info("The content in %s was deleted, because its file is gone.", folder)
    return True


def _delete(file: File) -> None:
    """Mark the file as deleted, delete its text, and delete its content once that is committed."""
    storage = file.content.storage
    names = [str(stored.name) for stored in (file.content, file.thumbnail) if stored]
    file.deleted_at = now()
    file.text = ""
    file.thumbnail = ""
    file.save(update_fields=["deleted_at", "text", "thumbnail"])
    for name in names:
        transaction.on_commit(partial(storage.delete, name), robust=True)
