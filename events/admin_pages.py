"""The operators' view: every table can be read and searched, nothing is typed into a row; what may be changed is an
action that calls a service. Opening a row is logged (S0.4, B9).
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse

from common.errors import AppError
from events import audit

if TYPE_CHECKING:
    Admin = admin.ModelAdmin[Any]
else:
    Admin = admin.ModelAdmin


class Read(Admin):
    """A table to look at. `hidden` fields hold secrets: they are shown nowhere, not even sealed."""

    hidden: tuple[str, ...] = ()
    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_exclude(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return self.hidden

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With the rows that a line of the list names, so that a list takes the same queries at any length."""
        named = [f.name for f in self.model._meta.fields if f.is_relation and f.name in self.list_display]
        rows = super().get_queryset(request)
        return rows.select_related(*named) if named else rows

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        audit.record(operator_of(request), "admin.opened", table=self.model._meta.label, row=str(object_id)[:80])
        return super().change_view(request, object_id, form_url, extra_context)


def operator_of(request: HttpRequest) -> Any:
    """Who is at it: the admin has seen to it that they are signed in."""
    return request.user


def each(
    act: Callable[[Any, Any], object], *, done: str, label: str
) -> Callable[[Any, HttpRequest, QuerySet[Any]], None]:
    """An admin action that calls a service once per row, each in its own transaction, and says what was refused."""

    @admin.action(description=label)
    def action(self: Any, request: HttpRequest, rows: QuerySet[Any]) -> None:
        count = sum(_tried(act, request, row) for row in rows)
        if count:
            messages.success(request, f"{done}: {count}")

    action.__name__ = act.__name__
    return action


def _tried(act: Callable[[Any, Any], object], request: HttpRequest, row: Any) -> bool:
    try:
        with transaction.atomic():
            act(row, request.user)
    except AppError as refusal:
        messages.error(request, f"{row}: {refusal.message}")
        return False
    return True


def register(
    model: type[Model], *shown: str, search: Iterable[str] = (), filters: Iterable[str] = (), **more: Any
) -> None:
    """Put a table into the admin, to be read."""
    fields = {"list_display": shown, "search_fields": tuple(search), "list_filter": tuple(filters), **more}
    admin.site.register(model, type(f"{model.__name__}Admin", (Read,), fields))
