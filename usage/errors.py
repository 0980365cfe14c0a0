"""The errors of usage."""

from common.errors import Code, LimitReached
from events.payloads import BudgetRefusal


class BudgetUsedUp(LimitReached):
    """A budget has not enough left for a call. Nothing was reserved."""

    def __init__(self, refusal: BudgetRefusal) -> None:
        name = f" of {refusal.subject_name}" if refusal.subject_name else ""
        text = f"The budget{name} per {refusal.period} ({refusal.scope.label}) is used up: "
        if refusal.spent_micro is not None and refusal.limit_micro is not None:
            text += f"${refusal.spent_micro / 1e6:.2f} of ${refusal.limit_micro / 1e6:.2f} is spent, and "
        text += f"this call could cost ${refusal.needed_micro / 1e6:.4f}."
        if refusal.ends_at is not None:
            text += f" It begins again at {refusal.ends_at.isoformat(timespec='minutes')}."
        super().__init__(text, code=Code.BUDGET_USED_UP, data=refusal.model_dump(mode="json"))
        self.refusal = refusal
