"""Count how much public agents are used."""

from django.db.models import Count

from common.clock import now
from publishing.models import AgentUse
from publishing.selectors import hide_small_count, list_counted_replies

STORED_AT_ONCE = 500


def count_use() -> None:
    """Count the use of all public agents anew, and store it for the directory. Small counts are not stored."""
    time = now()
    counted = list_counted_replies().values_list("agent_id").annotate(Count("pk"), Count("workspace", distinct=True))
    uses = [
        AgentUse(
            agent_id=agent_id,
            run_count=hide_small_count(runs),
            workspace_count=hide_small_count(workspaces),
            counted_at=time,
        )
        # In the order of ids, because several workers may do this at the same time.
        for agent_id, runs, workspaces in counted.order_by("agent_id")
    ]
    AgentUse.objects.bulk_create(
        uses,
        batch_size=STORED_AT_ONCE,
        update_conflicts=True,
        unique_fields=["agent"],
        update_fields=["run_count", "workspace_count", "counted_at"],
    )
    AgentUse.objects.exclude(agent__in=[use.agent_id for use in uses]).delete()
