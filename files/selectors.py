"""Reads of files: searches in their texts, short texts, and which files an agent may pass on."""

import logging
from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.fields.files import FieldFile
from django.db.models.functions import Length, Substr

from common.text import to_storable
from events.payloads import FileKind, FileState
from files.models import File
from files.reading.reader import read_file
from workspaces.models import Workspace

logger = logging.getLogger(__name__)

MAX_SHORT_CHARACTERS = 8_000
"""Characters of a text that a model gets with the file, without a call of a tool."""
MAX_SEARCHED_FILES = 500
"""The newest files whose texts are searched, so that a search reads 25 million characters at most."""
MAX_SEARCHED_CHARACTERS = 50_000
"""Characters of one file that are searched."""


def search_files(files: QuerySet[File], words: str) -> QuerySet[File]:
    """Return those of the files whose name contains the words, and those of the newest whose text contains them."""
    # A query of its own: as a subquery, PostgreSQL would read the texts of all files before it compares their ids.
    newest = files.order_by("-created_at").values_list("pk", flat=True)[:MAX_SEARCHED_FILES]
    texts = File.objects.filter(pk__in=list(newest)).alias(beginning=Substr("text", 1, MAX_SEARCHED_CHARACTERS))
    found = texts.filter(beginning__icontains=words).values_list("pk", flat=True)
    return files.filter(Q(name__icontains=words) | Q(pk__in=list(found)))


def find_short_texts(ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the texts of those of these files whose whole text has at most `MAX_SHORT_CHARACTERS`. It makes one query.

    A plain text that no worker has read yet is decoded here: its question may be asked within a second of the upload.
    """
    is_short = Q(state=FileState.READY, text_is_cut=False, length__range=(1, MAX_SHORT_CHARACTERS))
    is_not_read_yet = Q(state=FileState.WAITING, kind=FileKind.TEXT, size__lte=MAX_SHORT_CHARACTERS)
    files = File.objects.filter(pk__in=ids, deleted_at=None).alias(length=Length("text"))
    texts: dict[UUID, str] = {}
    for file in files.filter(is_short | is_not_read_yet).only("kind", "state", "text", "content"):
        if file.state == FileState.READY:
            texts[file.id] = file.text
            continue
        content = read_if_stored(file.content)
        if content is not None:
            texts[file.id] = to_storable(read_file(file.kind, content)["text"])
    return texts


def read_if_stored(content: FieldFile) -> bytes | None:
    """Return the content or the thumbnail of a file; null if it is missing or its storage fails, which is logged. A run has to
    start without it."""
    try:
        with content.open("rb") as opened:
            return bytes(opened.read())
    except Exception as error:  # noqa: BLE001 -- a bucket raises errors of several libraries, which have no class in common
        logger.warning("%s of file %s cannot be read: %r", content.field.name, content.instance.pk, error)
        return None


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return all files of a deleted workspace, to purge them. A listener of `collect_rows_to_purge`.

    Their content is deleted as that of every file whose row is gone (`delete_orphaned_content`).
    """
    return [File.objects.filter(workspace=workspace)]


def find_passable_files(ids: Collection[UUID], chat_id: UUID, given_ids: Collection[str] | None) -> list[str]:
    """Return those of these files that an agent may pass to another one: the files that were posted in the chat or, for an agent
    that was given files itself, only those that it was given (`given_ids`)."""
    if not ids:
        return []
    files = File.objects.filter(pk__in=ids, deleted_at=None)
    may_pass = Q(chat=chat_id, posted_at__isnull=False) if given_ids is None else Q(pk__in=given_ids)
    return [str(id) for id in files.filter(may_pass).values_list("pk", flat=True)]
