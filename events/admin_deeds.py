"""What an operator may do to rows: services, offered on a row's page (with a form) and for many rows of a list."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_noop
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm

from common.errors import AppError
from common.operators import get_for_operator
from events.admin_lists import short

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise as Text

PERMISSION = "operate"
# With which words services refuse what is offered here: they say it in English, operators read it in their language.
REFUSALS = (
    gettext_noop("A summary or a merge is asked for again where it was asked for."),
    gettext_noop("A workspace keeps at least one editor."),
    gettext_noop("Agents have no account. Suspend or resume them."),
    gettext_noop("Nobody holds this draft."),
    gettext_noop("Only a run that failed or was stopped can be repeated."),
    gettext_noop("Only an agent that exists can be suspended or resumed."),
    gettext_noop("Only people with an open account have a password."),
    gettext_noop("There is no key."),
    gettext_noop("There is no such member."),
    gettext_noop("They are not in this chat."),
    gettext_noop("This merge is over."),
    gettext_noop("This run is over."),
    gettext_noop("You cannot deactivate yourself."),
)


@dataclass(frozen=True)
class Deed:
    """`act(row, operator, **fields)` calls the service that members use; it returns a text that is shown once, or nothing.

    `when` says which rows it is offered for; `form` asks for the fields; `in_bulk` puts it on the list, too.
    Every deed is a POST with a token against forgery: the page asks first.
    """

    name: str
    label: "Text"
    act: Callable[..., object]
    explained: "Text" = ""
    icon: str = ""
    when: Callable[[Any], bool] = lambda row: True
    form: type[Any] = BaseDialogForm
    is_grave: bool = False
    in_bulk: bool = True

    @property
    def path(self) -> str:
        """The last part of its address."""
        return self.name.replace("_", "-")

    def on_page(self) -> Any:
        """The method behind the button of a row's page."""
        deed = self

        def method(page: Any, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
            fields = {name: value for name, value in form.cleaned_data.items() if not name.startswith("_")}
            told = deed.tried(page, request, object_id, **fields)
            if isinstance(told, str):
                return render(request, "operators/shown_once.html", {"text": told})
            return _return(request, page, object_id)

        method.__name__ = self.name
        dialog = {"title": self.label, "description": self.explained, "form_class": self.form,
                  "form_submit_text": self.label}  # fmt: skip
        variant = ActionVariant.DANGER if self.is_grave else ActionVariant.DEFAULT
        return action(
            method, description=self.label, permissions=[PERMISSION], url_path=self.path,
            dialog=dialog, icon=self.icon or None, variant=variant,
        )  # fmt: skip

    def on_list(self) -> Any:
        """The action of a list: each row in its own transaction, and what was refused is said."""
        deed = self

        @admin.action(description=self.label, permissions=[PERMISSION])
        def method(page: Any, request: HttpRequest, rows: QuerySet[Any]) -> None:
            count = sum(deed.tried(page, request, row.pk) is not False for row in rows)
            if count:
                messages.success(request, f"{deed.label}: {count}")

        method.__name__ = f"each_{self.name}"
        return method

    def tried(self, page: Any, request: HttpRequest, row_id: Any, **fields: Any) -> object:
        """What the service returned; False when it refused, and then the operator reads why."""
        row = None
        try:
            with transaction.atomic():
                row = get_for_operator(request.user, page.model, row_id)
                done = self.act(row, request.user, **fields)
        except AppError as refusal:
            messages.error(request, f"{short(row) if row else self.label}: {gettext(refusal.message)}")
            return False
        return done if isinstance(done, str) else None


def _return(request: HttpRequest, page: Any, object_id: str) -> HttpResponse:
    """Back to the row, or to the list when the row is gone."""
    meta = page.model._meta
    name = f"admin:{meta.app_label}_{meta.model_name}"
    there = page.model._default_manager.filter(pk=object_id).exists()
    answer = redirect(f"{name}_change", object_id) if there else redirect(f"{name}_changelist")
    if "HX-Request" in request.headers:  # the dialog is part of a page: the whole page goes
        return HttpResponse(headers={"HX-Redirect": answer.headers["Location"]})
    return answer
