"""Decide about equal calls in the tasks of one board together."""

from typing import Literal
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from approvals.models import Approval
from approvals.selectors import is_same_target
from approvals.services import decide_approval
from boards.models import BoardTask
from boards.permissions import BoardVerb, get_board_for
from common.errors import NotFound

EqualCallsDecision = Literal["approved", "refused"]


@transaction.atomic
def decide_equal_calls(
    actor: Actor, board_id: UUID, approval_id: UUID, *, decision: EqualCallsDecision, note: str = ""
) -> list[Approval]:
    """Decide about a call of a board's task and, in the same way, about the calls of the same tool with the same arguments and
    target that wait in other tasks of the board, if their runs have read texts of the same class. Return them, the oldest first.

    The person whom the board works for and editors who may read the chat may do so. Raises `NotFound`, and what
    `decide_approval` raises: then none is decided.
    """
    board = get_board_for(actor, board_id, BoardVerb.SEE, lock=True)
    runs = BoardTask.objects.filter(board=board, run__isnull=False).values("run")
    waiting = list(Approval.objects.filter(run_id__in=runs, decision=None, question__isnull=True).order_by("pk"))
    first = next((approval for approval in waiting if approval.pk == approval_id), None)
    if first is None:
        raise NotFound("No such call of this board waits.")
    equal = [
        approval
        for approval in waiting
        # The decision of a person depends on whose texts the run has read, too.
        if (approval.tool, approval.arguments, approval.read_texts) == (first.tool, first.arguments, first.read_texts)
        and is_same_target(approval.get_target(), first.get_target())
    ]
    return [decide_approval(actor, approval.pk, decision, note=note) for approval in equal]
