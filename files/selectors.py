"""Reads of files: searches in their texts, and which an agent may pass on."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.functions import Substr

from files.models import File
from workspaces.models import Workspace

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
