"""The policies of tools, which each run reads: a prepared query, and a part of another one (ADR 0011)."""

from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef, QuerySet
from django.db.models.functions import JSONObject

from common.prepared_query import PreparedQuery
from tools.models import ToolPolicy


def _query_policies(workspace_id: UUID) -> QuerySet[ToolPolicy]:
    return ToolPolicy.objects.filter(workspace_id=workspace_id)


def build_policies_expression(workspace: str) -> ArraySubquery:
    """Return the expression for the policies of the workspace whose id is in the column `workspace`, for `parse_policies`."""
    rows = ToolPolicy.objects.filter(workspace=OuterRef(workspace))
    return ArraySubquery(rows.values(json=JSONObject(tool=F("tool"), policy=F("policy"))))


POLICIES = PreparedQuery(_query_policies, UUID)
