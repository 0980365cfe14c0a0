"""Whose usage a request to a model is, and the model that is asked."""

from dataclasses import dataclass
from uuid import UUID

from events.payloads import BudgetPeriod
from llm.protocol import Endpoint


@dataclass(frozen=True)
class AppliedBudget:
    """A budget that limits a request, and the subject of its balance. `refuses_model`: it refuses every request, because it is in
    dollars and the price of the model is not known."""

    id: UUID
    subject_id: UUID
    period: BudgetPeriod
    time_zone: str
    refuses_model: bool = False


@dataclass(frozen=True)
class Amounts:
    """An amount in millionths of a dollar, and one in tokens. Null in the unit in which a budget has no limit."""

    micro: int | None
    tokens: int | None

    def covers(self, needed: "Amounts") -> bool:
        """Return whether these amounts, as what is left of a budget, suffice for what a request needs. A used-up budget
        does not cover a request that costs nothing."""
        pairs = ((self.micro, needed.micro), (self.tokens, needed.tokens))
        return all(left is None or left >= max(1, wanted or 0) for left, wanted in pairs)


@dataclass(frozen=True)
class ResolvedModel:
    """An endpoint, the name of the model there, and the budgets that limit its calls. `replaced`: the model that a public agent
    names and that was not available here. `token_factor`: how many tokens the model counts for one of our estimate, as learnt
    from `token_samples` requests; null: there were too few requests."""

    endpoint: Endpoint
    name: str
    budgets: tuple[AppliedBudget, ...] = ()
    replaced: str = ""
    token_factor: float | None = None
    token_samples: int = 0


@dataclass(frozen=True)
class UsageOwner:
    """Whose usage a request to a model is: what budgets and the ledger count it for. Its fields are columns of `LLMCall`:
    `_insert_call` (`usage/services/ledger.py`) passes them by `vars`.

    A model test has a person, and neither a run nor an agent; the test of a person's own model has no workspace. `tree_id` is the
    id of the first run of the tree. `step_number` and `attempt` are those of the run's step that sends the request.
    """

    workspace_id: UUID | None
    on_behalf_of_id: UUID | None
    run_id: UUID | None = None
    tree_id: UUID | None = None
    chat_id: UUID | None = None
    agent_id: UUID | None = None
    spec_id: UUID | None = None
    is_draft: bool = False  # the text of an applied draft answers; then `spec_id` is that of the draft
    step_number: int = 0
    attempt: int = 1
