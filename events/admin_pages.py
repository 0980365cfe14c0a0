"""The operators' view: every table can be read and searched, nothing is typed into a row; what may be changed is a deed
that calls a service. Opening a row is logged (S0.4, B9).
"""

from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import Model, Q, QuerySet, UUIDField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from common.operators import may_operate
from events import audit
from events.admin_deeds import Deed
from events.admin_lists import BoundedPaginator, Column, Related, related_links, short

if TYPE_CHECKING:
    Admin = admin.ModelAdmin[Any]
else:
    from unfold.admin import ModelAdmin as Admin

NARROWED = "__id__exact"


class Listed(ChangeList):
    """A list that knows no other count than its own: how many rows a long table has in all is not asked."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.full_result_count = self.result_count


class Read(Admin):
    """A table to look at.

    `hidden` fields hold secrets: they are shown nowhere, not even sealed. `found_by` names columns in which a search for an
    id looks, beside the key. On a row's page `leading` columns come first and `also` are its computed lines; `related` are
    the lists that belong to it. `joined` are the rows that a line of the list names.
    """

    hidden: ClassVar[tuple[str, ...]] = ()
    found_by: ClassVar[tuple[str, ...]] = ()
    leading: ClassVar[tuple[str, ...]] = ()
    also: ClassVar[tuple[str | Column, ...]] = ()
    joined: ClassVar[tuple[str, ...]] = ()
    related: ClassVar[tuple[Related, ...]] = ()
    deeds: ClassVar[tuple[Deed, ...]] = ()

    actions_detail: tuple[Any, ...] = ()
    list_per_page = 50
    list_max_show_all = 0
    list_filter_sheet = False
    list_filter_submit = False
    show_full_result_count = False
    paginator = BoundedPaginator
    ordering = ("-id",)
    list_before_template = "operators/narrowed.html"
    change_form_before_template = "operators/related.html"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for deed in cls.deeds:
            setattr(cls, deed.name, deed.on_page())
        names = [deed.name for deed in cls.deeds]
        cls.actions_detail = (
            ({"title": _("Actions"), "icon": "gavel", "items": names},) if len(names) > 1 else tuple(names)
        )
        cls.actions = tuple(deed.on_list() for deed in cls.deeds if deed.in_bulk)

    # --- rights ---

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_operate_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whether the deeds are offered; each asks again for its row."""
        return may_operate(request.user, self.model)

    # --- lists ---

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With the rows that a line of the list names, so that a list takes the same queries at any length."""
        rows = super().get_queryset(request)
        return rows.select_related(*self.joined) if self.joined else rows

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """An id is looked up by index; names are searched only for what is no id."""
        try:
            wanted = UUID(search_term.strip())
        except ValueError:
            return super().get_search_results(request, queryset, search_term)
        found = Q(pk=wanted) if isinstance(self.model._meta.pk, UUIDField) else Q()
        for column in self.found_by:
            found |= Q(**{column: wanted})
        return queryset.filter(found), False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "narrowed": self._narrowed(request)})

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return Listed

    def _narrowed(self, request: HttpRequest) -> list[str]:
        """To whose rows the list is narrowed: said above it, because no filter shows it."""
        found = []
        for key, value in request.GET.items():
            try:
                field: Any = self.model._meta.get_field(key.removesuffix(NARROWED))
                if key.endswith(NARROWED) and field.is_relation:
                    row = field.related_model._default_manager.filter(pk=value).first()
                    found.append(f"{field.verbose_name} {short(row or value)}")
            except (FieldDoesNotExist, ValidationError, ValueError):
                continue
        return found

    # --- a row's page ---

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        names = [field.name for field in self.model._meta.fields if field.name not in (*self.hidden, *self.leading)]
        return [*self.leading, *names, *self.also]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.also

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """The deeds that this row is ready for."""
        row = self.get_object(request, object_id)
        fit = {deed.name for deed in self.deeds if row is not None and deed.when(row)}
        offered: Any = super()
        prefix = f"{self.model._meta.app_label}_{self.model._meta.model_name}_"
        return [one for one in offered.get_actions_detail(request, object_id)
                if one.action_name.removeprefix(prefix) in fit]  # fmt: skip

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        more = {"related_lists": list(related_links(self.related, row, request)) if row else []}
        answer = super().change_view(request, object_id, form_url, more | (extra_context or {}))
        if row is not None and answer.status_code == 200:
            self.log_opening(request, row)
        return answer

    def log_opening(self, request: HttpRequest, row: Any) -> None:
        """Keep who looked at what: with the row's workspace and, for what was said in it, its chat."""
        meta = self.model._meta
        chat: dict[str, Any] = {"chat": str(row.chat_id)} if getattr(row, "chat_id", None) else {}
        audit.record(
            operator_of(request), "admin.opened", workspace_id=getattr(row, "workspace_id", None),
            object_id=row.pk if isinstance(row.pk, UUID) else None, table=meta.label, row=str(row.pk), **chat,
        )  # fmt: skip

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """A row's history is the audit trail: Django's own log knows only what was typed into forms."""
        return redirect(f"{reverse('admin:events_auditrecord_changelist')}?q={object_id}")


def operator_of(request: HttpRequest) -> Any:
    """Who is at it: the admin has seen to it that they are signed in."""
    return request.user


def register(model: type[Model], *shown: Any, **more: Any) -> None:
    """Put a table into the admin, to be read."""
    admin.site.register(model, type(f"{model.__name__}Admin", (Read,), {"list_display": shown, **more}))
