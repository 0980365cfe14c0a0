"""The prepared queries of the stored models, which run with every run (ADR 0011)."""

from uuid import UUID

from django.db.models import QuerySet

from common.prepared_query import PreparedQuery
from llm.models import LLMPolicy, LLMProfile
from workspaces.models import Credential


def _query_credential(workspace_id: UUID) -> QuerySet[Credential]:
    return Credential.objects.filter(workspace_id=workspace_id)


def _query_llm_profile(person_id: UUID) -> QuerySet[LLMProfile]:
    return LLMProfile.objects.filter(person_id=person_id, person__is_active=True)


def _query_policy() -> QuerySet[LLMPolicy]:
    return LLMPolicy.objects.order_by("-id")


CREDENTIAL = PreparedQuery(_query_credential, UUID)
LLM_PROFILE = PreparedQuery(_query_llm_profile, UUID)
POLICY = PreparedQuery(_query_policy)
