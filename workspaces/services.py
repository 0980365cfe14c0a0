"""The writes of workspaces: making one, who is in it, what its agents think with."""

from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import F

from common.clock import now
from common.egress import check_api_base
from common.errors import Code, Conflict, Invalid, NotFound
from common.handles import free_handle, hold_handle, is_handle
from common.secrets import Secret, seal
from events import audit
from events.bells import ring, ring_workspace
from events.publish import rights_changed
from workspaces.grants import end_grants
from workspaces.models import Credential, Membership, Provider, Role, Workspace, WorkspaceGrant
from workspaces.seams import member_left

if TYPE_CHECKING:
    from actors.models import Actor


def create_workspace(*, creator: "Actor", name: str, handle: str | None = None) -> Workspace:
    """Make a workspace; its maker is its first editor (S0.1). Raises `Invalid` for a name or handle that cannot be."""
    name = _checked_name(name)
    taken = Workspace.objects.all()
    if handle is not None:
        hold_handle(handle)
    if handle is not None and (not is_handle(handle) or taken.filter(handle=handle).exists()):
        raise Conflict("This handle is taken or cannot be one.", code=Code.HANDLE_TAKEN, hints=["Choose another one."])
    workspace = Workspace.objects.create(name=name, handle=handle or free_handle(name, taken))
    Membership.objects.create(workspace=workspace, actor=creator, role=Role.EDITOR)
    audit.record(creator, "workspace.created", workspace_id=workspace.id, object_id=workspace.id)
    rights_changed(creator.id)
    ring([creator.id], "me")
    return workspace


def _checked_name(name: str) -> str:
    name = name.strip()
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
    ring_workspace(workspace.id, "workspace")
    return workspace


def join(*, workspace: Workspace, actor: "Actor", role: str, invited_by: "Actor") -> bool:
    """Make `actor` a member; whoever is one already keeps their role. Returns whether they are new."""
    if not actor.is_human:
        raise Invalid("Only people become members of a workspace.")
    _, is_new = Membership.objects.get_or_create(workspace=workspace, actor=actor, defaults={"role": role})
    if is_new:
        audit.record(actor, "member.joined", workspace_id=workspace.id, object_id=actor.id, role=role,
                     invited_by=str(invited_by.id))  # fmt: skip
        rights_changed(actor.id)
        ring([actor.id], "me")
        ring_workspace(workspace.id, "members")
    return is_new


def change_role(*, workspace: Workspace, actor: "Actor", member_id: UUID, role: str) -> Membership:
    """Make a member an editor or a suggester. The caller holds the workspace's row.

    Raises `NotFound`; `Conflict` (`last_editor`) when nobody would be left who can edit.
    """
    if role not in Role.values:
        raise Invalid("A role is editor or suggester.")
    membership = _membership(workspace, member_id)
    if membership.role == Role.EDITOR and role != Role.EDITOR:
        _not_the_last_editor(workspace, membership)
    membership.role = role
    membership.save(update_fields=["role"])
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
    end_grants(WorkspaceGrant.objects.filter(content_object=workspace, user=member_id), actor)
    member_left(workspace, membership.actor, actor)
    audit.record(actor, "member.removed", workspace_id=workspace.id, object_id=member_id)
    _tell_about_member(workspace, member_id)


def _membership(workspace: Workspace, member_id: UUID) -> Membership:
    membership = workspace.memberships.select_related("actor").filter(actor_id=member_id).first()
    if membership is None:
        raise NotFound("There is no such member.")
    return membership


def _not_the_last_editor(workspace: Workspace, membership: Membership) -> None:
    if not workspace.memberships.filter(role=Role.EDITOR).exclude(pk=membership.pk).exists():
        raise Conflict(
            "A workspace keeps at least one editor.",
            code=Code.LAST_EDITOR,
            hints=["Make somebody else an editor first."],
        )


def _tell_about_member(workspace: Workspace, member_id: UUID) -> None:
    rights_changed(member_id)
    ring([member_id], "me")
    ring_workspace(workspace.id, "members")


def set_model(
    *, workspace: Workspace, actor: "Actor", provider: str, default_model: str, revision: int,
    api_base: str = "", key: Secret | None = None,
) -> Credential:  # fmt: skip
    """Say what the workspace's agents think with. `revision` 0 when nothing was set before; `key` None keeps the old one.

    A kept key stays with its provider and address: naming another one asks for the key again, so that nobody who may not
    read it can send it elsewhere. Raises `Invalid` (also `host_refused`), `Conflict`.
    """
    check_model(provider=provider, default_model=default_model, api_base=api_base)
    row = Credential.objects.select_for_update().filter(workspace=workspace).first() or Credential(
        workspace=workspace, revision=0
    )
    if row.revision != revision:
        raise Conflict("Somebody else has set the model meanwhile.", hints=["Look again, then set it."])
    if key is None and (row.provider, row.api_base) != (provider, api_base):
        key = Secret("")
    if provider not in KEYLESS and not (key or (key is None and row.sealed_key)):
        raise Invalid("This provider needs a key.", hints=["Paste the key you got from the provider."])
    row.provider, row.api_base, row.default_model, row.revision = provider, api_base, default_model, revision + 1
    if key is not None:
        row.sealed_key, row.key_last4 = sealed_for(workspace, key), key.reveal()[-4:] if len(key.reveal()) > 11 else ""
    row.save()
    audit.record(
        actor, "model.set", workspace_id=workspace.id, object_id=row.id, provider=provider, model=default_model
    )
    ring_workspace(workspace.id, "model")
    return row


def forget_key(credential: Credential, operator: "Actor") -> None:
    """Delete a workspace's key and keep the rest; an operator's deed. Raises `Conflict` when there is none."""
    rows = Credential.objects.filter(pk=credential.pk).exclude(sealed_key="")
    if not rows.update(sealed_key="", key_last4="", revision=F("revision") + 1, updated_at=now()):
        raise Conflict("There is no key.")
    audit.record(
        operator, "model.key_forgotten", workspace_id=credential.workspace_id, object_id=credential.id
    )  # fmt: skip
    ring_workspace(credential.workspace_id, "model")


KEYLESS = frozenset({Provider.DEMO.value, Provider.OPENAI_COMPATIBLE.value})


def sealed_for(workspace: Workspace, key: Secret) -> str:
    """The key as it is stored: it opens for this workspace only. An empty key stores nothing."""
    return seal(key, owner=str(workspace.id), purpose=Credential.PURPOSE) if key else ""


def check_model(*, provider: str, default_model: str, api_base: str) -> None:
    """Whether this could be a model at all. Raises `Invalid`, with `host_refused` for an address we do not talk to."""
    if provider not in Provider.values:
        raise Invalid("We do not know this provider.", hints=[f"Known are: {', '.join(Provider.values)}."])
    if not default_model.strip() or len(default_model) > 200:
        raise Invalid("Name the model, with at most 200 characters.")
    if provider == Provider.OPENAI_COMPATIBLE:
        if not api_base:
            raise Invalid("An OpenAI-compatible server needs its address.", hints=["It often ends in /v1."])
        check_api_base(api_base)
    elif api_base:
        raise Invalid("Only an OpenAI-compatible server has an address of its own.")
