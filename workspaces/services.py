"""The writes of workspaces: making one, who is in it, what its agents think with."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID

from django.db.models import F
from django.utils.translation import gettext

from common.clock import now
from common.egress import HostRefused, check_model_server, host_and_port, local_hosts, named_hosts
from common.errors import Code, Conflict, Invalid, NotFound
from common.handles import claim_handle, free_handle
from common.local_models import has_answered
from common.operators import runs_installation
from common.providers import get_provider
from common.quotas import check_quota
from common.secrets import Secret, WrongOwner, encrypt_for, is_under_newest_key, rotated
from common.text import one_line_name
from events import audit
from events.publish import notify_list_changed, notify_workspace_list_changed, rights_changed
from workspaces.grants import end_grants
from workspaces.hooks import member_demoted, member_left, model_moved
from workspaces.models import Credential, Membership, PastMembership, Role, Workspace, WorkspaceGrant

if TYPE_CHECKING:
    from actors.models import Actor


def create_workspace(*, creator: "Actor", name: str, handle: str | None = None) -> Workspace:
    """Make a workspace; its maker is its first editor. Raises `Invalid` for a name or handle that cannot be."""
    name = _checked_name(name)
    check_quota("workspaces", Membership.objects.filter(actor=creator))
    taken = Workspace.objects.all()
    if handle is not None:
        handle = claim_handle(handle, taken)
    workspace = Workspace.objects.create(name=name, handle=handle or free_handle(name, taken))
    Membership.objects.create(workspace=workspace, actor=creator, role=Role.EDITOR)
    audit.record(creator, "workspace.created", workspace_id=workspace.id, object_id=workspace.id)
    rights_changed(creator.id)
    notify_list_changed([creator.id], "me")
    return workspace


def _checked_name(name: str) -> str:
    name = one_line_name(name)
    if not 1 <= len(name) <= 80:
        raise Invalid("A name has between 1 and 80 characters.")
    return name


def rename_workspace(*, workspace: Workspace, actor: "Actor", name: str, revision: int) -> Workspace:
    """Give it another name. Raises `Conflict` when somebody else changed it since `revision`."""
    name = _checked_name(name)
    rows = Workspace.objects.filter(pk=workspace.pk, revision=revision)
    if not rows.update(name=name, revision=F("revision") + 1):
        raise Conflict("Somebody else has changed the workspace meanwhile.", hints=["Look again, then change it."])
    workspace.name, workspace.revision = name, revision + 1
    audit.record(actor, "workspace.renamed", workspace_id=workspace.id, object_id=workspace.id)
    notify_workspace_list_changed(workspace.id, "workspace")
    return workspace


def join(*, workspace: Workspace, actor: "Actor", role: str, invited_by: "Actor") -> bool:
    """Make `actor` a member; whoever is one already keeps their role. Returns whether they are new."""
    if not actor.is_human:
        raise Invalid("Only people become members of a workspace.")
    if not workspace.memberships.filter(actor=actor).exists():
        check_quota("workspace_members", workspace.memberships.all())
    _, is_new = Membership.objects.get_or_create(workspace=workspace, actor=actor, defaults={"role": role})
    if is_new:
        audit.record(actor, "member.joined", workspace_id=workspace.id, object_id=actor.id, role=role,
                     invited_by=str(invited_by.id))  # fmt: skip
        rights_changed(actor.id)
        notify_list_changed([actor.id], "me")
        notify_workspace_list_changed(workspace.id, "members")
    return is_new


def change_role(*, workspace: Workspace, actor: "Actor", member_id: UUID, role: str) -> Membership:
    """Make a member an editor or a suggester; links made by who is no editor any more end. The caller holds the
    workspace's row.

    Raises `NotFound`; `Conflict` (`last_editor`) when nobody would be left who can edit.
    """
    if role not in Role.values:
        raise Invalid("A role is editor or suggester.")
    membership = _membership(workspace, member_id)
    is_demoted = membership.role == Role.EDITOR and role != Role.EDITOR
    if is_demoted:
        _not_the_last_editor(workspace, membership)
    membership.role = role
    membership.save(update_fields=["role"])
    if is_demoted:
        member_demoted(workspace, membership.actor, actor)
    audit.record(actor, "member.role_changed", workspace_id=workspace.id, object_id=member_id, role=role)
    _tell_about_member(workspace, member_id)
    return membership


def remove_member(*, workspace: Workspace, actor: "Actor", member_id: UUID) -> None:
    """Take somebody out of the workspace and all its chats, or leave it. The caller holds the workspace's row.

    Raises `NotFound`; `Conflict` (`last_editor`).
    """
    membership = _membership(workspace, member_id)
    if membership.role == Role.EDITOR:
        _not_the_last_editor(workspace, membership)
    membership.delete()
    _keep_past(membership, was_removed=actor.pk != member_id)
    end_grants(WorkspaceGrant.objects.filter(content_object=workspace, user=member_id), actor)
    member_left(workspace, membership.actor, actor)
    audit.record(actor, "member.removed", workspace_id=workspace.id, object_id=member_id)
    _tell_about_member(workspace, member_id)


def _keep_past(membership: Membership, *, was_removed: bool) -> None:
    at = now()
    PastMembership.objects.update_or_create(
        workspace=membership.workspace, actor=membership.actor,
        defaults={"role": membership.role, "ended_at": at, **({"removed_at": at} if was_removed else {})},
    )  # fmt: skip


def role_by_link(workspace: Workspace, actor: "Actor", *, role: str, created_at: datetime) -> str | None:
    """Return the role in which a link of this role and age makes `actor` a member, or null when it does not.

    It gives no more than the person had here last, and nothing to who was removed after it was made. A member keeps
    their role.
    """
    if known := workspace.memberships.filter(actor=actor).values_list("role", flat=True).first():
        return known
    past = workspace.past_memberships.filter(actor=actor).first()
    if past is None:
        return role
    if past.removed_at is not None and past.removed_at >= created_at:
        return None
    return role if past.role == Role.EDITOR else past.role


def _membership(workspace: Workspace, member_id: UUID) -> Membership:
    membership = workspace.memberships.select_related("actor").filter(actor_id=member_id).first()
    if membership is None:
        raise NotFound(gettext("There is no such member."))
    return membership


def _not_the_last_editor(workspace: Workspace, membership: Membership) -> None:
    if not workspace.memberships.filter(role=Role.EDITOR).exclude(pk=membership.pk).exists():
        raise Conflict(
            gettext("A workspace keeps at least one editor."),
            code=Code.LAST_EDITOR,
            hints=["Make somebody else an editor first."],
        )


def _tell_about_member(workspace: Workspace, member_id: UUID) -> None:
    rights_changed(member_id)
    notify_list_changed([member_id], "me")
    notify_workspace_list_changed(workspace.id, "members")


def set_model(
    *, workspace: Workspace, actor: "Actor", provider: str, default_model: str, revision: int,
    api_base: str = "", options: Mapping[str, str] | None = None, key: Secret | None = None,
) -> Credential:  # fmt: skip
    """Say what the workspace's agents think with. `revision` 0 when nothing was set before; `key` None keeps the old one.

    A kept key stays with its provider and address: naming another one asks for the key again, so that nobody who may not
    read it can send it elsewhere. Raises `Invalid` (also `host_refused`), `Conflict`.
    """
    options = options or {}
    check_model(actor, provider=provider, default_model=default_model, api_base=api_base, options=options)
    row = Credential.objects.select_for_update().filter(workspace=workspace).first() or Credential(
        workspace=workspace, revision=0
    )
    if row.revision != revision:
        raise Conflict("Somebody else has set the model meanwhile.", hints=["Look again, then set it."])
    if key is None and (row.provider, row.api_base) != (provider, api_base):
        key = Secret("")
    if get_provider(provider).needs_key and not (key or (key is None and row.sealed_key)):
        raise Invalid("This provider needs a key.", hints=["Paste the key you got from the provider."])
    has_moved = (row.provider, row.api_base) != (provider, api_base)
    row.provider, row.api_base, row.options = provider, api_base, dict(options)
    row.default_model, row.revision = default_model, revision + 1
    if key is not None:
        row.sealed_key, row.key_last4 = sealed_for(workspace, key), key.reveal()[-4:] if len(key.reveal()) > 11 else ""
    row.save()
    audit.record(
        actor, "model.set", workspace_id=workspace.id, object_id=row.id, provider=provider, model=default_model,
        host=urlsplit(api_base).netloc,
    )  # fmt: skip
    if has_moved:
        model_moved(row, actor)
    notify_workspace_list_changed(workspace.id, "model")
    return row


def forget_key(credential: Credential, operator: "Actor") -> None:
    """Delete a workspace's key and keep the rest; an operator's deed. Raises `Conflict` when there is none."""
    rows = Credential.objects.filter(pk=credential.pk).exclude(sealed_key="")
    if not rows.update(sealed_key="", key_last4="", revision=F("revision") + 1, updated_at=now()):
        raise Conflict(gettext("There is no key."))
    audit.record(
        operator, "model.key_forgotten", workspace_id=credential.workspace_id, object_id=credential.id
    )  # fmt: skip
    notify_workspace_list_changed(credential.workspace_id, "model")


def sealed_for(workspace: Workspace, key: Secret) -> str:
    """The key as it is stored: it opens for this workspace only. An empty key stores nothing."""
    return encrypt_for(key, owner=str(workspace.id), purpose=Credential.PURPOSE) if key else ""


def rotate_model_keys(*, batch: int = 200) -> Iterator[tuple[int, int]]:
    """Encrypt the stored keys of workspaces anew under the newest of `SECRET_KEYS` (SEC18), in batches, while others work.

    Yield after each batch how many were encrypted anew and how many open with no key that we have. It can be interrupted and
    started again at any time: what is under the newest key is left alone. A key that is set meanwhile is not overwritten.
    """
    after: UUID | None = None
    while True:
        rows = Credential.objects.exclude(sealed_key="").order_by("pk")
        found = list((rows.filter(pk__gt=after) if after else rows).values_list("pk", "sealed_key")[:batch])
        if not found:
            return
        done = lost = 0
        for pk, old in found:
            if is_under_newest_key(old):
                continue
            try:
                done += Credential.objects.filter(pk=pk, sealed_key=old).update(sealed_key=rotated(old))
            except WrongOwner:
                lost += 1
        after = found[-1][0]
        yield done, lost


def check_model(
    actor: "Actor", *, provider: str, default_model: str, api_base: str, options: Mapping[str, str]
) -> None:
    """Check that this could be a model at all, without resolving names or asking a server (FAIR2).

    Raises `Invalid`, with `host_refused` for an address we do not talk to.
    """
    if not default_model.strip() or len(default_model) > 200:
        raise Invalid("Name the model, with at most 200 characters.")
    check_server(actor, provider=provider, api_base=api_base, options=options)


def check_server(actor: "Actor", *, provider: str, api_base: str, options: Mapping[str, str]) -> None:
    """Check that this could be where a model is. Raises `Invalid`, with `host_refused` for an address we do not talk to."""
    chosen = get_provider(provider)
    chosen.check_options(options)
    if chosen.has_address:
        if not api_base:
            raise Invalid(f"{chosen.label} needs its address.", hints=["That of a server often ends in /v1."])
        target = check_model_server(api_base)
        host = host_and_port(target.url)
        is_local = host in local_hosts() and host not in named_hosts()
        if is_local and not (runs_installation(actor) and has_answered(target.url.port)):
            raise HostRefused(
                "No model server of this machine was found there, or you may not use it.",
                hints=["Only operators and the first person of the installation can choose a server of this machine."],
            )
    elif api_base:
        raise Invalid(f"{chosen.label} has no address of its own.")
