"""The ledger of the requests to models, the prices, and the budgets with what is spent and reserved."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agents.models import AgentSpec
from common.models import Identified, WithRevision, build_display_name
from common.providers import list_provider_choices
from events.payloads import BudgetPeriod, BudgetScope
from events.rows import LLMCallRow, ModelPriceRow
from usage.owners import Amounts
from workspaces.models import Workspace


class Payer(models.TextChoices):
    """Whose key paid for a model call."""

    PERSON = "person", _("person")
    WORKSPACE = "workspace", _("workspace")
    SYSTEM = "system", _("system")
    DEMO = "demo", _("demo")


class LLMCalls(models.Manager["LLMCall"]):
    """Reads ledger entries without the requests, which are large; `only("request")` reads them."""

    def get_queryset(self) -> models.QuerySet["LLMCall"]:
        return super().get_queryset().defer("request")


class LLMCall(Identified):
    """A ledger entry: one request to a model. A model test has neither a run nor an agent, and the test of a person's own model has
    no workspace. A request for embeddings has a chat, and no run. If a person pays, it is the one of `on_behalf_of`.

    It outlives its run, chat, agent and person. `tree_id` is the id of the first run of the tree that the run belongs to.
    `is_draft`: the text of an applied draft answered. `cost_micro` is in millionths of a dollar; null: the price is not known.
    """

    workspace = models.ForeignKey(
        Workspace,
        verbose_name=_("workspace"),
        null=True,
        on_delete=models.CASCADE,
        related_name="llm_calls",
        db_index=False,
    )
    run_id = models.UUIDField(_("run id"), null=True)
    tree_id = models.UUIDField(_("tree id"), null=True)
    chat_id = models.UUIDField(_("chat id"), null=True)
    step_number = models.PositiveSmallIntegerField(_("step number"))
    attempt = models.PositiveIntegerField(_("attempt"))
    agent = models.ForeignKey(
        "actors.Actor", verbose_name=_("agent"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    spec = models.ForeignKey(AgentSpec, verbose_name=_("spec"), null=True, on_delete=models.SET_NULL, related_name="+")
    is_draft = models.BooleanField(_("is draft"), default=False)
    on_behalf_of = models.ForeignKey(
        "actors.Actor", verbose_name=_("on behalf of"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    provider = models.CharField(_("provider"), max_length=24, choices=list_provider_choices)
    model = models.CharField(_("model"), max_length=200)
    paid_by = models.CharField(_("paid by"), max_length=12, choices=Payer.choices)
    input_tokens = models.PositiveIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveIntegerField(_("output tokens"), default=0)
    tokens_estimated = models.BooleanField(_("tokens estimated"), default=False)
    cost_micro = models.BigIntegerField(_("cost micro"), null=True)
    tries = models.PositiveSmallIntegerField(_("tries"), default=1)
    first_token_ms = models.PositiveIntegerField(_("first token ms"), null=True)
    total_ms = models.PositiveIntegerField(_("total ms"), null=True)
    finish = models.CharField(_("finish"), max_length=20, blank=True, default="")
    error_code = models.CharField(_("error code"), max_length=40, blank=True, default="")
    # As `llm.sent_requests` encodes it; null: not stored, or removed after `SENT_REQUEST_DAYS`.
    request = models.BinaryField(_("request"), null=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    objects = LLMCalls()

    class Meta:
        verbose_name = _("model call")
        verbose_name_plural = _("model calls")
        constraints = [
            models.CheckConstraint(
                condition=Q(run_id=None, tree_id=None, agent=None, spec=None)
                | Q(run_id__isnull=False, tree_id__isnull=False),
                name="llm_call_of_run_or_test",
            ),
            models.CheckConstraint(
                condition=Q(workspace__isnull=False) | Q(run_id=None, paid_by="person"),
                name="llm_call_of_workspace_or_person",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "created_at"], name="ledger_by_workspace"),
            models.Index(fields=["run_id"], name="ledger_by_run", condition=Q(run_id__isnull=False)),
            models.Index(fields=["id"], name="ledger_with_request", condition=Q(request__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.model} · …{str(self.run_id)[-8:]}" if self.run_id else self.model

    def to_row(self) -> LLMCallRow:
        return LLMCallRow(
            id=self.id,
            created_at=self.created_at,
            agent_name=self.agent.name if self.agent else "",
            provider=self.provider,
            model=self.model,
            paid_by=self.paid_by,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            tokens_estimated=self.tokens_estimated,
            cost_micro=self.cost_micro,
            tries=self.tries,
            seconds=None if self.total_ms is None else self.total_ms / 1000,
            error_code=self.error_code,
        )


class ModelPrice(Identified, WithRevision):
    """A price that replaces the listed price of a model, in millionths of a dollar per million tokens.

    `workspace` null: set by an operator, for all workspaces. `model` empty: for all models of the provider. What the operator's key
    pays always has the operator's price.
    """

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), null=True, blank=True, on_delete=models.CASCADE, related_name="prices"
    )
    provider = models.CharField(_("provider"), max_length=24, choices=list_provider_choices)
    model = models.CharField(_("model"), max_length=200, blank=True, default="")
    input_micro = models.BigIntegerField(_("input micro"))
    output_micro = models.BigIntegerField(_("output micro"))

    class Meta:
        verbose_name = _("price")
        verbose_name_plural = _("prices")
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "provider", "model"], name="one_price_per_model", nulls_distinct=False
            ),
            models.CheckConstraint(condition=Q(input_micro__gte=0, output_micro__gte=0), name="price_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.provider} · {self.model or '*'}"

    def to_row(self) -> ModelPriceRow:
        return ModelPriceRow(
            id=self.id,
            provider=self.provider,
            model=self.model,
            input_micro=self.input_micro,
            output_micro=self.output_micro,
            by_operator=self.workspace_id is None,
            revision=self.revision,
        )


class TokenFactor(Identified):
    """How many tokens a model of a workspace counts for one of our estimate (`llm.tokens`): a smoothed mean of `samples` requests.

    Each workspace learns factors of its own, because the server of one workspace could report anything.

    `context_size`: the most tokens of a request, as the server `context_server` (an `api_base`) said or showed by refusing a longer
    one; null: not known.
    """

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="token_factors"
    )
    provider = models.CharField(_("provider"), max_length=24, choices=list_provider_choices)
    model = models.CharField(_("model"), max_length=200)
    factor = models.FloatField(_("factor"))
    samples = models.PositiveIntegerField(_("samples"), default=1)
    context_size = models.PositiveIntegerField(_("context size"), null=True, blank=True)
    context_server = models.CharField(_("server of the context size"), max_length=400, blank=True, db_default="")
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)

    class Meta:
        verbose_name = _("token factor")
        verbose_name_plural = _("token factors")
        constraints = [models.UniqueConstraint(fields=["workspace", "provider", "model"], name="one_factor_per_model")]

    def __str__(self) -> str:
        return f"{self.provider} · {self.model}"


class Budget(Identified, WithRevision):
    """The most that calls of models may use in a period: either millionths of a dollar, or tokens of questions and answers.

    `refuses_unpriced`: whether a budget in dollars refuses calls of models whose price is not known, which it could not count.
    `subject`: the person or the agent. Null: the budget is for the workspace or for each tree, or for each person or agent that has
    none of its own. A budget `by_operator` counts what the operator's key pays; any other counts what that key and the
    workspace's own key pay.
    """

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="budgets"
    )
    scope = models.CharField(_("scope"), max_length=12, choices=BudgetScope.choices)
    period = models.CharField(_("period"), max_length=8, choices=BudgetPeriod.choices)
    subject = models.ForeignKey(
        "actors.Actor", verbose_name=_("subject"), null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    limit_micro = models.BigIntegerField(_("limit micro"), null=True, blank=True)
    limit_tokens = models.BigIntegerField(_("limit in tokens"), null=True, blank=True)
    refuses_unpriced = models.BooleanField(_("refuses models without a known price"), default=True)
    by_operator = models.BooleanField(_("by operator"), default=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("budget")
        verbose_name_plural = _("budgets")
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "scope", "period", "subject", "by_operator"],
                condition=Q(limit_tokens=None),
                name="one_budget_in_dollars",
                nulls_distinct=False,
            ),
            models.UniqueConstraint(
                fields=["workspace", "scope", "period", "subject", "by_operator"],
                condition=Q(limit_micro=None),
                name="one_budget_in_tokens",
                nulls_distinct=False,
            ),
            models.CheckConstraint(condition=Q(scope__in=BudgetScope.values), name="budget_scope_known"),
            models.CheckConstraint(
                condition=Q(scope="run_tree", period="run") | ~Q(scope="run_tree") & Q(period__in=["day", "month"]),
                name="budget_period_of_scope",
            ),
            models.CheckConstraint(
                condition=Q(subject=None) | Q(scope__in=["person", "agent"]), name="budget_subject_of_scope"
            ),
            models.CheckConstraint(
                condition=Q(limit_micro__gte=0, limit_tokens=None) | Q(limit_micro=None, limit_tokens__gte=0),
                name="budget_has_one_limit",
            ),
        ]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'workspace')} · {self.get_scope_display()} · {self.get_period_display()}"

    @property
    def limit(self) -> int:
        """The limit in the unit of the budget."""
        limit = self.limit_micro if self.limit_tokens is None else self.limit_tokens
        if limit is None:
            raise TypeError("A constraint of the table gives each budget one of the two limits.")
        return limit


class Balance(Identified):
    """What one subject has used of a budget in one period: the cost and the tokens of its calls, and what is reserved for those
    under way. Only those of the unit of the budget count.

    `subject_id` is that of the workspace, the person, the agent or the first run of the tree. `starts_on` and `ends_at` are null
    for the budget of a run; otherwise they depend on a time zone (`get_time_zone`). If that of the workspace is changed,
    `move_balances` moves the balances. `warned_at`: when `WARNING_SHARE` was spent; only budgets of a day or a month notify then.
    """

    budget = models.ForeignKey(Budget, verbose_name=_("budget"), on_delete=models.CASCADE, related_name="balances")
    subject_id = models.UUIDField(_("subject id"))
    starts_on = models.DateField(_("starts on"), null=True)
    ends_at = models.DateTimeField(_("ends at"), null=True)
    spent_micro = models.BigIntegerField(_("spent micro"), default=0)
    reserved_micro = models.BigIntegerField(_("reserved micro"), default=0)
    spent_tokens = models.BigIntegerField(_("spent tokens"), default=0)
    reserved_tokens = models.BigIntegerField(_("reserved tokens"), default=0)
    warned_at = models.DateTimeField(_("warned at"), null=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("balance")
        verbose_name_plural = _("balances")
        constraints = [
            models.UniqueConstraint(
                fields=["budget", "subject_id", "starts_on", "ends_at"],
                name="one_balance_per_period",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(reserved_micro__gte=0, reserved_tokens__gte=0), name="balance_reserved_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'budget')} · {self.starts_on or '–'}"

    @property
    def spent(self) -> int:
        """What is spent, in the unit of the budget."""
        return self.spent_micro if self.budget.limit_tokens is None else self.spent_tokens

    @property
    def free(self) -> Amounts:
        """What is neither spent nor reserved, in the unit of the budget."""
        limit = self.budget
        return Amounts(
            None if limit.limit_micro is None else limit.limit_micro - self.spent_micro - self.reserved_micro,
            None if limit.limit_tokens is None else limit.limit_tokens - self.spent_tokens - self.reserved_tokens,
        )


class Reservation(Identified):
    """The most that a call under way may use, in one balance. It is deleted when the usage is known, or its run is dead, or
    it has expired.

    `holder_id` and `attempt` are those of the run that asks. A model test and a request for embeddings have ids of their own, and
    attempt 0.
    """

    balance = models.ForeignKey(
        Balance, verbose_name=_("balance"), on_delete=models.CASCADE, related_name="reservations"
    )
    holder_id = models.UUIDField(_("holder id"))
    attempt = models.PositiveIntegerField(_("attempt"))
    amount_micro = models.BigIntegerField(_("amount micro"))
    amount_tokens = models.BigIntegerField(_("amount in tokens"), default=0)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires at"))

    class Meta:
        verbose_name = _("reservation")
        verbose_name_plural = _("reservations")
        indexes = [
            models.Index(fields=["holder_id", "attempt"], name="reservations_of_holder"),
            models.Index(fields=["expires_at"], name="reservations_by_expiry"),
        ]

    def __str__(self) -> str:
        return f"{self.amount_micro} · …{str(self.holder_id)[-8:]}"
