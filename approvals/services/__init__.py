"""The services of approvals."""

from approvals.services.asking import ApprovalRequest, ask_for_approvals
from approvals.services.deciding import close_approvals, decide_approval, expire_approvals

__all__ = ["ApprovalRequest", "ask_for_approvals", "close_approvals", "decide_approval", "expire_approvals"]
