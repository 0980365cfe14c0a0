"""Profiles and accounts of people, and the status of agents."""

from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext

from actors.hooks import account_closed, profile_changed
from actors.models import Actor, AgentStatus
from actors.operators import check_may_manage
from actors.services.viewings import end_viewings_of
from common.errors import Invalid
from common.handles import check_handle, normalize_handle
from common.operators import get_for_operator
from common.text import normalize_name
from events import audit
from events.publish import publish_list_changed, publish_rights_changed, publish_workspace_list_changed
from events.rows import NewAvatar, dump_avatar


@transaction.atomic
def update_profile(
    actor: Actor,
    *,
    name: str | None = None,
    language: str | None = None,
    avatar: NewAvatar | None = None,
    handle: str | None = None,
) -> Actor:
    """Change the actor's own profile; null leaves a field as it is. Raises `Invalid`, `Conflict` (`handle_taken`)."""
    changed: set[str] = set()
    if handle is not None and normalize_handle(handle) != actor.handle:
        old, actor.handle = actor.handle, check_handle(handle, Actor.people.exclude(pk=actor.pk))
        actor.username = actor.handle
        changed |= {"handle", "username"}
        audit.record(actor, "handle.changed", object_id=actor.id, old=old, new=actor.handle)
    if avatar is not None and (new_avatar := dump_avatar(avatar)) != actor.avatar:
        actor.avatar = new_avatar
        changed.add("avatar")
    if name is not None and (name := check_name(name)) != actor.name:
        actor.name = name
        changed.add("name")
    if changed:
        profile_changed.call(actor)
    if language is not None:
        actor.language = language
        changed.add("language")
    actor.save(update_fields=changed)
    audit.record(actor, "profile.updated", object_id=actor.id)
    publish_list_changed([actor.id], "me")
    return actor


def check_name(name: str) -> str:
    """Return the name on one line, without surrounding spaces. Raises `Invalid` if it has no visible character."""
    name = normalize_name(name)
    if not name:
        raise Invalid("A name needs something that can be seen.")
    return name


@transaction.atomic
def deactivate_person(actor: Actor, person_id: UUID) -> Actor:
    """Close a person's account, as an operator. Sockets and viewings end. Sessions and tokens are refused until it is open again.

    Raises `NotFound`, `Invalid` for an agent or the operator's own account, and `Forbidden` (see `check_may_manage`).
    """
    if person_id == actor.pk:
        raise Invalid(gettext("You cannot deactivate yourself."))
    return _set_active(actor, person_id, is_active=False)


@transaction.atomic
def activate_person(actor: Actor, person_id: UUID) -> Actor:
    """Open a closed account again, as an operator. Raises `NotFound`, `Invalid` for an agent, `Forbidden`."""
    return _set_active(actor, person_id, is_active=True)


def _set_active(actor: Actor, person_id: UUID, *, is_active: bool) -> Actor:
    person = get_for_operator(actor, Actor, person_id)
    if not person.is_human:
        raise Invalid(gettext("Agents have no account. Use Suspend or Resume instead."))
    check_may_manage(actor, person)
    person.is_active = is_active
    person.save(update_fields=["is_active"])
    if not is_active:
        end_viewings_of(person, actor)
        account_closed.call(person, actor)
    audit.record(actor, "person.activated" if is_active else "person.deactivated", object_id=person.id)
    publish_rights_changed(person.id)
    return person


@transaction.atomic
def suspend_agent(actor: Actor, agent_id: UUID) -> Actor:
    """Stop an agent from starting runs, as an operator. Raises `NotFound`, `Forbidden`, `Invalid` for a person."""
    return _set_agent_status(actor, agent_id, AgentStatus.SUSPENDED, action="agent.suspended")


@transaction.atomic
def resume_agent(actor: Actor, agent_id: UUID) -> Actor:
    """Let a suspended agent start runs again, as an operator. Raises `NotFound`, `Forbidden`, `Invalid` for a person."""
    return _set_agent_status(actor, agent_id, AgentStatus.READY, action="agent.resumed")


def _set_agent_status(actor: Actor, agent_id: UUID, status: AgentStatus, *, action: str) -> Actor:
    agent = get_for_operator(actor, Actor, agent_id)
    if not agent.is_agent or agent.status == AgentStatus.DELETED:
        raise Invalid(gettext("Only an agent that exists can be suspended or resumed."))
    if agent.status == status:
        return agent
    agent.status = status
    agent.save(update_fields=["status"])
    audit.record(actor, action, workspace_id=agent.workspace_id, object_id=agent.id)
    if agent.workspace_id:
        publish_workspace_list_changed(agent.workspace_id, "agents")
    publish_rights_changed(agent.id)  # ends the sockets of its programs
    return agent
