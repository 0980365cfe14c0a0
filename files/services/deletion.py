"""Deleting files."""

from datetime import timedelta
from functools import partial
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from chats.services.locking import lock_chat
from common.clock import now
from events import audit
from events.publish import publish_workspace_list_changed
from files.models import File
from files.permissions import FileVerb, get_file_for
from files.services.contents import update_message

UNPOSTED_LIFETIME = timedelta(hours=24)
"""The time after which a file is deleted that was uploaded to a chat and never posted."""
BATCH_SIZE = 100


@transaction.atomic
def delete_file(actor: Actor, file_id: UUID) -> None:
    """Delete a file. Its message stays and says that the file is gone. Raises `NotFound`, `Forbidden`."""
    file = get_file_for(actor, file_id, FileVerb.DELETE)
    if file.chat_id is not None:
        lock_chat(file.chat_id)
    file = get_file_for(actor, file_id, FileVerb.DELETE, lock=True)
    _delete(file)
    if file.posted_at is not None:
        update_message(file)
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


def _delete(file: File) -> None:
    """Mark the file as deleted, forget its text, and delete its content once that is committed."""
    storage = file.content.storage
    names = [str(stored.name) for stored in (file.content, file.thumbnail) if stored]
    file.deleted_at = now()
    file.text = ""
    file.thumbnail = ""
    file.save(update_fields=["deleted_at", "text", "thumbnail"])
    for name in names:
        transaction.on_commit(partial(storage.delete, name), robust=True)
