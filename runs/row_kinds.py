"""The kind of rows of a chat that this app has: its runs."""

from django.db.models import Q

from common.sql_constant import SqlConstant
from events.rows import RowKind, RunRow
from events.rows.kinds import register
from runs.models import NOT_ENDED, Run

register(
    RowKind(
        "run",
        RunRow,
        Run,
        order=30,
        list_rows=lambda: Run.objects.order_by("pk"),
        is_current=Q(state__in=[SqlConstant(state) for state in NOT_ENDED]),
    )
)
