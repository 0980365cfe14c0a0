"""Listeners of the hooks of other apps, which `config/hooks.py` lists."""

from collections import defaultdict
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
    """Mark the agents of a deleted workspace as deleted, so that they lose their rights at once. A listener of
    `workspace_deleted`."""
    agents = Actor.objects.filter(workspace=workspace).exclude(status=AgentStatus.DELETED).order_by("pk")
    statuses = dict(agents.select_for_update(no_key=True).values_list("pk", "status"))
    Actor.objects.filter(pk__in=statuses).update(status=AgentStatus.DELETED, revision=F("revision") + 1)
    workspace.agent_statuses = {str(id): status for id, status in statuses.items()}
    workspace.save(update_fields=["agent_statuses"])


def restore_agents_of_workspace(workspace: Workspace, actor: Actor) -> None:
    """Give the agents of a workspace the status that they had before it was deleted. A listener of `workspace_restored`."""
    ids_by_status = defaultdict(list)
    for id, status in (workspace.agent_statuses or {}).items():
        ids_by_status[status].append(id)
    for status, ids in ids_by_status.items():
        Actor.objects.filter(workspace=workspace, pk__in=ids).update(status=status, revision=F("revision") + 1)
    workspace.agent_statuses = None
    workspace.save(update_fields=["agent_statuses"])


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Clear the agents of a workspace, and return their specs and grants, which are purged. Their rows stay, because the ledger,
    the audit trail and their public copies name them. A listener of `collect_rows_to_purge`."""
    # Otherwise the versions could not be deleted.
    Actor.objects.filter(workspace=workspace, current_spec__isnull=False).update(
        current_spec=None, description="", avatar=None
    )
    return [
        AgentSpec.objects.filter(agent__workspace=workspace),
        AgentGrant.objects.filter(content_object__workspace=workspace),
    ]
