"""Rights on files: those of the chat or the workspace, and of the person who uploaded the file."""

from enum import StrEnum
from uuid import UUID

from django.db.models import Q, QuerySet

from actors.models import Actor
from chats.permissions import ChatVerb, get_chat_for
from common.access import list_principals, replace_not_found
from common.errors import Forbidden, NotFound
from files.models import File
from workspaces.permissions import WorkspaceVerb, compute_workspace_verbs, get_workspace_for, workspaces_visible_to


class FileVerb(StrEnum):
    SEE = "see"
    DELETE = "delete"


def get_file_for(
    actor: Actor, file_id: UUID, verb: FileVerb, *, on_behalf_of: Actor | None = None, lock: bool = False
) -> File:
    """Return a file if the actor may do this with it, and so may `on_behalf_of`, if it is given. Raises `NotFound`, `Forbidden`.

    Once a file of a chat is posted, whoever may see the chat may see it; before, the actor or `on_behalf_of` must be its uploader.
    A file of the workspace is seen by the members. A file is deleted by its uploader, or by an editor who may see it.
    """
    files = File.objects.select_related("uploaded_by", "workspace")
    if lock:
        files = files.select_for_update(of=("self",), no_key=True)
    file = files.filter(pk=file_id, deleted_at=None).first()
    with replace_not_found("file"):
        if file is None:
            raise NotFound("There is no such file.")
        principals = list_principals(actor, on_behalf_of)
        if file.chat_id is not None:
            get_chat_for(actor, file.chat_id, ChatVerb.SEE, on_behalf_of=on_behalf_of)
            if file.posted_at is None and all(file.uploaded_by_id != principal.pk for principal in principals):
                raise NotFound("There is no such file.")
        else:
            get_workspace_for(actor, file.workspace_id, WorkspaceVerb.SEE, on_behalf_of=on_behalf_of)
    if verb == FileVerb.DELETE and any(not _may_delete(principal, file) for principal in principals):
        raise Forbidden("You may not delete this file.", hints=["The person who uploaded it may, and editors."])
    return file


def _may_delete(actor: Actor, file: File) -> bool:
    if file.uploaded_by_id == actor.pk:
        return True
    workspace = get_workspace_for(actor, file.workspace_id, WorkspaceVerb.SEE)
    return WorkspaceVerb.DELETE_ANY_FILE in compute_workspace_verbs(workspace)


def files_visible_to(actor: Actor, workspace_id: UUID) -> QuerySet[File]:
    """Return the files of a workspace that a member may see: the workspace's own, and those posted in chats they take part in."""
    in_chats = Q(chat__participants__actor=actor, chat__participants__ended_at=None, posted_at__isnull=False)
    workspaces = workspaces_visible_to(actor).filter(pk=workspace_id).values("pk")
    return File.objects.filter(Q(chat=None) | in_chats, workspace__in=workspaces, deleted_at=None).distinct()
