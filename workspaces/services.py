"""The services of workspaces: creating and deleting one, its members, and the model of its agents."""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID
from zoneinfo import available_timezones

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext

from common.clock import now
from common.database import allow_purge
from common.errors import Code, Conflict, Invalid, NotFound
from common.handles import check_handle, find_free_handle, normalize_handle
from common.model_settings import assign_model_settings
from common.operators import check_operator
from common.quotas import check_quota
from common.secrets import Secret
from common.tasks import send_task_now
from common.text import normalize_name
from events import audit
from events.publish import publish_list_changed, publish_rights_changed, publish_workspace_list_changed
from events.rows import Role
from workspaces.grants import end_grants
from workspaces.hooks import (
    collect_rows_to_purge,
    member_left,
    model_changed,
    rights_reduced,
    time_zone_changed,
    workspace_deleted,
    workspace_restored,
)
from workspaces.models import (
    Credential,
    DeletedMembership,
    Membership,
    PastMembership,
    Workspace,
    WorkspaceGrant,
)
from workspaces.permissions import (
    WorkspaceVerb,
    get_workspace_for,
    list_unpurged_workspaces,
    list_workspaces_to_purge,
    select_former_editors,
    workspaces_restorable_by,
)

if TYPE_CHECKING:
    from actors.models import Actor

logger = logging.getLogger(__name__)

PURGE_TASK = "workspaces.tasks.purge_workspace"
PURGE_BATCH = 200
"""How many rows of a deleted workspace one transaction deletes, not counting those that Django deletes with them by a cascade."""
MAX_FORMER_HANDLES = 20
"""How many of the former handles of a workspace lead to it. Older ones are forgotten."""
TIME_ZONE_INTERVAL = timedelta(days=1)
"""The least time between two changes of the time zone, because each may start the day of the budgets again."""


@transaction.atomic
def create_workspace(actor: "Actor", *, name: str, handle: str | None = None) -> Workspace:
    """Create a workspace, of which the actor is the first editor. Raises `Invalid`, `Conflict`, `QuotaReached`."""
    name = _check_name(name)
    # A deleted workspace counts for its editors until it is purged, because its content and handle stay until then.
    present, deleted = (
        Q(memberships__actor=actor),
        Q(deleted_memberships__actor=actor, deleted_memberships__role=Role.EDITOR),
    )
    check_quota("workspaces", Workspace.objects.filter(present | deleted).distinct())
    workspaces = Workspace.objects.filter(purged_at=None)
    if handle is not None:
        handle = check_handle(handle, workspaces)
    workspace = Workspace.objects.create(name=name, handle=handle or find_free_handle(name, workspaces))
    Membership.objects.create(workspace=workspace, actor=actor, role=Role.EDITOR)
    audit.record(actor, "workspace.created", workspace_id=workspace.id, object_id=workspace.id)
    publish_rights_changed(actor.id)
    publish_list_changed([actor.id], "me")
    return workspace


def _check_name(name: str) -> str:
    name = normalize_name(name)
    if not 1 <= len(name) <= 80:
        raise Invalid("A name has between 1 and 80 characters.")
    return name


