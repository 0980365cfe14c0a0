"""Profiles and accounts of people, and the status of agents."""

from uuid import UUID

from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.translation import gettext

from actors.hooks import account_closed, profile_changed
from actors.models import Actor, AgentStatus, Kind
from actors.operators import Level, check_may_manage
from actors.services.sessions import end_sessions_as_operator
from actors.services.tokens import revoke_tokens, revoke_tokens_of_maker
from actors.services.viewings import end_viewings_of
from common.errors import Forbidden, Invalid
from common.handles import check_handle, find_free_handle, normalize_handle
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
        profile_changed.call(actor)  # before the row is saved: listeners lock the chats first
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
    """Close a person's account, as an operator. Sessions, sockets and viewings end. The person's API tokens are revoked, and those
    that they made for agents.

    Raises `NotFound`, `Invalid` for an agent or the operator's own account, and `Forbidden` (see `check_may_manage`).
    """
    if person_id == actor.pk:
        raise Invalid(gettext("You cannot deactivate yourself."))
    return _set_active(actor, person_id, is_active=False)


@transaction.atomic
def activate_person(actor: Actor, person_id: UUID) -> Actor:
    """Open a closed account again, as an operator. Raises `NotFound`, `Invalid` for an agent, `Forbidden`.

    The person must sign in again and create new tokens.
    """
    return _set_active(actor, person_id, is_active=True)


def _set_active(actor: Actor, person_id: UUID, *, is_active: bool) -> Actor:
    person = get_for_operator(actor, Actor, person_id)
    if not person.is_human:
        raise Invalid(gettext("Agents have no account. Use Suspend or Resume instead."))
    check_may_manage(actor, person)
    if person.is_active == is_active:
        return person
    person.is_active = is_active
    person.save(update_fields=["is_active"])
    # Also when the account is opened: a request that was authenticated before it was closed may have created a token since.
    end_sessions_as_operator(actor, person.pk)
    revoke_tokens(actor, person.pk, as_operator=True)
    revoke_tokens_of_maker(person, by=actor)
    if not is_active:
        account_closed.call(person, actor)
    audit.record(actor, "person.activated" if is_active else "person.deactivated", object_id=person.id)
    return person


@transaction.atomic
def set_access_level(operator: Actor, person: Actor, *, level: str) -> None:
    """Set the access level of a person. It takes effect with the person's next request. Viewings by and as the person end.

    Raises `Forbidden` if the operator is not a superuser, and `Invalid` for an agent, an unknown level, or the operator's
    own level, so that a superuser always remains.
    """
    if not operator.is_superuser:
        raise Forbidden(gettext("Only a superuser can appoint operators."))
    if not person.is_human or level not in Level.values:
        raise Invalid(gettext("Only people can become operators."))
    if person.pk == operator.pk:
        raise Invalid(gettext("You cannot change what you may do yourself."))
    _write_access_level(operator, person, level)


def find_account(email: str) -> Actor | None:
    """Return the person with this email. Raises `Invalid` if their account is closed."""
    person = Actor.people.filter(email__iexact=email).first()
    if person is not None and not person.is_active:
        raise Invalid("The account with this email is closed. Another operator can open it in the admin.")
    return person


def has_verified_email(person: Actor) -> bool:
    """Return whether the person's email address is verified."""
    return bool(EmailAddress.objects.filter(user=person, email__iexact=person.email, verified=True).exists())


@transaction.atomic
def make_superuser(email: str, *, account_id: UUID | None) -> Actor:
    """Make the person with this email a superuser, and return them.

    `account_id`: their account, as `find_account` has returned it; None creates one. It has no password (see
    `create_reset_link`). `manage.py make_operator` calls it, so no operator is asked. Raises `Invalid` if the text is no email
    address, the account is closed, or the email now has another account.
    """
    person = find_account(email)
    if (person.pk if person else None) != account_id:
        raise Invalid("The account with this email has changed. Try again.")
    if person is not None:
        if not person.is_superuser:
            _write_access_level(None, person, Level.SUPERUSER)
        return person

    try:
        validate_email(email)
    except ValidationError as error:
        raise Invalid("This is not an email address.") from error
    handle = find_free_handle(email.partition("@")[0], Actor.objects.filter(kind=Kind.HUMAN))
    person = Actor.people.create_superuser(email, None, handle=handle)
    audit.record(None, "person.level_set", object_id=person.id, level=Level.SUPERUSER)
    return person


def _write_access_level(operator: Actor | None, person: Actor, level: str) -> None:
    is_staff, is_superuser = level != Level.NO_ACCESS, level == Level.SUPERUSER
    Actor.objects.filter(pk=person.pk).update(is_staff=is_staff, is_superuser=is_superuser)
    groups = [Group.objects.get_or_create(name=level)[0]] if level in (Level.READER, Level.OPERATOR) else []
    person.groups.set(groups)
    end_viewings_of(person, operator)
    audit.record(operator, "person.level_set", object_id=person.id, level=level)
    publish_rights_changed(person.id)


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
