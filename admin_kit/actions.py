"""Admin actions that call a service, for the selected rows of a list and as a button on a row's page."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, cast

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm

from admin_kit.links import get_change_url, link, short_name
from admin_kit.reasons import ReasonForm
from common.errors import AppError
from common.operators import get_for_operator
from events import audit

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


MAX_ROWS = 500
"""Selected rows of an action that asks for a reason. The page that asks has a field for each of them."""


@dataclass(frozen=True)
class RedirectTo:
    """The result of an action that leads the operator to another page."""

    url: str


def service_action(
    description: "StrOrPromise",
    help_text: "StrOrPromise" = "",
    *,
    icon: str,
    is_dangerous: bool = False,
    asks_reason: bool = False,
    is_available: Callable[[Any], bool] = lambda row: True,
    form_class: type[Any] = BaseDialogForm,
    needs_session: bool = False,
) -> Callable[[Callable[..., str | RedirectTo | None]], Any]:
    """Turn a method `(self, row, operator, **fields)` of a `ReadOnlyAdmin`, which calls a service, into an admin action.

    Add its name to `actions` for the list, and to `actions_detail` for a button on the row's page, which opens a dialog with
    `help_text` and the fields of `form_class`. The button is shown for the rows that are `is_available`. If the method returns a
    text, it is shown once. An `AppError` is shown to the operator. `needs_session`: the method gets the `session` of the operator.

    An action that `asks_reason` or `is_dangerous` has an optional reason, which is stored in its audit records, unless its form has
    a `reason` of its own. The dialog of the button has a field for it, and the list shows a page that asks for it.
    """
    adds_reason = (asks_reason or is_dangerous) and "reason" not in form_class.base_fields
    reason = {"reason": ReasonForm.base_fields["reason"]} if adds_reason else {}
    dialog_form = type(form_class.__name__, (form_class,), reason)

    def decorate(method: Callable[..., str | RedirectTo | None]) -> Any:
        @wraps(method)
        def submit_dialog(model_admin: Any, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
            fields = {name: value for name, value in form.cleaned_data.items() if not name.startswith("_")}
            fields |= {"session": request.session} if needs_session else {}
            reason = fields.pop("reason") if adds_reason else ""
            with audit.state_reason(reason):
                result = _call_service(model_admin, request, object_id, method, description, fields)[1]
            if isinstance(result, RedirectTo):
                return _redirect(request, redirect(result.url))
            if result:
                return render(request, "admin_kit/shown_once.html", {"text": result})
            return _redirect_to_row(request, model_admin, object_id)

        show_dialog = action(
            submit_dialog,
            description=description,
            permissions=["operate"],
            url_path=method.__name__.replace("_", "-"),
            icon=icon,
            variant=ActionVariant.DANGER if is_dangerous else ActionVariant.DEFAULT,
            dialog={
                "title": description,
                "description": help_text,
                "form_class": dialog_form,
                "form_submit_text": description,
            },
        )

        # One function is the action of the list and of the button, because Django and unfold read the same attributes of it.
        @wraps(show_dialog)
        def admin_action(
            model_admin: Any, request: HttpRequest, queryset: "QuerySet[Any] | None" = None, *, object_id: str = ""
        ) -> HttpResponse | None:
            if queryset is None:
                return cast(HttpResponse, show_dialog(model_admin, request, object_id=object_id))
            if adds_reason and "post" not in request.POST:
                return _ask_to_confirm(model_admin, request, queryset, method.__name__, description, help_text)
            count = sum(_call_service(model_admin, request, row.pk, method, description, {})[0] for row in queryset)
            if count:
                messages.success(request, f"{description}: {count}")
            return None

        setattr(admin_action, "is_available", is_available)  # noqa: B010
        return admin_action

    return decorate


def _ask_to_confirm(
    model_admin: Any,
    request: HttpRequest,
    queryset: "QuerySet[Any]",
    name: str,
    description: "StrOrPromise",
    help_text: "StrOrPromise",
) -> HttpResponse | None:
    """Return the page that asks for a reason before the action changes the selected rows."""
    rows = list(queryset[: MAX_ROWS + 1])
    if len(rows) > MAX_ROWS:
        messages.error(request, _("Select at most %(count)s rows.") % {"count": MAX_ROWS})
        return None
    context = {
        **model_admin.admin_site.each_context(request),
        "title": description,
        "help_text": help_text,
        "names": [link(get_change_url(model_admin.model, row.pk), short_name(row)) for row in rows],
        "queryset": rows,
        "action": name,
        "action_checkbox_name": ACTION_CHECKBOX_NAME,
        "opts": model_admin.opts,
        "media": model_admin.media,
    }
    return TemplateResponse(request, model_admin.delete_selected_confirmation_template, context)


def _call_service(
    model_admin: Any,
    request: HttpRequest,
    pk: Any,
    method: Callable[..., str | RedirectTo | None],
    description: "StrOrPromise",
    fields: dict[str, Any],
) -> tuple[bool, str | RedirectTo | None]:
    """Call the method for one row, in a transaction. Return whether it succeeded, and its result."""
    row = None
    try:
        with transaction.atomic():
            row = get_for_operator(request.user, model_admin.model, pk)
            return True, method(model_admin, row, request.user, **fields)
    except AppError as error:
        messages.error(request, f"{short_name(row) if row else description}: {error.message}")
        return False, None


def _redirect_to_row(request: HttpRequest, model_admin: Any, object_id: str) -> HttpResponse:
    """Redirect to the row, or to the list when the row was deleted."""
    meta = model_admin.model._meta
    name = f"admin:{meta.app_label}_{meta.model_name}"
    exists = model_admin.model._default_manager.filter(pk=object_id).exists()
    return _redirect(request, redirect(f"{name}_change", object_id) if exists else redirect(f"{name}_changelist"))


def _redirect(request: HttpRequest, response: HttpResponseRedirect) -> HttpResponse:
    if "HX-Request" in request.headers:  # the dialog is a part of the page, and htmx must replace the whole page
        return HttpResponse(headers={"HX-Redirect": response.headers["Location"]})
    return response
