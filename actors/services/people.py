"""The writes of actors that are not about agents."""

from actors.models import Actor, AgentStatus
from actors.operators import check_rank
from actors.seams import renamed
from common.errors import Invalid
from events import audit
from events.bells import ring, ring_workspace
from events.publish import rights_changed


def change_profile(*, person: Actor, name: str | None = None, language: str | None = None) -> Actor:
    """Change what a person says of themselves; null leaves it."""
    if name is not None and (name := name.strip()) not in ("", person.name):
        person.name = name
        renamed(person)
    if language is not None:
        person.language = language
    person.save(update_fields=["name", "language"])
    audit.record(person, "profile.changed", object_id=person.id)
    ring([person.id], "me")
    return person


def deactivate(person: Actor, operator: Actor) -> None:
    """Close a person's account: no sign-in, no socket, no request any more. Raises `Invalid` for an agent or oneself,
    `Forbidden` when it is an operator's and `operator` is no superuser.
    """
    _only_people(person)
    if person.pk == operator.pk:
        raise Invalid("You cannot deactivate yourself.")
    check_rank(person, operator)
    _set_active(person, operator, active=False)


def activate(person: Actor, operator: Actor) -> None:
    """Open a closed account again. Raises `Invalid` for an agent."""
    _only_people(person)
    check_rank(person, operator)
    _set_active(person, operator, active=True)


def _only_people(person: Actor) -> None:
    if not person.is_human:
        raise Invalid("Agents have no account. Suspend or resume them.")


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
        raise Invalid("Only an agent that exists can be suspended or resumed.")
    Actor.objects.filter(pk=agent.pk).update(status=status)
    audit.record(operator, f"agent.{status}", workspace_id=agent.workspace_id, object_id=agent.id)
    if agent.workspace_id:
        ring_workspace(agent.workspace_id, "agents")
