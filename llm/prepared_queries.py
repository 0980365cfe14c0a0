"""The prepared queries of the stored models, which run with every run (ADR 0011)."""

from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import JSONObject

from common.json_rows import build_row_json
from common.prepared_query import PreparedQuery
from llm.models import LLMPolicy, LLMProfile
from workspaces.models import Credential


def _query_credential(workspace_id: UUID) -> QuerySet[Credential]:
    return Credential.objects.filter(workspace_id=workspace_id)


def _query_llm_profile(person_id: UUID) -> QuerySet[LLMProfile]:
    return LLMProfile.objects.filter(person_id=person_id, person__is_active=True)


def _query_policy() -> QuerySet[LLMPolicy]:
    return LLMPolicy.objects.order_by("-id")


def build_settings_expression(workspace: str) -> JSONObject:
    """Return the expression for the operator's policy and the model of the workspace whose id is in the column `workspace`, for
    `StoredSettings`. The query that claims a run reads them (P1)."""
    policies = _query_policy().values(json=build_row_json(LLMPolicy))
    credentials = Credential.objects.filter(workspace=OuterRef(workspace)).values(json=build_row_json(Credential))
    return JSONObject(policy=Subquery(policies[:1]), credential=Subquery(credentials[:1]))


CREDENTIAL = PreparedQuery(_query_credential, UUID)
LLM_PROFILE = PreparedQuery(_query_llm_profile, UUID)
POLICY = PreparedQuery(_query_policy)
