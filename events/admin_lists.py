"""How the operators' lists stay fast on long tables, and how their cells lead on to other rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from django.apps import apps
from django.contrib import admin
from django.core import paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from common.clock import now
from common.ids import id_at
from common.operators import may_operate

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise as Text

    Paginator = paginator.Paginator[Any]
else:
    Paginator = paginator.Paginator

COUNTED = 10_000
"""Rows beyond these are not counted: a list then says that there are at least so many."""


Column = Callable[[Any], Any]
"""A computed column; what is null shows as a dash."""


class AtLeast(int):
    """A count that was broken off."""

    def __str__(self) -> str:
        return f"{int(self):,}+"


class BoundedPaginator(Paginator):
    """Pages through the first `COUNTED` rows; who looks for older ones narrows the list."""

    @cached_property
    def count(self) -> int:
        """At most `COUNTED`: no list waits for a count over millions of rows."""
        rows: Any = self.object_list
        found: int = rows.order_by()[: COUNTED + 1].count()
        return found if found <= COUNTED else AtLeast(COUNTED)


class When(admin.SimpleListFilter):
    """By the time in the row's id (UUIDv7), which is in the primary key's index: cheap on any table."""

    title = _("made within")
    parameter_name = "when"
    SPANS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7),
             "month": timedelta(days=30)}  # fmt: skip
    NAMES = {"hour": _("The last hour"), "day": _("The last day"), "week": _("The last week"),
             "month": _("The last month")}  # fmt: skip

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return self.NAMES.items()

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        span = self.SPANS.get(self.value() or "")
        return queryset.filter(pk__gte=id_at(now() - span)) if span else queryset


def among(column: str, values: "Mapping[str, Text]") -> type[admin.SimpleListFilter]:
    """A filter by values that are known, with their names, for a long table: Django's own would look through all rows for
    what there is.
    """

    class Among(admin.SimpleListFilter):
        title = _(column.replace("_", " "))
        parameter_name = column

        def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
            return values.items()

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
            return queryset.filter(**{column: self.value()}) if self.value() else queryset

    return Among


def page_of(table: type[Model] | str, row_id: Any) -> str:
    """The address of a row's page; empty when its table is not in the admin."""
    meta = (apps.get_model(table) if isinstance(table, str) else table)._meta
    try:
        return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row_id])
    except NoReverseMatch:
        return ""


def anchor(address: str, text: object) -> str:
    """A link, or the bare text when there is no address. Both are escaped."""
    return format_html('<a class="text-link" href="{}">{}</a>', address, text) if address else format_html("{}", text)


def linked(path: str, label: "Text" = "") -> Column:
    """A column that leads to the row which the foreign key `path` names, e.g. `agent` or `chat__workspace`.

    Without a label it is called as the field is (config/operators/names.py).
    """

    def column(row: Any) -> str | None:
        for name in path.split("__"):
            row = getattr(row, name, None)
        return None if row is None else anchor(page_of(type(row), row.pk), short(row))

    return _described(column, path, label or _(path.split("__")[-1].replace("_", " ")), order=path)


def named(field: str, names: "Mapping[str, Text]") -> Column:
    """A column of words that the database keeps in short."""

    def column(row: Any) -> "Text":
        value = getattr(row, field)
        return names.get(value, value)

    return _described(column, f"{field}_named", _(field.replace("_", " ")), order=field)


def referred(field: str, table: str, label: "Text" = "") -> Column:
    """A column that leads to the row whose id stands in the plain column `field`."""

    def column(row: Any) -> str | None:
        row_id: UUID | None = getattr(row, field)
        return None if row_id is None else anchor(page_of(table, row_id), f"…{str(row_id)[-8:]}")

    return _described(column, f"{field}_link", label or _(field.removesuffix("_id").replace("_", " ")), order=field)


def _described(column: Any, name: str, label: "Text", *, order: str) -> Column:
    column.__name__ = name
    column.short_description = label
    column.admin_order_field = order
    described: Column = column
    return described


def short(row: object, most: int = 48) -> str:
    """A row's name, cut; of one that has only an id, the end of it."""
    text = str(row)
    if text == str(getattr(row, "pk", "")):
        return f"…{text[-8:]}"
    return text if len(text) <= most else text[: most - 1] + "…"


@dataclass(frozen=True)
class Related:
    """A list that belongs to a row: `table`, narrowed by `by` (a lookup) to the row's `value`, for rows that `when` names.

    `is_new`: not the list, but the form for another row of it, with `by` filled in.
    """

    label: "Text"
    table: str
    by: str
    value: str = "pk"
    when: Callable[[Any], bool] = lambda row: True
    is_new: bool = False

    def address(self, row: Any, request: HttpRequest) -> str:
        """Empty when it does not concern this row, or the operator may not see that table (or add to it)."""
        table = apps.get_model(self.table)
        name = f"{table._meta.app_label}_{table._meta.model_name}"
        value = getattr(row, self.value)
        if value is None or not self.when(row) or not self._is_open_to(request.user, table):
            return ""
        page = "add" if self.is_new else "changelist"
        return f"{reverse(f'admin:{name}_{page}')}?{urlencode({self.by: value})}"

    def _is_open_to(self, operator: Any, table: type[Model]) -> bool:
        seen = operator.has_perm(f"{table._meta.app_label}.view_{table._meta.model_name}")
        return may_operate(operator, table) if self.is_new else bool(seen)


def related_links(related: tuple[Related, ...], row: Any, request: HttpRequest) -> Iterator[tuple["Text", str]]:
    """The (label, address) of each list that belongs to the row."""
    for one in related:
        if address := one.address(row, request):
            yield one.label, address
