"""The kind of rows of a chat that this app has: its drafts."""

from django.db.models import Q

from agents.models import Draft
from events.rows import DraftRow, RowKind
from events.rows.kinds import register

register(
    RowKind(
        "draft",
        DraftRow,
        Draft,
        order=20,
        list_rows=lambda: Draft.objects.select_related("applied").order_by("pk"),
        is_current=Q(ended_at=None),
    )
)
