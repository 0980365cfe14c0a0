"""The errors of usage."""

from common.errors import Code, LimitReached
from events.payloads import BudgetRefusal


class BudgetRefused(LimitReached):
    """A budget refuses a call. Nothing was reserved."""

    def __init__(self, message: str, refusal: BudgetRefusal, *, code: Code, hints: tuple[str, ...] = ()) -> None:
        super().__init__(message, code=code, hints=hints, data=refusal.model_dump(mode="json"))
        self.refusal = refusal


class BudgetUsedUp(BudgetRefused):
    """A budget has not enough left for a call."""

    def __init__(self, refusal: BudgetRefusal) -> None:
        name = f" of {refusal.subject_name}" if refusal.subject_name else ""
        text = (
            f"The budget{name} per {refusal.period} ({refusal.scope.label}) does not cover this call, which could need "
        )
        text += f"{_format_amount(refusal.needed_micro, refusal.needed_tokens)}."
        if refusal.left_micro is not None or refusal.left_tokens is not None:
            text += f" Left: {_format_amount(refusal.left_micro, refusal.left_tokens)} of "
            text += f"{_format_amount(refusal.limit_micro, refusal.limit_tokens)}."
        if refusal.ends_at is not None:
            text += f" It begins again at {refusal.ends_at.isoformat(timespec='minutes')}."
        super().__init__(text, refusal, code=Code.BUDGET_USED_UP)


class PriceUnknown(BudgetRefused):
    """A budget in dollars applies to a call of a model whose price is not known."""

    def __init__(self, refusal: BudgetRefusal) -> None:
        by_operator = refusal.price_set_by == "operator"
        who, where = ("operator", "the admin") if by_operator else ("editor", "the settings of the workspace")
        super().__init__(
            f"No price is known for {refusal.unpriced_model}; an {who} can set one.",
            refusal,
            code=Code.PRICE_UNKNOWN,
            hints=(f"Set its price in {where}, beside the budgets, or name another model.",),
        )


def _format_amount(micro: int | None, tokens: int | None) -> str:
    return f"${micro / 1e6:.4f}" if micro is not None else f"{tokens:,} tokens"
