"""Listeners of the hooks of other apps, which `config/hooks.py` lists."""

from typing import Any

from django.db.models import F, Q, QuerySet

from actors.models import Actor, AgentStatus
from agents.models import AgentGrant, AgentSpec, Draft
from agents.services import drafts
from chats.models import Chat
from common.writing import RowUpdate
from events.rows import DraftOutcome
from workspaces.grants import end_grants
from workspaces.models import Workspace


def end_drafts_of_leaver(chat: Chat, actor: Actor, remover: Actor) -> list[RowUpdate[Any]]:
    """Release the locks of a person who leaves a chat, or discard the draft of an agent that leaves it.

    Return the updates, which the caller writes.
    """
    drafts.remove_lock_waiters(chat, actor)
    updates: list[RowUpdate[Any]] = []
    affected = Draft.objects.filter(Q(lock_holder=actor) | Q(agent=actor), chat=chat, ended_at=None).select_related(
        "applied"
    )
    for draft in affected:
        if draft.agent_id == actor.id:
            updates += drafts.finish_draft(draft, remover, DraftOutcome.DISCARDED)
        else:
            updates.append(drafts.release_lock(RowUpdate(draft), remover))
    return updates


def end_grants_on_agents(workspace: Workspace, actor: Actor, remover: Actor) -> None:
    """End the grants of a former member on the workspace's agents."""
    end_grants(AgentGrant.objects.filter(content_object__workspace=workspace, user=actor), remover)


def delete_agents_of_workspace(workspace: Workspace, actor: Actor) -> None:
    """Mark the agents of a deleted workspace as deleted, so that they lose their rights at once. Their rows stay, because the
    ledger, the audit trail and their public copies name them. A listener of `workspace_deleted`."""
    agents = Actor.objects.filter(workspace=workspace)
    ids = list(agents.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
    Actor.objects.filter(pk__in=ids).update(
        status=AgentStatus.DELETED, description="", avatar=None, revision=F("revision") + 1
    )


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Detach production from the agents of a workspace, and return their specs and grants, which are purged. A listener of
    `collect_rows_to_purge`."""
    # Otherwise the versions could not be deleted.
    Actor.objects.filter(workspace=workspace, current_spec__isnull=False).update(current_spec=None)
    return [
        AgentSpec.objects.filter(agent__workspace=workspace),
        AgentGrant.objects.filter(content_object__workspace=workspace),
    ]
