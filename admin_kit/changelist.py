"""Lists of long tables: counts stop early, and filters use the index of the primary key."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core import paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from common.clock import now
from common.ids import get_lowest_id_at

if TYPE_CHECKING:
    Paginator = paginator.Paginator[Any]
else:
    Paginator = paginator.Paginator

MAX_COUNT = 10_000
"""Rows beyond this number are not counted; the list then shows `10,000+`."""


class AtLeast(int):
    """A count that stopped at `MAX_COUNT`."""

    def __str__(self) -> str:
        return f"{int(self):,}+"


class BoundedPaginator(Paginator):
    """Pages through the first `MAX_COUNT` rows, because counting millions of rows is slow."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        found: int = rows.order_by()[: MAX_COUNT + 1].count()
        return found if found <= MAX_COUNT else AtLeast(MAX_COUNT)


class BoundedChangeList(ChangeList):
    """A list of a table that is not counted as a whole. `full_result_count` is set so that the theme shows no "Show all"."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.full_result_count = self.result_count


class CreatedWithinFilter(admin.SimpleListFilter):
    """Filters by the time in the row's id (UUIDv7), so that the index of the primary key is used."""

    title = _("made within")
    parameter_name = "when"
    DURATIONS = {
        "hour": timedelta(hours=1),
        "day": timedelta(days=1),
        "week": timedelta(days=7),
        "month": timedelta(days=30),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [
            ("hour", _("The last hour")),
            ("day", _("The last day")),
            ("week", _("The last week")),
            ("month", _("The last month")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        duration = self.DURATIONS.get(self.value() or "")
        return queryset.filter(pk__gte=get_lowest_id_at(now() - duration)) if duration else queryset
