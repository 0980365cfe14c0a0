"""The admin page of files: who uploaded what, and how much. The content of a file is not shown."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import link_column
from admin_kit.model_admin import ReadOnlyAdmin
from files.models import File


@admin.register(File)
class FileAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        "name",
        "kind",
        "size",
        link_column("workspace"),
        link_column("chat"),
        link_column("uploaded_by"),
        "state",
        "deleted_at",
    )
    list_filter = ("kind", "state", CreatedWithinFilter)
    list_select_related = ("workspace", "chat", "uploaded_by")
    search_fields = ("workspace__name", "uploaded_by__name")
    search_id_fields = ("workspace_id", "chat_id", "uploaded_by_id")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return [
            name for name in super().get_fields(request, obj) if name not in ("content", "thumbnail", "text", "sha256")
        ]
