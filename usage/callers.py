"""Who asks a model, and which model is asked."""

from dataclasses import dataclass
from uuid import UUID

from events.payloads import BudgetPeriod
from llm.protocol import Endpoint


@dataclass(frozen=True)
class AppliedBudget:
    """A budget that limits the calls of a caller, and the subject of the balance."""

    id: UUID
    subject_id: UUID
    period: BudgetPeriod
    time_zone: str


@dataclass(frozen=True)
class ResolvedModel:
    """An endpoint, the name of the model there, and the budgets that limit its calls. `replaced`: the model that a public agent
    names and that cannot be had here. `token_factor`: how many tokens it counts for one of our estimate, as learnt from
    `token_samples` requests; null: from too few to use it."""

    endpoint: Endpoint
    name: str
    budgets: tuple[AppliedBudget, ...] = ()
    replaced: str = ""
    token_factor: float | None = None
    token_samples: int = 0


@dataclass(frozen=True)
class Caller:
    """Who asks a model, and for whom. A model test has a person, and neither a run nor an agent; that of a person's own model
    has no workspace.

    `tree_id` is the id of the first run of the tree; `is_draft`: the text of an applied draft answers.
    """

    workspace_id: UUID | None
    on_behalf_of_id: UUID | None
    run_id: UUID | None = None
    tree_id: UUID | None = None
    chat_id: UUID | None = None
    agent_id: UUID | None = None
    spec_id: UUID | None = None
    is_draft: bool = False
    step_number: int = 0
    attempt: int = 1
