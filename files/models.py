"""Files of chats and workspaces: who uploaded them, where their content is stored, and what was read from it."""

from typing import Any
from uuid import UUID

from django.core.files.storage import Storage, storages
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from actors.models import Actor
from chats.models import Chat
from common.ids import new_id
from common.models import Identified, build_display_name
from events.payloads import FileFacts, FileKind, FilePayload, FileState, NoTextReason
from events.rows import FileRow
from workspaces.models import Workspace


def get_file_storage() -> Storage:
    """Return the storage of files: `STORAGES["files"]`."""
    return storages["files"]


def build_storage_name(file: "File", name: str) -> str:
    """Return the name under which content is stored. It contains nothing that a person has chosen."""
    return f"{file.workspace_id}/{file.id}/{new_id()}"


class File(Identified):
    """A file of a chat, or of the workspace if it has no chat.

    A file of a chat is visible to its uploader only until it is posted. The message that shows it has the same id.
    `state` is that of reading its text and size in pixels. When a file is deleted, the row stays and the content goes.
    """

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="files"
    )
    chat = models.ForeignKey(Chat, verbose_name=_("chat"), null=True, on_delete=models.CASCADE, related_name="files")
    uploaded_by = models.ForeignKey(
        Actor, verbose_name=_("uploaded by"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    name = models.CharField(_("name"), max_length=200)
    kind = models.CharField(_("kind"), max_length=12, choices=FileKind.choices)
    content_type = models.CharField(_("content type"), max_length=100)
    size = models.PositiveBigIntegerField(_("size"))
    sha256 = models.CharField(_("SHA-256"), max_length=64)
    content = models.FileField(_("content"), storage=get_file_storage, upload_to=build_storage_name, max_length=120)
    thumbnail = models.FileField(
        _("thumbnail"), storage=get_file_storage, upload_to=build_storage_name, max_length=120, blank=True
    )
    width = models.PositiveIntegerField(_("width"), null=True)
    height = models.PositiveIntegerField(_("height"), null=True)
    pages = models.PositiveIntegerField(_("pages"), null=True)
    text = models.TextField(_("text"), blank=True, default="")
    text_is_cut = models.BooleanField(_("text is cut"), default=False)
    encoding = models.CharField(_("encoding"), max_length=20, blank=True, default="")
    no_text_reason = models.CharField(
        _("why it has no text"), max_length=12, choices=NoTextReason.choices, blank=True, default=""
    )
    state = models.CharField(_("state"), max_length=8, choices=FileState.choices, default=FileState.WAITING)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    posted_at = models.DateTimeField(_("posted at"), null=True)
    deleted_at = models.DateTimeField(_("deleted at"), null=True)

    class Meta:
        verbose_name = _("file")
        verbose_name_plural = _("files")
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=FileKind.values), name="file_kind_known"),
            models.CheckConstraint(condition=Q(state__in=FileState.values), name="file_state_known"),
            models.CheckConstraint(
                condition=Q(no_text_reason__in=["", *NoTextReason.values]), name="file_no_text_reason_known"
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at"], condition=Q(deleted_at=None), name="files_of_workspace"),
            models.Index(fields=["chat", "-created_at"], condition=Q(deleted_at=None), name="files_of_chat"),
            models.Index(
                fields=["created_at"],
                condition=Q(posted_at=None, deleted_at=None, chat__isnull=False),
                name="files_not_posted",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} · {build_display_name(self, 'workspace')}"

    @property
    def has_thumbnail(self) -> bool:
        return bool(self.thumbnail)

    def _get_facts(self) -> dict[str, Any]:
        facts = {name: getattr(self, name) for name in FileFacts.model_fields}
        return {**facts, "no_text_reason": self.no_text_reason or None}

    def to_row(self) -> FileRow:
        return FileRow(
            id=self.id,
            workspace_id=self.workspace_id,
            chat_id=self.chat_id,
            uploaded_by=self.uploaded_by.to_row() if self.uploaded_by else None,
            created_at=self.created_at,
            posted=self.posted_at is not None,
            **self._get_facts(),
        )

    def build_payload(self, *, wake: str, answers: UUID | None = None) -> FilePayload:
        """Return the payload of the message that shows this file."""
        return FilePayload(
            file_id=self.id,
            is_deleted=self.deleted_at is not None,
            wake=wake,
            answers=answers,
            **self._get_facts(),
        )
