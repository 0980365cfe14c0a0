"""The kinds of rows of a chat that this app has: boards, and their tasks."""

from django.db.models import Q

from boards.models import Board, BoardTask
from boards.selectors import list_tasks
from events.rows import BoardRow, BoardTaskRow, RowKind
from events.rows.kinds import register

register(
    RowKind(
        "board",
        BoardRow,
        Board,
        order=40,
        list_rows=lambda: Board.objects.order_by("pk"),
        is_current=Q(ended_at=None),
        is_rare=True,
    )
)
register(
    RowKind(
        "board_task",
        BoardTaskRow,
        BoardTask,
        order=41,
        list_rows=list_tasks,
        is_current=Q(board__ended_at=None),
        is_rare=True,
    )
)
