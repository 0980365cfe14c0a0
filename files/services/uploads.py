"""Uploading files."""

import hashlib
import posixpath
from typing import IO
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.core.files import File as DjangoFile
from django.db import IntegrityError, transaction
from django.db.models import Sum

from actors.models import Actor
from chats.permissions import ChatVerb, get_chat_for
from common.errors import Invalid, QuotaReached, TooLarge, build_duplicate_id_error
from common.ids import new_id
from common.quotas import check_quota
from common.text import normalize_name
from events.payloads import FileKind, FileState
from events.publish import publish_workspace_list_changed
from files.content_types import identify_content
from files.models import File
from workspaces.permissions import WorkspaceVerb, get_workspace_for

MAX_NAME_CHARACTERS = 200
CHUNK_BYTES = 1024 * 1024


def upload_file(
    actor: Actor,
    *,
    content: IO[bytes],
    name: str,
    chat_id: UUID | None = None,
    workspace_id: UUID | None = None,
    id: UUID | None = None,
    on_behalf_of: Actor | None = None,
    rights_of: Actor | None = None,
) -> tuple[File, bool]:
    """Store a file of a chat or, without `chat_id`, of the workspace. A file of a chat is shown in it by `post_file`.

    Return the file, and whether it was created: uploading the same content with the same `id` again returns the first file.
    What kind of file it is, is decided by its content. Reading its text is left to a worker. `rights_of`: who has to be allowed
    to post in the chat instead of the actor.

    Raises `NotFound`, `Forbidden`, `Invalid`, `TooLarge`, `QuotaReached`, and `Conflict` (`id_taken`).
    """
    if chat_id is not None:
        workspace_id = get_chat_for(rights_of or actor, chat_id, ChatVerb.POST, on_behalf_of=on_behalf_of).workspace_id
    elif workspace_id is not None:
        get_workspace_for(actor, workspace_id, WorkspaceVerb.UPLOAD_FILE, on_behalf_of=on_behalf_of)
    else:
        raise Invalid("A file belongs to a chat or to a workspace.")
    size, sha256 = _measure(content)
    name = clean_name(name)
    identified = identify_content(content, name)
    id = id or new_id()
    file = File(
        id=id,
        workspace_id=workspace_id,
        chat_id=chat_id,
        uploaded_by=actor,
        name=name,
        kind=identified.kind,
        content_type=identified.content_type,
        size=size,
        sha256=sha256,
        no_text_reason=identified.no_text_reason or "",
        state=FileState.READY if identified.kind == FileKind.OTHER else FileState.WAITING,
    )
    known = File.objects.filter(pk=id).first()
    if known is None:
        _check_quotas(workspace_id, size)
        content.seek(0)
        file.content.save(name, DjangoFile(content), save=False)
        try:
            with transaction.atomic():
                file.save(force_insert=True)
                if file.state == FileState.WAITING:
                    transaction.on_commit(
                        lambda: current_app.send_task("worker.tasks.read_file_contents", [str(id)]), robust=True
                    )
                if chat_id is None:
                    publish_workspace_list_changed(workspace_id, "files")
            return file, True
        except IntegrityError:
            # The same upload arrived twice at the same moment, or the workspace was deleted.
            file.content.storage.delete(str(file.content.name))
            known = File.objects.filter(pk=id).first()
            if known is None:
                raise
    is_same = known.uploaded_by_id == actor.pk and known.chat_id == chat_id and known.workspace_id == workspace_id
    if not is_same or known.sha256 != sha256 or known.deleted_at is not None:
        raise build_duplicate_id_error("file")
    return known, False


def clean_name(name: str) -> str:
    """Return the name of a file without folders, on one line. Raises `Invalid` when nothing of it can be seen."""
    name = normalize_name(posixpath.basename(name.replace("\\", "/")))
    if not name.strip("."):
        raise Invalid("A file needs a name.")
    if len(name) > MAX_NAME_CHARACTERS:
        stem, extension = posixpath.splitext(name)
        extension = extension[:20]
        name = stem[: MAX_NAME_CHARACTERS - len(extension)] + extension
    return name


def _measure(content: IO[bytes]) -> tuple[int, str]:
    """Return the size and the SHA-256 of a file. Raises `Invalid` if it is empty, `TooLarge`."""
    content.seek(0)
    digest = hashlib.sha256()
    size = 0
    while chunk := content.read(CHUNK_BYTES):
        digest.update(chunk)
        size += len(chunk)
        if size > settings.MAX_FILE_BYTES:
            raise TooLarge(f"A file may have {settings.MAX_FILE_BYTES:,} bytes at most.")
    if not size:
        raise Invalid("The file is empty.")
    return size, digest.hexdigest()


def _check_quotas(workspace_id: UUID, size: int) -> None:
    files = File.objects.filter(workspace=workspace_id, deleted_at=None)
    check_quota("files", files)
    most = settings.MAX_WORKSPACE_FILE_BYTES
    if most and (files.aggregate(Sum("size"))["size__sum"] or 0) + size > most:
        raise QuotaReached(
            f"The files of this workspace may have {most:,} bytes together.",
            hints=["Delete files that are no longer needed."],
            data={"quota": "file_bytes", "most": most},
        )
