"""Links from a row in the admin to other rows and lists."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.apps import apps
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from common.operators import may_operate

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

Column = Callable[[Any], Any]
"""A computed column of a list, or a computed field of a row's page."""


def get_change_url(model: type[Model] | str, pk: object) -> str:
    """Return the URL of a row's page; empty if the model is not in the admin."""
    meta = (apps.get_model(model) if isinstance(model, str) else model)._meta
    try:
        return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[pk])
    except NoReverseMatch:
        return ""


def link(url: str, text: object) -> str:
    """Return an HTML link, or the bare text when there is no URL. Both are escaped."""
    return format_html('<a class="text-link" href="{}">{}</a>', url, text) if url else format_html("{}", text)


def short_name(row: object, max_length: int = 48) -> str:
    """Return the name of a row, truncated; the end of its id if it has no name."""
    text = str(row)
    if text == str(getattr(row, "pk", "")):
        return f"…{text[-8:]}"
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def link_column(path: str, description: "StrOrPromise" = "") -> Column:
    """Return a column that links to the row of the foreign key `path`, for example `agent` or `spec__agent`.

    Without a description the column is named like the field.
    """

    @admin.display(description=description or _(path.split("__")[-1].replace("_", " ")), ordering=path)
    def column(row: Any) -> str | None:
        for name in path.split("__"):
            row = getattr(row, name, None)
        return None if row is None else link(get_change_url(type(row), row.pk), short_name(row))

    column.__name__ = path
    return column


def id_column(field: str, model: str, description: "StrOrPromise") -> Column:
    """Return a column that links to the row whose id is in `field`, which is not a foreign key."""

    @admin.display(description=description, ordering=field)
    def column(row: Any) -> str | None:
        pk = getattr(row, field)
        return None if pk is None else link(get_change_url(model, pk), f"…{str(pk)[-8:]}")

    column.__name__ = f"{field}_link"
    return column


@dataclass(frozen=True)
class RelatedLink:
    """A link on a row's page to the rows of another model whose `lookup` equals the field of this row that `value` names.

    The link is shown for the rows that are `is_shown`. With `is_add` it leads to the form for a new row, with `lookup` filled in.
    """

    description: "StrOrPromise"
    model: str
    lookup: str
    value: str = "pk"
    is_shown: Callable[[Any], bool] = lambda row: True
    is_add: bool = False

    def get_url(self, row: Any, request: HttpRequest) -> str:
        """Return the URL; empty if the link is not for this row, or the operator may not open its page."""
        model = apps.get_model(self.model)
        meta = model._meta
        value = getattr(row, self.value)
        if self.is_add:
            has_permission = may_operate(request.user, model)
        else:
            has_permission = request.user.has_perm(f"{meta.app_label}.view_{meta.model_name}")
        if value is None or not self.is_shown(row) or not has_permission:
            return ""
        page = "add" if self.is_add else "changelist"
        return f"{reverse(f'admin:{meta.app_label}_{meta.model_name}_{page}')}?{urlencode({self.lookup: value})}"


def audit_link(description: "StrOrPromise" = "", value: str = "pk") -> RelatedLink:
    """Return a link to the audit records about the row, or about another row whose id is in the field `value`."""
    return RelatedLink(description or _("Audit"), "events.auditrecord", "q", value=value)
