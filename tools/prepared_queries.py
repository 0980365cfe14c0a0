"""The prepared query of tools, which runs with every run (ADR 0011)."""

from uuid import UUID

from django.db.models import QuerySet

from common.prepared_query import PreparedQuery
from tools.models import ToolPolicy


def _query_policies(workspace_id: UUID) -> QuerySet[ToolPolicy]:
    return ToolPolicy.objects.filter(workspace_id=workspace_id)


POLICIES = PreparedQuery(_query_policies, UUID)
