"""The prepared query of approvals, which runs before a request to a model if the run has open calls (ADR 0011)."""

from uuid import UUID

from django.db.models import QuerySet

from approvals.models import Approval
from common.prepared_query import PreparedQuery


def _query_decided_approvals(run_id: UUID) -> QuerySet[Approval]:
    return Approval.objects.filter(run_id=run_id, decision__isnull=False).select_related("decided_by")


DECIDED_APPROVALS = PreparedQuery(_query_decided_approvals, UUID)
