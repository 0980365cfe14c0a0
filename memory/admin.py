"""The admin pages of the memory of agents."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import id_column, link_column
from admin_kit.model_admin import ReadOnlyAdmin
from memory.models import HistoryEntry, MemoryClearing, MemoryUse, Note, NoteRevision


@admin.register(Note)
class NoteAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        link_column("agent"),
        link_column("chat"),
        link_column("author"),
        "scope",
        "read_texts",
        "last_used_at",
        "forgotten_at",
    )
    list_filter = ("scope", "read_texts", CreatedWithinFilter)
    list_select_related = ("agent", "chat", "author")
    search_fields = ("agent__name", "chat__title", "text")
    search_id_fields = ("id", "run_id", "chat_id", "agent_id")
    sortable_by = ()
    readonly_fields = (id_column("run_id", "runs.run", _("run")),)


@admin.register(NoteRevision)
class NoteRevisionAdmin(ReadOnlyAdmin):
    list_display = ("replaced_at", link_column("note"), "revision", link_column("replaced_by"))
    list_select_related = ("note__agent", "replaced_by")
    search_id_fields = ("note_id", "replaced_by_id")
    sortable_by = ()


@admin.register(HistoryEntry)
class HistoryEntryAdmin(ReadOnlyAdmin):
    list_display = ("created_at", link_column("agent"), link_column("chat"), "outcome", "tokens", "generation")
    list_filter = ("outcome", CreatedWithinFilter)
    list_select_related = ("agent", "chat")
    search_fields = ("agent__name", "chat__title")
    search_id_fields = ("run_id", "chat_id", "agent_id")
    sortable_by = ()
    readonly_fields = (id_column("run_id", "runs.run", _("run")),)


@admin.register(MemoryClearing)
class MemoryClearingAdmin(ReadOnlyAdmin):
    list_display = (
        "cleared_at",
        link_column("agent"),
        "generation",
        "count",
        link_column("cleared_by"),
        "undone_at",
    )
    list_select_related = ("agent", "cleared_by")
    search_fields = ("agent__name",)
    search_id_fields = ("agent_id", "cleared_by_id")
    sortable_by = ()


@admin.register(MemoryUse)
class MemoryUseAdmin(ReadOnlyAdmin):
    list_display = ("created_at", link_column("agent"), link_column("chat"), "tokens", "generation")
    list_filter = (CreatedWithinFilter,)
    list_select_related = ("agent", "chat")
    search_fields = ("agent__name", "chat__title")
    search_id_fields = ("run_id", "chat_id", "agent_id")
    sortable_by = ()
    readonly_fields = (id_column("run_id", "runs.run", _("run")),)
