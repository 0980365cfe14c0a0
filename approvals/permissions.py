"""Rights on approvals: whoever may read the chat sees them; the person whom the run works for and editors decide."""

from enum import StrEnum
from uuid import UUID

from actors.models import Actor
from approvals.models import Approval
from chats.permissions import ChatVerb, get_chat_for
from common.access import replace_not_found
from common.errors import NotFound


class ApprovalVerb(StrEnum):
    SEE = "see"
    DECIDE = "decide"


def get_approval_for(actor: Actor, approval_id: UUID, verb: ApprovalVerb, *, lock: bool = False) -> Approval:
    """Return the approval if the actor may do this with it; `lock`: lock its chat. Raises `NotFound`, `Forbidden`.

    Whoever may read the chat sees it. The person whom the run works for decides, or an editor who may read the chat.
    """
    approvals = Approval.objects.select_related("chat", "agent", "person", "decided_by")
    with replace_not_found("approval"):
        approval = approvals.filter(pk=approval_id).first()
        if approval is None:
            raise NotFound("There is no such approval.")
        needs_only_see = verb == ApprovalVerb.SEE or approval.person_id == actor.pk
        get_chat_for(
            actor, approval.chat_id, ChatVerb.SEE if needs_only_see else ChatVerb.DECIDE_ANY_APPROVAL, lock=lock
        )
    # Read after the lock: another person may have decided meanwhile.
    return approvals.get(pk=approval_id) if lock else approval
