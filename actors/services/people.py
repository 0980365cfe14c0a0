"""The writes of actors that are not about agents."""

from django.utils.translation import gettext

from actors.hooks import renamed
from actors.models import Actor, AgentStatus
from actors.operators import check_rank
from common.errors import Invalid
from common.handles import claim_handle, normalize_handle
from common.text import one_line_name
from events import audit
from events.publish import notify_list_changed, notify_workspace_list_changed, rights_changed
from events.rows import NewAvatar, stored_avatar


def change_profile(
    *, person: Actor, name: str | None = None, language: str | None = None, avatar: NewAvatar | None = None,
    handle: str | None = None,
) -> Actor:  # fmt: skip
    """Change what a person says of themselves; null leaves it. Raises `Invalid`, `Conflict` (`handle_taken`)."""
    changed: set[str] = set()
    if handle is not None and normalize_handle(handle) != person.handle:
        old, person.handle = person.handle, claim_handle(handle, Actor.people.exclude(pk=person.pk))
        person.username = person.handle
        changed |= {"handle", "username"}
        audit.record(person, "handle.changed", object_id=person.id, old=old, new=person.handle)
    if avatar is not None and (new_avatar := stored_avatar(avatar)) != person.avatar:
        person.avatar = new_avatar
        changed.add("avatar")
    if name is not None and (name := checked_name(name)) != person.name:
        person.name = name
        changed.add("name")
    if changed:
        renamed(person)
    if language is not None:
        person.language = language
        changed.add("language")
    person.save(update_fields=changed)
    audit.record(person, "profile.changed", object_id=person.id)
    notify_list_changed([person.id], "me")
    return person


def checked_name(name: str) -> str:
    """Return a person's name as it is stored. Raises `Invalid` when nothing of it can be seen."""
    name = one_line_name(name)
    if not name:
        raise Invalid("A name needs something that can be seen.")
    return name


def deactivate(person: Actor, operator: Actor) -> None:
    """Close a person's account: no sign-in, no socket, no request any more. Raises `Invalid` for an agent or oneself,
    `Forbidden` when it is an operator's and `operator` is no superuser.
    """
    _only_people(person)
    if person.pk == operator.pk:
        raise Invalid(gettext("You cannot deactivate yourself."))
    check_rank(person, operator)
    _set_active(person, operator, active=False)


def activate(person: Actor, operator: Actor) -> None:
    """Open a closed account again. Raises `Invalid` for an agent."""
    _only_people(person)
    check_rank(person, operator)
    _set_active(person, operator, active=True)


def _only_people(person: Actor) -> None:
    if not person.is_human:
        raise Invalid(gettext("Agents have no account. Suspend or resume them."))


def _set_active(person: Actor, operator: Actor, *, active: bool) -> None:
    Actor.objects.filter(pk=person.pk).update(is_active=active)
    audit.record(operator, "person.activated" if active else "person.deactivated", object_id=person.id)
    rights_changed(person.id)


def suspend_agent(agent: Actor, operator: Actor) -> None:
    """An operator's hand brake: the agent starts nothing new anywhere. Raises `Invalid` for a person."""
    _set_status(agent, operator, AgentStatus.SUSPENDED)


def resume_agent(agent: Actor, operator: Actor) -> None:
    """Let a suspended agent work again. Raises `Invalid` for a person."""
    _set_status(agent, operator, AgentStatus.READY)


def _set_status(agent: Actor, operator: Actor, status: AgentStatus) -> None:
    if not agent.is_agent or agent.status == AgentStatus.DELETED:
        raise Invalid(gettext("Only an agent that exists can be suspended or resumed."))
    Actor.objects.filter(pk=agent.pk).update(status=status)
    audit.record(operator, f"agent.{status}", workspace_id=agent.workspace_id, object_id=agent.id)
    if agent.workspace_id:
        notify_workspace_list_changed(agent.workspace_id, "agents")
