"""The prepared queries of agents, which the runs of agents need (ADR 0011)."""

from uuid import UUID

from django.db.models import CharField, QuerySet

from actors.models import Actor, AgentStatus, Kind
from agents.models import Draft
from common.prepared_query import PreparedQuery, is_any_of


def _query_applied_draft(chat_id: UUID, agent_id: UUID) -> QuerySet[Draft]:
    drafts = Draft.objects.filter(chat_id=chat_id, agent_id=agent_id, ended_at=None, applied__isnull=False)
    return drafts.select_related("applied__author")


def _query_own_sub_agents(workspace_id: UUID, handles: list[str]) -> QuerySet[Actor]:
    ready = Actor.objects.filter(kind=Kind.AGENT, workspace=workspace_id, status=AgentStatus.READY)
    ready = ready.filter(accepts_tasks=True, runs_outside=False)
    return ready.filter(is_any_of("handle", handles, of=CharField))


def _query_public_agents(ids: list[UUID]) -> QuerySet[Actor]:
    """Return those of these public agents that can be given tasks, without those that come with the release."""
    ready = Actor.objects.filter(kind=Kind.AGENT, is_public=True, is_shipped=False, status=AgentStatus.READY)
    return ready.filter(is_any_of("pk", ids), taken_down_at=None)


def _query_shipped_agent(handle: str) -> QuerySet[Actor]:
    return Actor.objects.filter(handle=handle, is_shipped=True).select_related("current_spec")


APPLIED_DRAFT = PreparedQuery(_query_applied_draft, UUID, UUID)
OWN_SUB_AGENTS = PreparedQuery(_query_own_sub_agents, UUID, list[str])
PUBLIC_AGENTS = PreparedQuery(_query_public_agents, list[UUID])
SHIPPED_AGENT = PreparedQuery(_query_shipped_agent, str)
