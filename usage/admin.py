"""The admin pages of the ledger, and of budgets and prices, which operators set."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.widgets import UnfoldAdminDecimalFieldWidget

from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import RelatedLink, audit_link, id_column, link_column
from admin_kit.model_admin import ReadOnlyAdmin, get_operator
from common.errors import AppError
from common.operators import may_operate
from events.payloads import BudgetPeriod, BudgetScope
from usage import services as usage
from usage.models import Balance, Budget, LLMCall, ModelPrice, Reservation, TokenFactor
from usage.services.budgets import MAX_LIMIT_TOKENS, MAX_MICRO

MICRO = 1_000_000


@admin.display(description=_("cost"), ordering="cost_micro")
def cost(row: Any) -> str:
    """Return US dollars; a dash where the price is not known."""
    return "–" if row.cost_micro is None else f"${row.cost_micro / 1_000_000:.4f}"


@admin.display(description=_("limit"))
def limit(row: Any) -> str:
    """Return US dollars or tokens."""
    return _format_amount(row, row.limit)


@admin.display(description=_("spent"))
def spent(row: Any) -> str:
    """Return what is spent of a budget, in its unit."""
    return _format_amount(row.budget, row.spent)


@admin.display(description=_("reserved"))
def reserved(row: Any) -> str:
    """Return what is reserved in a balance, in the unit of its budget."""
    return _format_amount(row.budget, row.reserved_micro if row.budget.limit_tokens is None else row.reserved_tokens)


@admin.display(description=_("reserved"))
def reserved_amount(row: Any) -> str:
    """Return what a call has reserved, in the unit of the budget."""
    budget = row.balance.budget
    return _format_amount(budget, row.amount_micro if budget.limit_tokens is None else row.amount_tokens)


@admin.display(description=_("question, per million tokens"), ordering="input_micro")
def input_price(row: Any) -> str:
    """Return US dollars."""
    return f"${row.input_micro / MICRO:,.2f}"


@admin.display(description=_("answer, per million tokens"), ordering="output_micro")
def output_price(row: Any) -> str:
    """Return US dollars."""
    return f"${row.output_micro / MICRO:,.2f}"


def _format_amount(budget: Budget, amount: int) -> str:
    return (
        f"${amount / MICRO:,.2f}"
        if budget.limit_tokens is None
        else ngettext("%(count)s token", "%(count)s tokens", amount) % {"count": f"{amount:,}"}
    )


class DollarsField(forms.DecimalField):
    """A field in US dollars for a column in millionths of a dollar."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=MAX_MICRO // MICRO, decimal_places=6, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return Decimal(value) / MICRO if isinstance(value, int) else value

    def clean(self, value: Any) -> int | None:
        dollars = super().clean(value)
        return None if dollars is None else int(dollars * MICRO)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial), data)


@admin.register(LLMCall)
class LLMCallAdmin(ReadOnlyAdmin):
    exclude = ("request",)
    list_display = (
        "created_at",
        link_column("agent"),
        link_column("workspace"),
        id_column("run_id", "runs.run", _("run")),
        link_column("on_behalf_of", _("for")),
        "provider",
        "model",
        "input_tokens",
        "output_tokens",
        cost,
        "paid_by",
        "tries",
        "error_code",
    )
    list_filter = ("provider", "paid_by", CreatedWithinFilter)
    list_select_related = ("agent", "workspace", "on_behalf_of")
    search_fields = ("agent__name", "workspace__name", "on_behalf_of__name", "=model")
    search_id_fields = ("run_id", "tree_id", "chat_id", "agent_id", "workspace_id", "on_behalf_of_id")
    sortable_by = ()