@transaction.atomic
def rename_workspace(
    actor: "Actor",
    workspace_id: UUID,
    *,
    name: str,
    revision: int,
    time_zone: str | None = None,
    handle: str | None = None,
) -> Workspace:
    """Change the name of a workspace and, unless they are null, its time zone and its handle. A former handle still leads to it.

    Raises `NotFound`, `Forbidden`, `Invalid`, and `Conflict` if it has changed since `revision`, if the time zone was changed
    less than `TIME_ZONE_INTERVAL` ago, or if another workspace has the handle (`handle_taken`).
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.RENAME, lock=True)
    name = _check_name(name)
    time_zone = workspace.time_zone if time_zone is None else time_zone
    if time_zone not in available_timezones():
        raise Invalid("There is no such time zone.", hints=["Name one of the IANA database, such as Asia/Taipei."])
    if revision != workspace.revision:
        raise Conflict("Somebody else has changed the workspace meanwhile.", hints=["Look again, then change it."])
    has_new_time_zone = time_zone != workspace.time_zone
    if has_new_time_zone:
        changed_at = workspace.time_zone_changed_at
        if changed_at is not None and now() < changed_at + TIME_ZONE_INTERVAL:
            again_at = (changed_at + TIME_ZONE_INTERVAL).isoformat(timespec="minutes")
            raise Conflict(
                "The time zone can be changed once a day, because days and months of budgets begin with it.",
                code=Code.TIME_ZONE_CHANGED,
                hints=[f"Change it after {again_at}."],
            )
        workspace.time_zone_changed_at = now()
    if handle is not None and normalize_handle(handle) != workspace.handle:
        _change_handle(workspace, handle)
    workspace.name, workspace.time_zone, workspace.revision = name, time_zone, revision + 1
    fields = ["name", "time_zone", "time_zone_changed_at", "handle", "former_handles", "revision"]
    workspace.save(update_fields=fields)
    if has_new_time_zone:
        time_zone_changed.call(workspace)
    audit.record(actor, "workspace.renamed", workspace_id=workspace.id, object_id=workspace.id)
    publish_workspace_list_changed(workspace.id, "workspace")
    return workspace


def _change_handle(workspace: Workspace, handle: str) -> None:
    handle = check_handle(handle, Workspace.objects.filter(purged_at=None))
    former = [earlier for earlier in workspace.former_handles if earlier != handle]
    workspace.former_handles = [*former, workspace.handle][-MAX_FORMER_HANDLES:]
    workspace.handle = handle


@transaction.atomic
def delete_workspace(actor: "Actor", workspace_id: UUID, *, name: str, as_operator: bool = False) -> Workspace:
    """Delete a workspace: its members lose it at once, its runs stop, and nothing of it can be read or used. For
    `settings.WORKSPACE_PURGE_DAYS` days it keeps its content and its handle, and `restore_workspace` undoes the deletion. Then its
    content is purged by a task (`purge_workspace`). Its row stays, and so does the ledger.

    `name` is that of the workspace, as a confirmation. `as_operator`: the actor is an operator, who need not be a member. Raises
    `NotFound`, `Forbidden`, `Invalid`, and `Conflict` (`workspace_has_public_agents`).
    """
    workspace = _lock_workspace(actor, workspace_id, WorkspaceVerb.DELETE, as_operator=as_operator)
    if workspace.deleted_at is not None:
        raise NotFound(gettext("This workspace is deleted already."))
    if normalize_name(name) != workspace.name:
        raise Invalid(gettext("This is not the name of the workspace."))
    # `publish_agent` locks the workspace, so no agent is published meanwhile.
    public_agents = list(workspace.published_agents.filter(taken_down_at=None).order_by("name", "pk"))
    if public_agents:
        names = [f"{agent.name} (@{agent.handle})" for agent in public_agents]
        raise Conflict(
            gettext("It has published agents that people elsewhere use: %(names)s.") % {"names": ", ".join(names)},
            code=Code.WORKSPACE_HAS_PUBLIC_AGENTS,
            hints=[f"Take {name} down first." for name in names],
            data={
                "agents": [
                    {
                        "agent_id": str(agent.id),
                        "name": agent.name,
                        "handle": agent.handle,
                        "origin_id": str(agent.published_from_agent_id),
                    }
                    for agent in public_agents
                ]
            },
        )
    workspace.deleted_at, workspace.deleted_by, workspace.deleted_by_operator = now(), actor, as_operator
    if not as_operator:
        workspace.deleted_by_editor_since = _get_editor_since(_get_membership(workspace, actor.pk))
    workspace.save(update_fields=["deleted_at", "deleted_by", "deleted_by_operator", "deleted_by_editor_since"])
    workspace_deleted.call(workspace, actor)
    # Without a membership nobody has a right on anything in it, wherever the right is checked.
    members = _move_memberships(workspace, Membership, DeletedMembership)
    audit.record(
        actor,
        "workspace.deleted",
        workspace_id=workspace.id,
        object_id=workspace.id,
        name=workspace.name,
        members=len(members),
        as_operator=as_operator,
    )
    for member_id in members:
        publish_rights_changed(member_id)
    publish_list_changed([*members, *_list_former_editors(workspace)], "me")
    return workspace


def _list_former_editors(workspace: Workspace) -> list[UUID]:
    """Return the ids of the people who were removed from a deleted workspace and may undo the deletion."""
    return list(select_former_editors(workspace.past_memberships.all()).values_list("actor_id", flat=True))


def _move_memberships(workspace: Workspace, source: Any, target: Any) -> list[UUID]:
    """Move the memberships of a workspace from one table to the other, with their ids and times. Return the ids of the people."""
    memberships = list(source.objects.filter(workspace=workspace).order_by("actor_id"))
    names = ("pk", "workspace_id", "actor_id", "role", "joined_at", "editor_since", "editor_until")
    moved = [target(**{name: getattr(one, name) for name in names}) for one in memberships]
    target.objects.bulk_create(moved)
    # Set afterwards, because `auto_now_add` of `Membership` replaces the times when the rows are created.
    for membership, new in zip(memberships, moved, strict=True):
        new.joined_at = membership.joined_at
    target.objects.bulk_update(moved, ["joined_at"])
    source.objects.filter(workspace=workspace).delete()
    return [membership.actor_id for membership in memberships]


@transaction.atomic
def restore_workspace(actor: "Actor", workspace_id: UUID, *, as_operator: bool = False) -> Workspace:
    """Undo the deletion of a workspace: its members, rights and content are as before. Its runs stay stopped. A former editor who
    undoes it is an editor again.

    `as_operator`: the actor is an operator, who may undo any deletion. Raises `NotFound` if the workspace is not deleted, if its
    time is over (`WORKSPACE_PURGE_DAYS`), or if the actor may not undo this deletion (`workspaces_restorable_by`); `QuotaReached`.
    """
    if as_operator:
        check_operator(actor, Workspace)
    else:
        check_quota("workspaces", Membership.objects.filter(actor=actor))
    found = list_unpurged_workspaces() if as_operator else workspaces_restorable_by(actor)
    # The row is locked first, and the right is read afterwards, so that of two people who undo it one succeeds.
    list(Workspace.objects.select_for_update(no_key=True).filter(pk=workspace_id).values_list("pk"))
    workspace = found.filter(pk=workspace_id).first()
    if workspace is None:
        raise NotFound(gettext("There is no deleted workspace that you can restore."))
    workspace.deleted_at, workspace.deleted_by, workspace.deleted_by_operator = None, None, False
    former_editors = _list_former_editors(workspace)
    workspace.deleted_by_editor_since = None
    workspace.save(update_fields=["deleted_at", "deleted_by", "deleted_by_operator", "deleted_by_editor_since"])
    members = {*_move_memberships(workspace, DeletedMembership, Membership)}
    if not as_operator:
        _make_editor_again(workspace, actor)
        members.add(actor.pk)
    workspace_restored.call(workspace, actor)
    audit.record(
        actor, "workspace.restored", workspace_id=workspace.id, object_id=workspace.id, as_operator=as_operator
    )
    for member_id in members:
        publish_rights_changed(member_id)
    publish_list_changed([*members, *former_editors], "me")
    return workspace


def _make_editor_again(workspace: Workspace, actor: "Actor") -> None:
    """Give the role editor back to a former editor who undoes a deletion, as a member again if they were removed."""
    membership = workspace.memberships.filter(actor=actor).first()
    if membership is None:
        _create_membership(workspace.pk, actor, role=Role.EDITOR)
    elif membership.role != Role.EDITOR:
        _set_role(membership, Role.EDITOR, actor)
    else:
        return
    audit.record(actor, "member.role_changed", workspace_id=workspace.id, object_id=actor.pk, role=Role.EDITOR)


@transaction.atomic
def purge_workspace(workspace_id: UUID) -> bool:
    """Delete a batch of the content of a deleted workspace whose time is over. Return whether there may be more to delete; false
    also if another process is deleting it. Raises `Unavailable` while a run of the workspace is executed.
    """
    due = list_workspaces_to_purge().select_for_update(no_key=True, skip_locked=True)
    workspace = due.filter(pk=workspace_id).first()
    if workspace is None:
        return False
    allow_purge()
    for rows in collect_rows_to_purge.call(workspace):
        ids = list(rows.values_list("pk", flat=True)[:PURGE_BATCH])
        if ids:
            rows.model._default_manager.filter(pk__in=ids).delete()
            return True
    workspace.deleted_memberships.all().delete()
    workspace.past_memberships.all().delete()
    workspace.grants.all().delete()
    Credential.objects.filter(workspace=workspace).delete()
    workspace.purged_at, workspace.agent_statuses = now(), None
    workspace.save(update_fields=["purged_at", "agent_statuses"])
    logger.info("The content of the deleted workspace %s is gone.", workspace.pk)
    return False


def resume_purges() -> None:
    """Send the task of each workspace whose content is to be purged. Raises `Unavailable`."""
    for id in list_workspaces_to_purge().values_list("pk", flat=True):
        send_task_now(PURGE_TASK, [str(id)])


@transaction.atomic
def join_workspace(actor: "Actor", workspace_id: UUID, *, role: str, invited_by: "Actor") -> bool:
    """Make the actor a member and return true. An actor who is a member already keeps their role: returns false.

    It checks no rights; `chats.accept_link` does. Raises `Invalid` for an agent, `QuotaReached`.
    """
    if not actor.is_human:
        raise Invalid("Only people become members of a workspace.")
    members = Membership.objects.filter(workspace=workspace_id)
    if not members.filter(actor=actor).exists():
        check_quota("workspace_members", members)
    is_new = _create_membership(workspace_id, actor, role=role)
    if is_new:
        audit.record(
            actor,
            "member.joined",
            workspace_id=workspace_id,
            object_id=actor.id,
            role=role,
            invited_by=str(invited_by.id),
        )
        _publish_member_changed(workspace_id, actor.id)
    return is_new


@transaction.atomic
def change_role(
    actor: "Actor", workspace_id: UUID, member_id: UUID, *, role: str, as_operator: bool = False
) -> Membership:
    """Make a member an editor or a suggester. What a former editor has made for others to use ends: invite links, tokens of agents
    and webhooks (`rights_reduced`).

    `as_operator`: the actor is an operator, who need not be a member. Raises `NotFound`, `Forbidden`, `Invalid`, and `Conflict`
    (`last_editor`).
    """
    workspace = _lock_workspace(actor, workspace_id, WorkspaceVerb.CHANGE_ROLE, as_operator=as_operator)
    if role not in Role.values:
        raise Invalid("A role is editor or suggester.")
    membership = _get_membership(workspace, member_id)
    is_demoted = membership.role == Role.EDITOR and role != Role.EDITOR
    if is_demoted:
        _check_other_editor(workspace, membership)
    _set_role(membership, role, actor, as_operator=as_operator)
    if is_demoted:
        rights_reduced.call(workspace, membership.actor, actor)
    audit.record(actor, "member.role_changed", workspace_id=workspace.id, object_id=member_id, role=role)
    _publish_member_changed(workspace.id, member_id)
    return membership


@transaction.atomic
def remove_member(actor: "Actor", workspace_id: UUID, member_id: UUID, *, as_operator: bool = False) -> None:
    """Remove a member from the workspace and all its chats.

    `as_operator`: the actor is an operator, who need not be a member. Raises `NotFound`, `Forbidden`, and `Conflict`
    (`last_editor`).
    """
    workspace = _lock_workspace(actor, workspace_id, WorkspaceVerb.REMOVE_MEMBER, as_operator=as_operator)
    _end_membership(workspace, member_id, actor, as_operator=as_operator)


@transaction.atomic
def leave_workspace(actor: "Actor", workspace_id: UUID) -> None:
    """Leave a workspace and all its chats. Raises `NotFound`, and `Conflict` (`last_editor`)."""
    workspace = _lock_workspace(actor, workspace_id, WorkspaceVerb.SEE)
    _end_membership(workspace, actor.pk, actor)


def _lock_workspace(actor: "Actor", workspace_id: UUID, verb: WorkspaceVerb, *, as_operator: bool = False) -> Workspace:
    """Lock and return the workspace, if the actor has this right on it or, with `as_operator`, is an operator."""
    if not as_operator:
        return get_workspace_for(actor, workspace_id, verb, lock=True)
    check_operator(actor, Membership)
    return Workspace.objects.select_for_update(no_key=True).get(pk=workspace_id)


def _get_editor_since(membership: Membership) -> datetime:
    """Return when an editor became one."""
    return membership.editor_since or membership.joined_at


def _create_membership(workspace_id: UUID, actor: "Actor", *, role: str) -> bool:
    """Make the actor a member, unless they are one. Return whether they were none. The times at which they were an editor are moved
    from their past membership, if another member ended it."""
    past = PastMembership.objects.filter(workspace=workspace_id, actor=actor, editor_until__isnull=False).first()
    times: dict[str, Any] = {}
    if past is not None:
        times = {"editor_since": past.editor_since, "editor_until": None if role == Role.EDITOR else past.editor_until}
    _, is_new = Membership.objects.get_or_create(
        workspace_id=workspace_id, actor=actor, defaults={"role": role, **times}
    )
    if is_new and past is not None:
        past.editor_since, past.editor_until = None, None
        past.save(update_fields=["editor_since", "editor_until"])
    return is_new


def _set_role(membership: Membership, role: str, actor: "Actor", *, as_operator: bool = False) -> None:
    """Set the role of a member, with the times at which they were an editor. An editor from whom another member took the role, and
    who gets it back, counts as an editor since the first time."""
    if membership.role == Role.EDITOR and role != Role.EDITOR:
        membership.editor_since = _get_editor_since(membership)
        membership.editor_until = now() if actor.pk != membership.actor_id and not as_operator else None
    elif membership.role != Role.EDITOR and role == Role.EDITOR:
        if membership.editor_until is None:
            membership.editor_since = now()
        membership.editor_until = None
    membership.role = role
    membership.save(update_fields=["role", "editor_since", "editor_until"])


def _end_membership(workspace: Workspace, member_id: UUID, actor: "Actor", *, as_operator: bool = False) -> None:
    """End a membership with its grants. The actor is the member who leaves, or another person who removes the member."""
    membership = _get_membership(workspace, member_id)
    if membership.role == Role.EDITOR:
        _check_other_editor(workspace, membership)
    membership.delete()
    at = now()
    # A member who leaves keeps the `removed_at` of an earlier removal, so that older links stay refused.
    removal = {"removed_at": at} if actor.pk != member_id else {}
    is_editor = membership.role == Role.EDITOR
    editor_since = _get_editor_since(membership) if is_editor else membership.editor_since
    editor_until = at if is_editor else membership.editor_until
    times = {"editor_since": editor_since, "editor_until": editor_until if removal and not as_operator else None}
    PastMembership.objects.update_or_create(
        workspace=workspace,
        actor=membership.actor,
        defaults={"role": membership.role, "ended_at": at, **removal, **times},
    )
    end_grants(WorkspaceGrant.objects.filter(content_object=workspace, user=member_id), actor)
    member_left.call(workspace, membership.actor, actor)
    action = "member.removed" if removal else "member.left"
    audit.record(actor, action, workspace_id=workspace.id, object_id=member_id)
    _publish_member_changed(workspace.id, member_id)


def get_role_by_link(workspace: Workspace, actor: "Actor", *, role: str, created_at: datetime) -> str | None:
    """Return the role that an actor gets by an invite link, or None if the link is refused. `role` is the role of the link, and
    `created_at` the time when it was created.

    A member keeps their role. A former member gets the lower one of the link's role and their last role, and is refused if they
    were removed after the link was created.
    """
    if present_role := workspace.memberships.filter(actor=actor).values_list("role", flat=True).first():
        return present_role
    past = workspace.past_memberships.filter(actor=actor).first()
    if past is None:
        return role
    if past.removed_at is not None and past.removed_at >= created_at:
        return None
    return role if past.role == Role.EDITOR else past.role


def _get_membership(workspace: Workspace, member_id: UUID) -> Membership:
    membership = workspace.memberships.select_related("actor").filter(actor_id=member_id).first()
    if membership is None:
        raise NotFound(gettext("There is no such member."))
    return membership


def _check_other_editor(workspace: Workspace, membership: Membership) -> None:
    """Check that the workspace has an editor besides this member. Raises `Conflict` (`last_editor`)."""
    if not workspace.memberships.filter(role=Role.EDITOR).exclude(pk=membership.pk).exists():
        raise Conflict(
            gettext("A workspace keeps at least one editor."),
            code=Code.LAST_EDITOR,
            hints=["Make somebody else an editor first."],
        )


def _publish_member_changed(workspace_id: UUID, member_id: UUID) -> None:
    publish_rights_changed(member_id)
    publish_list_changed([member_id], "me")
    publish_workspace_list_changed(workspace_id, "members")


@transaction.atomic
def set_model(
    actor: "Actor",
    workspace_id: UUID,
    *,
    provider: str,
    default_model: str,
    revision: int,
    api_base: str = "",
    options: Mapping[str, str] | None = None,
    key: Secret | None = None,
    context_size: int | None = None,
) -> Credential:
    """Set the model of a workspace: provider, `api_base`, options, key, and the model's name. Agents use it from their next run on.

    `context_size`: the most tokens of a request; null: as many as the server says or shows.

    `revision` is that of the settings that are replaced, 0 if there are none. `key` null keeps the stored key if provider and
    `api_base` are unchanged, and deletes it otherwise. If requests go to another provider or host from now on, the hook
    `model_changed` is called.

    Raises `NotFound`, `Forbidden`, `Invalid` (also `host_refused`), `Conflict`.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_MODEL, lock=True)
    row = Credential.objects.select_for_update().filter(workspace=workspace).first() or Credential(
        workspace=workspace, revision=0
    )
    is_other_host = assign_model_settings(
        row,
        actor,
        provider=provider,
        default_model=default_model,
        revision=revision,
        api_base=api_base,
        options=options,
        key=key,
    )
    row.context_size = context_size
    row.save()
    audit.record(
        actor,
        "model.set",
        workspace_id=workspace.id,
        object_id=row.id,
        provider=provider,
        model=default_model,
        host=urlsplit(api_base).netloc,
    )
    if is_other_host:
        model_changed.call(row, actor)
    publish_workspace_list_changed(workspace.id, "model")
    return row


