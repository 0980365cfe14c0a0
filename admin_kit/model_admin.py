"""The base class of our admin pages: tables are read-only and can be searched; a change is an action that calls a service."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import Model, Q, QuerySet, UUIDField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from admin_kit.changelist import BoundedChangeList, BoundedPaginator
from admin_kit.links import RelatedLink, short_name
from admin_kit.reasons import ReasonForm
from common.operators import may_operate
from events import audit

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    from unfold.admin import ModelAdmin

BY_ID = "__id__exact"
R = TypeVar("R")


class ReadOnlyAdmin(ModelAdmin):
    """A read-only table. Opening a row is recorded in the audit trail.

    `exclude` names the fields with secrets, which are never shown, not even encrypted. `readonly_fields` are the computed fields
    of a row's page.
    """

    search_id_fields: ClassVar[tuple[str, ...]] = ()
    """Columns that are searched for an id, in addition to the primary key."""
    first_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that come first on a row's page."""
    related_links: ClassVar[tuple[RelatedLink, ...]] = ()
    """Links to the lists that belong to a row."""
    audit_prefixes: ClassVar[tuple[str, ...]] = ()
    """First words of the audited actions whose object is a row of this table."""

    exclude: ClassVar[tuple[str, ...]] = ()
    readonly_fields: ClassVar[Any] = ()
    list_select_related: ClassVar[tuple[str, ...]] = ()
    actions_detail: ClassVar[tuple[Any, ...]] = ()
    list_per_page = 50
    list_max_show_all = 0
    list_filter_sheet = False
    list_filter_submit = False
    show_full_result_count = False
    paginator = BoundedPaginator
    ordering = ("-id",)
    list_before_template = "admin_kit/list_filters.html"
    change_form_before_template = "admin_kit/related_links.html"
    delete_confirmation_template = "admin_kit/confirmation.html"
    delete_selected_confirmation_template = "admin_kit/confirmation.html"

    # --- permissions ---

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_operate_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether actions are offered. Each action checks the permission again with its row."""
        return may_operate(request.user, self.model)

    # --- lists ---

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow only the page's filters, its date hierarchy, foreign keys and ids. Django's default allows every column, so that
        hidden values could be guessed letter by letter."""
        return lookup in self._allowed_lookups

    @cached_property
    def _allowed_lookups(self) -> frozenset[str]:
        allowed = {f"{field.name}{BY_ID}" for field in self.model._meta.fields if field.is_relation}
        allowed |= {field.name for field in self.model._meta.fields if isinstance(field, UUIDField)}
        filters: Any = self.list_filter
        for list_filter in filters:
            path, kind = list_filter if isinstance(list_filter, tuple) else (list_filter, None)
            if kind is admin.EmptyFieldListFilter:
                allowed.add(f"{path}__isempty")
            elif isinstance(path, str):
                allowed |= {path, f"{path}__exact", f"{path}__isnull"}
            else:
                allowed.add(path.parameter_name)
        if self.date_hierarchy:
            allowed |= {f"{self.date_hierarchy}__{part}" for part in ("year", "month", "day")}
        return frozenset(allowed)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows joined with `list_select_related`, also for a row's page."""
        rows = super().get_queryset(request)
        return rows.select_related(*self.list_select_related) if self.list_select_related else rows

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """Find an id by its index; search in names only for a text that is not an id."""
        try:
            wanted = UUID(search_term.strip())
        except ValueError:
            return super().get_search_results(request, queryset, search_term)
        condition = Q(pk=wanted) if isinstance(self.model._meta.pk, UUIDField) else Q()
        for name in self.search_id_fields:
            condition |= Q(**{name: wanted})
        return queryset.filter(condition), False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        # Collect the names of the rows by which the list is filtered, because no filter beside the list shows them.
        lookups = []
        for key, value in request.GET.items():
            try:
                field: Any = self.model._meta.get_field(key.removesuffix(BY_ID))
                if key.endswith(BY_ID) and field.is_relation:
                    row = field.related_model._default_manager.filter(pk=value).first()
                    lookups.append(f"{field.verbose_name} {short_name(row or value)}")
            except (FieldDoesNotExist, ValidationError, ValueError):
                continue
        return super().changelist_view(request, {"active_lookups": lookups} | (extra_context or {}))

    def response_action(self, request: HttpRequest, queryset: QuerySet[Any], *args: Any) -> HttpResponse | None:
        """Run the action of a list with the reason that its confirmation page asks for."""
        view = super().response_action
        return self._state_reason(request, lambda: view(request, queryset, *args))

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return BoundedChangeList

    # --- a row's page ---

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        omitted = (*self.exclude, *self.first_fields)
        names = [*(field.name for field in self.model._meta.fields), *self.readonly_fields]
        return [*self.first_fields, *(name for name in names if name not in omitted)]

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Return the actions that are available for this row."""
        row = self.get_object(request, object_id)
        unfold: Any = super()
        actions = unfold.get_actions_detail(request, object_id)
        return [action for action in actions if row is not None and action.method.is_available(row)]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        links = [(link.description, link.get_url(row, request)) for link in self.related_links] if row else []
        context = {"related_links": [(description, url) for description, url in links if url]}
        response = super().change_view(request, object_id, form_url, context | (extra_context or {}))
        if row is not None and response.status_code == 200:
            self.record_opening(request, row)
        return response

    def record_opening(self, request: HttpRequest, row: Any) -> None:
        """Record who opened the row, with its workspace and its chat."""
        meta = self.model._meta
        chat: dict[str, Any] = {"chat": str(row.chat_id)} if getattr(row, "chat_id", None) else {}
        audit.record(
            get_operator(request),
            "admin.opened",
            workspace_id=getattr(row, "workspace_id", None),
            object_id=row.pk if isinstance(row.pk, UUID) else None,
            table=meta.label,
            row=str(row.pk),
            **chat,
        )

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Delete the row with the reason that the page asks for."""
        view = super().delete_view
        return self._state_reason(request, lambda: view(request, object_id, extra_context))

    def _state_reason(self, request: HttpRequest, view: Callable[[], R]) -> R | HttpResponse:
        """Call a view of Django with the reason of the request, and show the form for it if the view asks to confirm."""
        form = ReasonForm(request.POST if request.method == "POST" else None)
        if form.is_bound and not form.is_valid():
            messages.error(request, " ".join(map(str, form.errors["reason"])))
            return redirect(request.get_full_path())
        with audit.state_reason(form.cleaned_data["reason"] if form.is_bound else ""):
            response = view()
        if isinstance(response, TemplateResponse) and response.context_data is not None:
            response.context_data["reason_form"] = form
        return response

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Redirect to the audit trail: Django's own log has only changes by forms."""
        return redirect(f"{reverse('admin:events_auditrecord_changelist')}?q={object_id}")


def action_menu(*names: str) -> tuple[Any, ...]:
    """Return the value of `actions_detail` that shows several actions as a menu on a row's page."""
    return ({"title": _("Actions"), "icon": "gavel", "items": names},)


def get_operator(request: HttpRequest) -> Any:
    """Return the operator. The site admits signed-in operators only."""
    return request.user