def _show_refusal(view: Callable[..., HttpResponse], request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    try:
        return view(request, *args, **kwargs)
    except AppError as error:
        messages.error(request, error.message)
        return redirect(request.get_full_path())


class OwnedByOperatorAdmin(ReadOnlyAdmin):
    """A table whose rows editors and operators set. Operators create, change and delete those of operators, which is audited."""

    changeable_fields: ClassVar[tuple[str, ...]]
    """Fields that can be changed in a stored row."""
    dollar_labels: ClassVar[dict[str, Any]]
    """The labels of the columns in millionths of a dollar. Forms have them in dollars."""

    def is_of_operator(self, row: Any) -> bool:
        """Return whether an operator has set the row."""
        raise NotImplementedError

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate(request.user, self.model)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate(request.user, self.model) and (obj is None or self.is_of_operator(obj))

    has_delete_permission = has_change_permission

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = [name for name in self.get_fields(request, obj) if name not in self.changeable_fields]
        return fields if obj is not None else ()

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Show amounts of money in dollars, and limit them as the API does."""
        if label := self.dollar_labels.get(db_field.name):
            return DollarsField(label=label, required=not db_field.blank, widget=UnfoldAdminDecimalFieldWidget())
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the form again, with the reason, if the service refuses the row."""
        return _show_refusal(super().changeform_view, request, *args, **kwargs)

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the list again, with the reason, if the service refuses to delete one of the selected rows."""
        return _show_refusal(super().changelist_view, request, *args, **kwargs)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return what is deleted with the rows. Balances need no permission of their own."""
        to_delete, counts, _needed, protected = super().get_deleted_objects(objs, request)
        return to_delete, counts, set(), protected

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for row in queryset:
            self.delete_model(request, row)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Write nothing to Django's own log, because the action is in the audit trail."""

    log_addition = log_change

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Write nothing to Django's own log, because the action is in the audit trail."""


class BudgetForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic at run time
    """The form for a budget of an operator."""

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or {}
        if self.instance._state.adding and "workspace" in fields:
            same = {name: fields.get(name) for name in ("workspace", "scope", "period", "subject")}
            if (fields.get("scope") == BudgetScope.RUN_TREE) != (fields.get("period") == BudgetPeriod.RUN):
                raise forms.ValidationError(_("A budget for a run has the period run, and no other has it."))
            in_tokens = fields.get("limit_tokens") is not None
            if Budget.objects.filter(**same, by_operator=True, limit_tokens__isnull=not in_tokens).exists():
                raise forms.ValidationError(_("There is such a budget already."))
        if not self.errors and (fields.get("limit_micro") is None) == (fields.get("limit_tokens") is None):
            raise forms.ValidationError(_("A budget has one limit, either in dollars or in tokens."))
        return fields


@admin.register(Budget)
class BudgetAdmin(OwnedByOperatorAdmin):
    list_display = (link_column("workspace"), "scope", "period", link_column("subject"), limit, "by_operator")
    list_filter = ("scope", "period", "by_operator")
    list_select_related = ("workspace", "subject")
    search_fields = ("workspace__name",)
    search_id_fields = ("workspace_id", "subject_id")
    autocomplete_fields = ("workspace", "subject")
    related_links = (RelatedLink(_("Balances"), "usage.balance", "budget__id__exact"), audit_link())
    audit_prefixes = ("budget",)
    form = BudgetForm
    changeable_fields = ("limit_micro", "limit_tokens", "refuses_unpriced")
    dollar_labels: ClassVar = {"limit_micro": _("limit in US dollars")}

    def is_of_operator(self, row: Any) -> bool:
        return bool(row.by_operator)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Say when the periods of an operator's budget begin, and what else is not obvious."""
        if db_field.name == "limit_tokens":
            kwargs |= {"min_value": 0, "max_value": MAX_LIMIT_TOKENS}
            kwargs["help_text"] = _(
                "Instead of dollars: the tokens of questions and answers, also of models without a price."
            )
        if db_field.name == "refuses_unpriced":
            kwargs["help_text"] = _(
                "Otherwise a budget in dollars does not limit these models. Their price can be set, also to 0."
            )
        if db_field.name == "period":
            kwargs["help_text"] = _(
                "Days and months begin at midnight in UTC, whatever the time zone of the workspace."
            )
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ("workspace", "scope", "period", "subject", *self.changeable_fields)
        if not self.has_change_permission(request, obj):
            return ("workspace", "scope", "period", "subject", limit, "refuses_unpriced", "by_operator")
        return ("workspace", "scope", "period", "subject", *self.changeable_fields)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        operator = get_operator(request)
        if change:
            usage.change_budget(
                operator,
                obj.pk,
                limit_micro=obj.limit_micro,
                limit_tokens=obj.limit_tokens,
                refuses_unpriced=obj.refuses_unpriced,
                revision=obj.revision,
                as_operator=True,
            )
            return
        budget = usage.create_budget(
            operator,
            obj.workspace_id,
            scope=BudgetScope(obj.scope),
            period=BudgetPeriod(obj.period),
            limit_micro=obj.limit_micro,
            limit_tokens=obj.limit_tokens,
            refuses_unpriced=obj.refuses_unpriced,
            subject_id=obj.subject_id,
            as_operator=True,
        )
        obj.pk = budget.pk  # the service has stored the row, and Django redirects to it by `obj`

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        usage.delete_budget(get_operator(request), obj.pk, as_operator=True)


@admin.register(Balance)
class BalanceAdmin(ReadOnlyAdmin):
    list_display = (link_column("budget"), "starts_on", "ends_at", spent, reserved, "warned_at")
    list_select_related = ("budget__workspace",)
    search_id_fields = ("budget_id", "subject_id")


@admin.register(Reservation)
class ReservationAdmin(ReadOnlyAdmin):
    list_display = ("created_at", link_column("balance"), "holder_id", "attempt", reserved_amount, "expires_at")
    list_select_related = ("balance__budget__workspace",)
    search_id_fields = ("balance_id", "holder_id")


@admin.register(TokenFactor)
class TokenFactorAdmin(ReadOnlyAdmin):
    list_display = ("provider", "model", link_column("workspace"), "factor", "samples", "context_size", "updated_at")
    list_filter = ("provider",)
    list_select_related = ("workspace",)
    search_fields = ("model", "workspace__name")
    search_id_fields = ("workspace_id",)
    sortable_by = ()


@admin.register(ModelPrice)
class ModelPriceAdmin(OwnedByOperatorAdmin):
    list_display = ("provider", "model", link_column("workspace"), input_price, output_price)
    list_filter = ("provider",)
    list_select_related = ("workspace",)
    search_fields = ("model", "workspace__name")
    search_id_fields = ("workspace_id",)
    related_links = (audit_link(),)
    audit_prefixes = ("price",)
    changeable_fields = ("input_micro", "output_micro")
    dollar_labels: ClassVar = {
        "input_micro": _("question, in US dollars per million tokens"),
        "output_micro": _("answer, in US dollars per million tokens"),
    }

    def is_of_operator(self, row: Any) -> bool:
        return row.workspace_id is None

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ("provider", "model", *self.changeable_fields)
        if not self.has_change_permission(request, obj):
            return ("workspace", "provider", "model", input_price, output_price)
        return ("provider", "model", *self.changeable_fields)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        price = usage.set_price(
            get_operator(request),
            None,
            provider=obj.provider,
            model=obj.model,
            input_micro=obj.input_micro,
            output_micro=obj.output_micro,
        )
        obj.pk = price.pk  # as for a budget

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        usage.delete_price(get_operator(request), obj.pk, as_operator=True)
