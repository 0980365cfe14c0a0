"""The admin pages of boards, their tasks, and the results of these."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import RelatedLink, audit_link, link_column
from admin_kit.model_admin import ReadOnlyAdmin
from boards.models import Board, BoardTask, TaskEdge, TaskResult
from usage.admin import cost


@admin.register(Board)
class BoardAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        link_column("chat"),
        link_column("on_behalf_of", _("for")),
        "planned_by",
        "state",
        "pause_reason",
        "reason_code",
        "task_count",
        cost,
        "ended_at",
    )
    list_filter = ("state", "planned_by", "pause_reason", "reason_code", CreatedWithinFilter)
    list_select_related = ("chat", "on_behalf_of")
    search_fields = ("chat__title",)
    search_help_text = _("A chat, or the id of a board, a chat, a run or a person")
    search_id_fields = ("chat_id", "on_behalf_of_id", "started_by_id", "supervisor_run_id", "answer_run_id")
    sortable_by = ()
    related_links = (
        RelatedLink(_("Tasks"), "boards.boardtask", "board__id__exact"),
        RelatedLink(_("Edges"), "boards.taskedge", "board__id__exact"),
        audit_link(),
    )
    audit_prefixes = ("board",)


@admin.register(BoardTask)
class BoardTaskAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        link_column("board"),
        "number",
        link_column("agent"),
        "state",
        "reason_code",
        "attempt",
        link_column("run"),
        cost,
        "ended_at",
    )
    list_filter = ("state", CreatedWithinFilter)
    list_select_related = ("board", "agent", "run")
    search_fields = ("agent_name",)
    search_help_text = _("An agent, or the id of a task, a board, an agent or a run")
    search_id_fields = ("board_id", "agent_id", "run_id")
    sortable_by = ()
    related_links = (RelatedLink(_("Results"), "boards.taskresult", "task__id__exact"),)


@admin.register(TaskEdge)
class TaskEdgeAdmin(ReadOnlyAdmin):
    list_display = (link_column("board"), link_column("source"), link_column("target"), "state")
    list_filter = ("state",)
    list_select_related = ("board", "source", "target")
    search_help_text = _("The id of a board or a task")
    search_id_fields = ("board_id", "source_id", "target_id")
    sortable_by = ()


@admin.register(TaskResult)
class TaskResultAdmin(ReadOnlyAdmin):
    list_display = ("created_at", link_column("task"), "attempt", "success", "error_code", "is_late", cost)
    list_filter = ("success", "is_late", CreatedWithinFilter)
    list_select_related = ("task",)
    search_fields = ("=error_code",)
    search_help_text = _("An error code, or the id of a result, a task or a run")
    search_id_fields = ("task_id", "run_id")
    sortable_by = ()
