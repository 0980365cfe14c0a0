"""What ends when somebody leaves a chat, or the workspace."""

from django.db.models import Q

from actors.models import Actor
from agents.models import AgentGrant, Draft, Run
from agents.models.runs import ACTIVE
from agents.services import drafts
from agents.services.runs import stopping
from chats.models import Chat, InChat
from workspaces.grants import end_grants
from workspaces.models import Workspace


def let_go(chat: Chat, actor: Actor, remover: Actor) -> list[InChat]:
    """A person's hold here is free; an agent's draft here ends, and its runs are told to stop. The rows to be written."""
    drafts.forget_wishes(chat, actor)
    return [*_drafts(chat, actor, remover), *_runs(chat, actor)]


def end_grants_on_agents(workspace: Workspace, actor: Actor, remover: Actor) -> list[None]:
    """Somebody is no longer a member of the workspace: what they were granted on its agents ends."""
    end_grants(AgentGrant.objects.filter(content_object__workspace=workspace, user=actor), remover)
    return []


def _drafts(chat: Chat, actor: Actor, remover: Actor) -> list[InChat]:
    live = Draft.objects.filter(Q(holder=actor) | Q(agent=actor), chat=chat, ended_at=None).select_related("applied")
    of_agent = [draft for draft in live if draft.agent_id == actor.id]
    held = [draft for draft in live if draft.agent_id != actor.id]
    over = [row for draft in of_agent for row in drafts.ended(draft, remover, "discarded")]
    return [*over, *(drafts.free(draft, remover) for draft in held)]


def _runs(chat: Chat, actor: Actor) -> list[InChat]:
    runs = Run.objects.filter(chat=chat, agent=actor, state__in=ACTIVE).select_related("agent").order_by("pk")
    return [row for run in runs for row in stopping(run)]
