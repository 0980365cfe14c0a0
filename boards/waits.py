"""What the run of a supervisor waits for: the board of its plan. A tool whose `wait_kind` is `BoardWait.kind` returns one."""

from dataclasses import dataclass

from boards.plan import PlannedTask
from tools.interface import Wait

MAX_TASKS_OF_MODEL = 25
"""Tasks of a plan by a model, whatever its limit is."""


@dataclass(frozen=True)
class BoardWait(Wait):
    """A plan of a model. `problems`: what its tool has found to be wrong with it, such as an agent that is not in the team;
    the plan is not used then. `limit_micro`: what the board may cost, in millionths of a dollar. `ask_above_micro`: if the
    estimate is higher or not known, a person is asked before it starts."""

    tasks: tuple[PlannedTask, ...]
    reasoning: str
    requires_aggregation: bool
    problems: tuple[str, ...] = ()
    max_tasks: int = 10
    max_at_once: int = 3
    limit_micro: int | None = None
    ask_above_micro: int | None = None

    kind = "board"
