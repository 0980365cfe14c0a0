"""Reads that look into the texts of files."""

from typing import Any

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


def list_rows_of_workspace(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return the files of a workspace that are purged. A listener of `workspace_purged`.

    Their content is deleted as that of every file whose row is gone (`delete_orphaned_content`).
    """
    return [File.objects.filter(workspace=workspace)]