@transaction.atomic
def set_llm_profile_policy(actor: "Actor", workspace_id: UUID, *, allows_llm_profiles: bool) -> Workspace:
    """Set whether members may use their own models in the workspace. It takes effect with the next request to a model.

    Raises `NotFound`, `Forbidden`.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_MODEL, lock=True)
    if workspace.allows_llm_profiles != allows_llm_profiles:
        workspace.allows_llm_profiles = allows_llm_profiles
        workspace.save(update_fields=["allows_llm_profiles"])
        action = "llm_profiles.allowed" if allows_llm_profiles else "llm_profiles.disallowed"
        audit.record(actor, action, workspace_id=workspace.id, object_id=workspace.id)
        publish_workspace_list_changed(workspace.id, "model")
    return workspace


@transaction.atomic
def delete_key(actor: "Actor", workspace_id: UUID) -> Credential:
    """Delete the stored key of a workspace, as an operator. Raises `Forbidden`, and `Conflict` if there is no key."""
    check_operator(actor, Credential)
    credential = Credential.objects.select_for_update().filter(workspace=workspace_id).exclude(encrypted_key="").first()
    if credential is None:
        raise Conflict(gettext("There is no key."))
    credential.encrypted_key, credential.key_last4 = "", ""
    credential.revision += 1
    credential.save()
    audit.record(actor, "model.key_deleted", workspace_id=workspace_id, object_id=credential.id)
    publish_workspace_list_changed(workspace_id, "model")
    return credential
