"""What boards may cost, from what tasks of the same agents have cost before."""

from collections.abc import Sequence
from statistics import median
from uuid import UUID

from boards.models import Board, TaskResult
from events.rows import BoardState, PlannedBy

RESULTS_COUNTED = 6
"""The number of last results of an agent whose median is the estimate of a task, and of last boards of a supervisor."""
MIN_RESULTS = 3
"""Below so many results of an agent, or boards of a supervisor, there is no estimate."""


def estimate_board_of(workspace_id: UUID, supervisor_id: UUID) -> int | None:
    """Return what a board of this supervisor may cost before there is a plan, in millionths of a dollar: the median of its last
    boards in this workspace. Null if there are too few."""
    boards = Board.objects.filter(
        aggregator=supervisor_id, workspace=workspace_id, planned_by=PlannedBy.MODEL, state=BoardState.COMPLETED
    )
    costs = list(boards.order_by("-pk").values_list("cost_micro", flat=True)[:RESULTS_COUNTED])
    return round(median(costs)) if len(costs) >= MIN_RESULTS else None


def estimate_tasks(workspace_id: UUID, agent_ids: Sequence[UUID]) -> int | None:
    """Return what tasks of these agents may cost together, in millionths of a dollar: the sum of the medians of their last
    results in this workspace. Null if one of them has too few."""
    medians: dict[UUID, float] = {}
    for agent_id in set(agent_ids):
        brought = TaskResult.objects.filter(
            task__agent=agent_id, task__board__workspace=workspace_id, success=True, is_late=False, reused_from=None
        )
        costs = list(brought.order_by("-pk").values_list("cost_micro", flat=True)[:RESULTS_COUNTED])
        if len(costs) < MIN_RESULTS:
            return None
        medians[agent_id] = median(costs)
    return round(sum(medians[agent_id] for agent_id in agent_ids)) if medians else None
